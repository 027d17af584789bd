/**
 * Going back to an older release brings back what was bound then: credentials die with a binding, so an instance that is not bound any
 * more is bound anew, and one that was bound since is unbound. All or nothing with the release; see binding-attempts.ts for the first half.
 */
import { may } from '../access.ts';
import type { EnvVar, Release } from '../apps/app.ts';
import { type Caller, callerName } from '../caller.ts';
import { PlatformError } from '../errors.ts';
import type { Leases } from '../leases.ts';
import type { Journal } from '../logs/journal.ts';
import type { Say } from '../say.ts';
import type { Store, StoreWriter } from '../store.ts';
import { type Answered, type BindingAttempts, commitBinding } from './binding-attempts.ts';
import { boundVars, checkBoundVars, SERVICES_VARIABLES, withBindings } from './binding-env.ts';
import { bindingLease, type Orphans } from './orphans.ts';
import { unconfirmed } from './provider.ts';
import type { Binding, Instance, VariableNames } from './service.ts';

export interface RestoredBindings {
  /** The release's own variables and those of what is bound then. Throws `binding.conflict`. */
  env(own: readonly EnvVar[]): Promise<EnvVar[]>;
  /** In the transaction that makes the release serve. */
  write(tx: StoreWriter): Promise<void>;
}

interface RestoreRequest {
  readonly caller: Caller;
  readonly app: string;
  readonly release: Release;
  readonly say: Say;
}

export interface RestoreBindings {
  /**
   * Resolves with what `work` makes of it, which is to hold the app's lease. Errors: provider.failed, app.busy, those of `work`; then
   * what is bound is as before.
   */
  around<T>(request: RestoreRequest, work: (restored: RestoredBindings) => Promise<T>): Promise<T>;
}

interface RestoreDeps {
  readonly store: Store;
  readonly leases: Leases;
  readonly orphans: Orphans;
  readonly attempts: BindingAttempts;
  readonly journal: Journal;
}

interface RestorePlan {
  /** To be bound anew. */
  readonly coming: readonly Coming[];
  /** Those that stay, as they were called then. */
  readonly staying: readonly { readonly binding: Binding; readonly names: VariableNames }[];
  readonly leaving: readonly { readonly binding: Binding; readonly instance: Instance }[];
  /** Why others stay away. */
  readonly notes: readonly string[];
}

interface Coming {
  readonly instance: Instance;
  readonly names: VariableNames;
}

interface Made {
  readonly binding: Binding;
  readonly instance: Instance;
  readonly answered: Answered;
}

const LEASE_WAIT_MS = 30_000;

