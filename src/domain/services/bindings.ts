/**
 * Binding an app to an instance and unbinding it (specification 4.3): all of it or nothing, over the provider, the record, the
 * app's environment and its units. Each step is recorded before it is begun; what is cut off is undone by orphans.ts.
 */
import { randomUUID } from 'node:crypto';
import { type Action, demand } from '../access.ts';
import type { Act } from '../act.ts';
import type { App } from '../apps/app.ts';
import { demandApp } from '../apps/demand-app.ts';
import type { Unit } from '../apps/unit.ts';
import { changeEnv, type EnvChangeDeps } from '../apps/env-change.ts';
import { type Caller, callerName } from '../caller.ts';
import { PlatformError } from '../errors.ts';
import type { Leases } from '../leases.ts';
import type { Journal } from '../logs/journal.ts';
import type { Say } from '../say.ts';
import type { Settings } from '../settings.ts';
import type { StoreReader, StoreWriter } from '../store.ts';
import { type BoundVars, checkBoundVars, storeBoundEnv, withBindings } from './binding-env.ts';
import { demandInstance, demandService } from './demand-service.ts';
import { bindingLease, type Orphans } from './orphans.ts';
import { type Provider, providerFailed } from './provider.ts';
import type { Binding, Instance } from './service.ts';
import { EndpointFailure } from './service-endpoint.ts';

export interface BindOptions {
  /** The units that run go on without the change until the next restart. */
  readonly noRestart?: boolean;
  /** Name of the service that the instance must be of. */
  readonly service?: string;
}

export interface UnbindOptions extends BindOptions {
  /** Forgets the binding even if the provider does not. */
  readonly force?: boolean;
}

export interface Bindings {
  /**
   * The variables; resolves when the app runs with them. Errors: app.not_found, instance.not_found, instance.not_ready,
   * binding.exists, binding.conflict, provider.failed, unit.failed; then nothing has changed.
   */
  bind(caller: Caller, instance: string, app: string, options: BindOptions, say: Say): Promise<Record<string, string>>;
  /**
   * The app runs without the variables when this resolves. A provider that fails then is tried again in the background.
   * Errors: app.not_found, instance.not_found, binding.not_found, unit.failed.
   */
  unbind(caller: Caller, instance: string, app: string, options: UnbindOptions, say: Say): Promise<void>;
}

export interface BindingsDeps extends EnvChangeDeps {
  readonly provider: Provider;
  readonly orphans: Orphans;
  readonly leases: Leases;
  readonly journal: Journal;
  readonly act: Act;
  readonly settings: Pick<Settings, 'domain'>;
}

const LEASE_WAIT_MS = 30_000;

