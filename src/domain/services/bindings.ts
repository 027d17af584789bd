/**
 * Binding an app to an instance and unbinding it (specification 4.3): all of it or nothing, over the provider, the record, the
 * app's environment and its units. Each step is recorded before it is begun; what is cut off is undone by orphans.ts.
 */
import { type Action, demand } from '../access.ts';
import { type Act, demandStill } from '../act.ts';
import type { App } from '../apps/app.ts';
import { demandApp } from '../demand-app.ts';
import { changeEnv, type EnvChangeDeps } from '../env/env-change.ts';
import { type Caller, callerName } from '../caller.ts';
import { PlatformError } from '../errors.ts';
import type { Leases } from '../leases.ts';
import type { Journal } from '../logs/journal.ts';
import type { Say } from '../say.ts';
import type { StoreWriter } from '../store.ts';
import { type Answered, type BindingAttempts, commitBinding } from './binding-attempts.ts';
import { type BoundVars, boundVars, checkBoundVars, storeBoundEnv, withBindings } from './binding-env.ts';
import { demandInstance } from './demand-service.ts';
import { bindingLease, type Orphans } from './orphans.ts';
import { unconfirmed } from './provider.ts';
import { renamed } from './binding-names.ts';
import type { Binding, BoundNames, Instance, VariableNames } from './service.ts';

interface BindOptions {
  /** The units that run go on without the change until the next restart. */
  readonly noRestart?: boolean;
  /** Name of the service that the instance must be of. */
  readonly service?: string;
}

interface BindAs extends BindOptions {
  /** Absent: those of the app's file, else as the provider calls them. */
  readonly names?: VariableNames;
}

interface UnbindOptions extends BindOptions {
  /** Forgets the binding even if the provider does not. */
  readonly force?: boolean;
}

export interface Bindings {
  /**
   * The variables as the app sees them; resolves when the app runs with them. Errors: app.not_found, instance.not_found, instance.not_ready,
   * binding.exists, binding.conflict, input.invalid for a name that it does not give, provider.failed, unit.failed; then nothing has changed.
   */
  bind(caller: Caller, instance: string, app: string, options: BindAs, say: Say): Promise<Record<string, string>>;
  /**
   * The app runs without the variables when this resolves. A provider that fails then is tried again in the background.
   * Errors: app.not_found, instance.not_found, binding.not_found, unit.failed.
   */
  unbind(caller: Caller, instance: string, app: string, options: UnbindOptions, say: Say): Promise<void>;
}

interface BindingsDeps extends EnvChangeDeps {
  readonly attempts: BindingAttempts;
  readonly orphans: Orphans;
  readonly leases: Leases;
  readonly journal: Journal;
  readonly act: Act;
}

const LEASE_WAIT_MS = 30_000;

export function createBindings(deps: BindingsDeps): Bindings {
  const { store, attempts, orphans, leases, journal, act } = deps;

  /** For who may still do the action: the app as it is to be, stored together with what `write` stores, and its units replaced. */
  function restart(
    caller: Caller,
    action: 'app.bind' | 'app.unbind',
    on: App,
    options: BindOptions & { readonly say: Say },
    change: (current: App) => Promise<{ bindings: readonly BoundVars[]; write: (tx: StoreWriter) => Promise<void> }>,
  ): Promise<void> {
    const { noRestart = false, say } = options;
    const app = on.name;
    const holder = `${action} by ${callerName(caller)}`;
    return leases.hold(`app:${app}`, { waitMs: LEASE_WAIT_MS, holder }, async () => {
      await demandStill(deps, caller, action, { app: on });
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

  async function give(
    caller: Caller,
    { app: before, instance }: { readonly app: App; readonly instance: Instance },
    on: { readonly binding: Binding; readonly answered: Answered },
    options: BindOptions & { readonly say: Say },
  ): Promise<Record<string, string>> {
    const { app } = on.binding;
    let vars: Record<string, string> = {};
    await restart(caller, 'app.bind', before, options, async () => {
      await demandStill(deps, caller, 'instance.bind', { instance });
      const { names } = on.binding.names;
      const given = checkBoundVars(await store.env(app), on.answered, { instance: instance.name, names });
      vars = renamed(given, names);
      const mine = { instance: instance.name, service: instance.service, vars: given, names };
      const write = (tx: StoreWriter): Promise<void> => commitBinding(tx, on.binding, given);
      return { bindings: [...(await boundVars(store, app)), mine], write };
    });
    return vars;
  }

  async function namesFor(
    { name, release }: App,
    { name: instance }: Instance,
    { names }: BindAs,
  ): Promise<BoundNames> {
    if (names !== undefined) return { from: 'set', names };
    const serving = release === null ? null : await store.release(name, release);
    return { from: 'file', names: serving?.bindingNames[instance] ?? {} };
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
        const names = await namesFor(app, instance, options);
        const vars = await attempts.attempt(caller, { instance, app: appName, names }, (binding, answered) =>
          give(caller, { app, instance }, { binding, answered }, { ...options, say }),
        );
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
            await restart(caller, 'app.unbind', app, { ...options, say }, async () => ({
              bindings: await boundVars(store, appName, new Set([binding.id])),
              write: (tx) => tx.updateBinding(binding.id, { state: 'unbinding' }),
            }));
          }
          const failure = await orphans.undoBinding(binding.id, { isOver: true });
          if (failure === null) return;
          if (options.force === true) await store.transact((tx) => tx.deleteBinding(binding.id));
          else say(unconfirmed(failure));
        });
        say(`Instance "${instanceName}" is not bound to the app "${appName}" anymore.`);
        await journal.note(appName, `unbound from ${instance.name} by ${callerName(caller)}`);
      });
    },
  };
}