export function createRestoreBindings(deps: RestoreDeps): RestoreBindings {
  const { store, leases, orphans, attempts, journal } = deps;

  async function planFor({ caller, app, release }: RestoreRequest): Promise<RestorePlan> {
    const wanted = boundIn(release);
    const bindings = (await store.bindings({ app })).filter(({ state }) => state === 'bound');
    const bound = new Set(bindings.map(({ instance }) => instance));
    const coming: Coming[] = [];
    const staying: RestorePlan['staying'][number][] = [];
    const notes: string[] = [];
    for (const { name, service, names } of wanted) {
      const instance = await store.instance(name);
      if (instance !== null && bound.has(instance.id)) {
        staying.push(...bindings.filter((one) => one.instance === instance.id).map((binding) => ({ binding, names })));
        continue;
      }
      // One of the same name that was made later is another one.
      const isSame = instance?.service === service && instance.createdAt <= release.createdAt;
      if (instance === null || !isSame || instance.state !== 'ready') notes.push(`${name} is not there any more`);
      else if (!may(caller, 'instance.bind', { instance }))
        notes.push(`${callerName(caller)} has no access to ${name}`);
      else coming.push({ instance, names });
    }
    const leaving: RestorePlan['leaving'][number][] = [];
    for (const binding of bindings) {
      const instance = await store.instanceById(binding.instance);
      if (instance === null) continue;
      if (!wanted.some(({ name, service }) => name === instance.name && service === instance.service))
        leaving.push({ binding, instance });
    }
    return { coming, staying, leaving, notes };
  }

  const keysOf = (app: string, { coming, leaving }: RestorePlan): string[] =>
    [...coming, ...leaving].map(({ instance }) => bindingLease(instance.id, app));

  function making<T>(
    request: RestoreRequest,
    coming: readonly Coming[],
    made: readonly Made[],
    work: (made: readonly Made[]) => Promise<T>,
  ): Promise<T> {
    const [first, ...others] = coming;
    if (first === undefined) return work(made);
    const { instance, names } = first;
    const on = { instance, app: request.app, names: { from: 'set', names } as const };
    return attempts.attempt(request.caller, on, (binding, answered) =>
      making(request, others, [...made, { binding, instance, answered }], work),
    );
  }

  /** The app runs without them now. */
  async function unbind({ app, say }: RestoreRequest, leaving: RestorePlan['leaving']): Promise<void> {
    for (const { binding, instance } of leaving) {
      const failure = await orphans.undoBinding(binding.id, { isOver: true });
      await journal.note(app, `unbound from ${instance.name} with the release that serves`);
      if (failure !== null) say(unconfirmed(failure, `The provider of ${instance.name}`));
    }
  }

  return {
    async around(request, work) {
      const { caller, app, say } = request;
      const keys = keysOf(app, await planFor(request));
      const options = { waitMs: LEASE_WAIT_MS, holder: `app.rollback by ${callerName(caller)}` };
      return leases.holdAll(keys, options, async () => {
        const plan = await planFor(request);
        if (keysOf(app, plan).some((key) => !keys.includes(key))) throw changedMeanwhile(app);
        for (const note of plan.notes) say(` !     Not bound again: ${note}.`);
        for (const { instance } of plan.coming) say(`---- Binding "${instance.name}" again ----`);
        return making(request, plan.coming, [], async (made) => {
          const result = await work(restoredBy(store, app, plan, made));
          for (const { instance } of made)
            await journal.note(app, `bound to ${instance.name} with the release that serves`);
          await unbind(request, plan.leaving);
          return result;
        });
      });
    },
  };
}

function restoredBy(
  store: Store,
  app: string,
  { staying, leaving }: RestorePlan,
  made: readonly Made[],
): RestoredBindings {
  const given = new Map<string, Record<string, string>>();
  return {
    async env(own) {
      const gone = new Set(leaving.map(({ binding }) => binding.id));
      const kept = await boundVars(store, app, gone, new Map(staying.map(({ binding, names }) => [binding.id, names])));
      const fresh = made.map(({ binding, instance, answered }) => {
        const { names } = binding.names;
        const vars = checkBoundVars(own, answered, { instance: instance.name, names });
        given.set(binding.id, vars);
        return { instance: instance.name, service: instance.service, vars, names };
      });
      return withBindings(own, [...kept, ...fresh]);
    },
    async write(tx) {
      for (const { binding } of made) await commitBinding(tx, binding, given.get(binding.id) ?? {});
      for (const { binding, names } of staying) {
        if (!isSameNames(binding.names.names, names))
          await tx.updateBinding(binding.id, { names: { from: 'set', names } });
      }
      for (const { binding } of leaving) {
        if ((await tx.binding(binding.id))?.state === 'bound')
          await tx.updateBinding(binding.id, { state: 'unbinding' });
      }
    },
  };
}

interface WasBound {
  readonly name: string;
  readonly service: string;
  readonly names: VariableNames;
}

function isSameNames(a: VariableNames, b: VariableNames): boolean {
  const text = (names: VariableNames): string => JSON.stringify(Object.entries(names).sort());
  return text(a) === text(b);
}

/** What was bound to an app when it had this release. */
function boundIn({ env }: Pick<Release, 'env'>): WasBound[] {
  const described =
    env.find(({ name, managedBy }) => managedBy !== '' && name === SERVICES_VARIABLES[1])?.value ?? '{}';
  const services = JSON.parse(described) as Record<string, { instance_name: string; names?: VariableNames }[]>;
  return Object.entries(services).flatMap(([service, instances]) =>
    instances.map(({ instance_name: name, names = {} }) => ({ name, service, names })),
  );
}

function changedMeanwhile(app: string): PlatformError {
  return new PlatformError('app.busy', `What is bound to ${app} has changed meanwhile.`, { hint: 'Try again.' });
}