export function createBindings(deps: BindingsDeps): Bindings {
  const { store, provider, orphans, leases, journal, act, settings, now } = deps;

  /** The app as it is to be, stored together with what `write` stores, and its units replaced. */
  function restart(
    caller: Caller,
    app: string,
    options: BindOptions & { readonly say: Say; readonly holder: string },
    change: (current: App) => Promise<{ bindings: readonly BoundVars[]; write: (tx: StoreWriter) => Promise<void> }>,
  ): Promise<void> {
    const { noRestart = false, say, holder } = options;
    return leases.hold(`app:${app}`, { waitMs: LEASE_WAIT_MS, holder }, async () => {
      const current = await demandApp(store, app);
      const { bindings, write } = await change(current);
      const env = withBindings(await store.env(app), bindings);
      const both = async (tx: StoreWriter): Promise<void> => {
        await write(tx);
        await storeBoundEnv(tx, app, env);
      };
      await changeEnv(deps, { app: current, env, write: both, noRestart, by: callerName(caller), say });
    });
  }

  /** What an earlier attempt may have left at the provider must be gone first: it would be taken for the new one later. */
  async function clearPair(instance: Instance, app: string): Promise<void> {
    const [left] = await store.bindings({ app, instance: instance.id });
    if (left === undefined) return;
    if (left.state === 'bound') {
      throw new PlatformError('binding.exists', 'This app is already bound to this service instance.');
    }
    const failure = await orphans.undoBinding(left.id);
    if (failure === null) return;
    const what = 'An earlier binding of this app is not undone yet';
    throw providerFailed(failure, what, instance.name);
  }

  async function begin(caller: Caller, { id }: Instance, app: string): Promise<Binding> {
    const binding: Binding = {
      id: randomUUID(),
      instance: id,
      app,
      state: 'binding',
      appHost: `${app}.${settings.domain}`,
      user: callerName(caller),
      vars: {},
      unitHosts: [],
      createdAt: now().toISOString(),
      attempts: 0,
      problem: '',
    };
    await store.transact(async (tx) => {
      await demandApp(tx, app);
      const current = await tx.instanceById(id);
      if (current?.state !== 'ready') throw notReady(current);
      demand(caller, 'instance.bind', { instance: current });
      await tx.insertBinding(binding);
    });
    return { ...binding, unitHosts: await unitHosts(store, app) };
  }

  /** Whatever goes wrong, the binding is undone; what cannot be undone now stays recorded. */
  async function finish(
    caller: Caller,
    instance: Instance,
    binding: Binding,
    options: BindOptions & { readonly say: Say },
  ): Promise<Record<string, string>> {
    const { app } = binding;
    let mayBeThere = true;
    try {
      const service = await demandService(store, instance.service);
      const answered = await provider.bind(service, instance, binding).catch((thrown: unknown) => {
        if (!(thrown instanceof EndpointFailure)) throw thrown;
        mayBeThere = thrown.mayHaveHappened;
        throw providerFailed(
          thrown,
          `Failed to bind the instance "${instance.name}" to the app "${app}"`,
          instance.name,
        );
      });
      const holder = `app.bind by ${callerName(caller)}`;
      let vars: Record<string, string> = {};
      await restart(caller, app, { ...options, holder }, async () => {
        vars = checkBoundVars(await store.env(app), answered, instance.name);
        const mine = { instance: instance.name, service: instance.service, vars };
        const write = async (tx: StoreWriter): Promise<void> => {
          if ((await tx.binding(binding.id))?.state !== 'binding') throw takenOver(app);
          await tx.updateBinding(binding.id, { state: 'bound', vars });
        };
        return { bindings: [...(await boundVars(store, app)), mine], write };
      });
      return vars;
    } catch (error) {
      if (mayBeThere) await orphans.undoBinding(binding.id);
      else await store.transact((tx) => tx.deleteBinding(binding.id));
      throw error;
    }
  }

  async function under<T>(
    caller: Caller,
    action: Action,
    on: { readonly app: App; readonly instance: Instance },
    work: () => Promise<T>,
  ): Promise<T> {
    const { app, instance } = on;
    const lease = bindingLease(instance.id, app.name);
    return act(caller, action, { app }, { target: `app:${app.name}`, lease, detail: instance.name }, work);
  }

  return {
    async bind(caller, instanceName, appName, options, say) {
      const app = await demandApp(store, appName);
      demand(caller, 'app.bind', { app });
      const instance = await demandInstance(store, instanceName, options.service);
      demand(caller, 'instance.bind', { instance });
      return under(caller, 'app.bind', { app, instance }, async () => {
        await clearPair(instance, appName);
        const binding = await begin(caller, instance, appName);
        const vars = await orphans.during(binding.id, () => finish(caller, instance, binding, { ...options, say }));
        await journal.note(appName, `bound to ${instance.name} by ${callerName(caller)}`);
        return vars;
      });
    },

    async unbind(caller, instanceName, appName, options, say) {
      const app = await demandApp(store, appName);
      demand(caller, 'app.unbind', { app });
      const instance = await demandInstance(store, instanceName, options.service);
      await under(caller, 'app.unbind', { app, instance }, async () => {
        const [binding] = await store.bindings({ app: appName, instance: instance.id });
        if (binding === undefined) {
          throw new PlatformError('binding.not_found', 'This app is not bound to this service instance.');
        }
        await orphans.during(binding.id, async () => {
          if (binding.state === 'bound') {
            const holder = `app.unbind by ${callerName(caller)}`;
            await restart(caller, appName, { ...options, say, holder }, async () => ({
              bindings: await boundVars(store, appName, binding.id),
              write: (tx) => tx.updateBinding(binding.id, { state: 'unbinding', vars: {} }),
            }));
          }
          const failure = await orphans.undoBinding(binding.id);
          if (failure === null) return;
          if (options.force === true) await store.transact((tx) => tx.deleteBinding(binding.id));
          else say(` !     The provider did not confirm it (${failure.message}); it is asked again until it does.`);
        });
        say(`Instance "${instanceName}" is not bound to the app "${appName}" anymore.`);
        await journal.note(appName, `unbound from ${instance.name} by ${callerName(caller)}`);
      });
    },
  };
}

/** What is bound to the app, the oldest binding first. */
async function boundVars(store: StoreReader, app: string, without?: string): Promise<BoundVars[]> {
  const bindings = (await store.bindings({ app })).filter(({ id, state }) => state === 'bound' && id !== without);
  const found: BoundVars[] = [];
  for (const { instance: id, vars } of bindings) {
    const instance = await store.instanceById(id);
    if (instance !== null) found.push({ instance: instance.name, service: instance.service, vars });
  }
  return found;
}

/** Where the serving units of an app are. */
export async function unitHosts(store: StoreReader, name: string): Promise<string[]> {
  const app = await store.app(name);
  return app === null ? [] : servingHosts(app, await store.units(name));
}

export function servingHosts(app: Pick<App, 'rollout'>, units: readonly Unit[]): string[] {
  return units
    .filter((unit) => unit.rollout === app.rollout && unit.state === 'started')
    .flatMap(({ address }) => (address === null ? [] : [`${address.host}:${address.port}`]))
    .sort();
}

function notReady(instance: Instance | null): PlatformError {
  if (instance === null || instance.state === 'removing') {
    return new PlatformError('instance.not_found', 'service instance not found');
  }
  const message = 'You cannot bind any app to this service instance because it is not ready yet.';
  return new PlatformError('instance.not_ready', message, { hint: 'Try again in a while.' });
}

function takenOver(app: string): PlatformError {
  return new PlatformError('app.busy', `The binding of ${app} was undone before it was finished.`, {
    hint: 'Try again.',
  });
}
