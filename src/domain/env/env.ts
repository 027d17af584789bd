/** Use cases of an app's environment (specification 4.1). One change is one release and one rollout, all or nothing. */
import { demand } from '../access.ts';
import type { Act } from '../act.ts';
import { type Caller, callerName } from '../caller.ts';
import { PlatformError } from '../errors.ts';
import type { Journal } from '../logs/journal.ts';
import type { StoreWriter } from '../store.ts';
import type { EnvVar } from '../apps/app.ts';
import type { Say } from '../say.ts';
import { demandApp } from '../demand-app.ts';
import { changeEnv, type EnvChangeDeps } from './env-change.ts';
import { checkTotal, checkVariable, demandFew, VARIABLE_NAME, wantedNames } from './env-rules.ts';

interface EnvChange {
  readonly noRestart: boolean;
}

export interface Env {
  /** All, or those named; unknown names are skipped. Sorted by name. Errors: env.invalid for more names than an app may have. */
  get(caller: Caller, app: string, names?: readonly string[]): Promise<EnvVar[]>;
  /** Errors: env.invalid; binding.conflict for what a service instance has set; unit.failed when the app does not start with it, and then nothing has changed. */
  set(
    caller: Caller,
    app: string,
    vars: readonly { name: unknown; value: unknown; public: boolean }[],
    change: EnvChange,
    say: Say,
  ): Promise<void>;
  /** Unknown names are ignored. Errors as for set. */
  unset(caller: Caller, app: string, names: readonly unknown[], change: EnvChange, say: Say): Promise<void>;
}

interface EnvDeps extends EnvChangeDeps {
  readonly journal: Journal;
  readonly act: Act;
}

export function createEnv(deps: EnvDeps): Env {
  const { store, journal, act } = deps;

  return {
    async get(caller, appName, names) {
      const app = await demandApp(store, appName);
      demand(caller, 'env.get', { app });
      const all = await store.env(appName);
      if (names === undefined) return all;
      const wanted = wantedNames(names);
      return all.filter((variable) => wanted.has(variable.name));
    },

    async set(caller, appName, input, change, say) {
      const app = await demandApp(store, appName);
      demand(caller, 'env.set', { app });
      demandFew(input.length);
      const vars = input.map(checkVariable);
      if (vars.length === 0) {
        throw new PlatformError('env.invalid', 'You must provide the environment variables in a JSON object', {
          hint: 'Send for example {"NAME": "value"}.',
        });
      }
      const detail = vars.map((variable) => variable.name).join(' ');
      await act(caller, 'env.set', { app }, { target: `app:${appName}`, lease: `app:${appName}`, detail }, async () => {
        const current = await demandApp(store, appName);
        const merged = new Map((await store.env(appName)).map((variable) => [variable.name, variable]));
        for (const variable of vars) {
          demandOwn(merged.get(variable.name));
          merged.set(variable.name, variable);
        }
        const env = [...merged.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
        checkTotal(env);
        say(`---- Setting ${vars.length} new environment variables ----`);
        const write = (tx: StoreWriter): Promise<void> => tx.setEnv(appName, vars);
        await changeEnv(deps, { app: current, env, write, noRestart: change.noRestart, by: callerName(caller), say });
        await journal.note(appName, `${callerName(caller)} set ${detail}`);
      });
    },

    async unset(caller, appName, names, change, say) {
      const app = await demandApp(store, appName);
      demand(caller, 'env.unset', { app });
      if (names.length === 0 || !names.every((name) => typeof name === 'string')) {
        throw new PlatformError('env.invalid', 'You must provide the list of environment variables, in JSON format', {
          hint: 'Send for example ["NAME"].',
        });
      }
      const wanted = wantedNames(names);
      const detail = names.filter((name) => VARIABLE_NAME.test(name)).join(' ');
      await act(
        caller,
        'env.unset',
        { app },
        { target: `app:${appName}`, lease: `app:${appName}`, detail },
        async () => {
          const current = await demandApp(store, appName);
          const before = await store.env(appName);
          const gone = before.filter((variable) => wanted.has(variable.name));
          gone.forEach(demandOwn);
          say(`---- Unsetting ${gone.length} environment variables ----`);
          if (gone.length === 0) return;
          const env = before.filter((variable) => !wanted.has(variable.name));
          const goneNames = gone.map((variable) => variable.name);
          const write = (tx: StoreWriter): Promise<void> => tx.unsetEnv(appName, goneNames);
          await changeEnv(deps, { app: current, env, write, noRestart: change.noRestart, by: callerName(caller), say });
          await journal.note(appName, `${callerName(caller)} unset ${goneNames.join(' ')}`);
        },
      );
    },
  };
}

function demandOwn(variable: EnvVar | undefined): void {
  if (variable === undefined || variable.managedBy === '') return;
  throw new PlatformError(
    'binding.conflict',
    `The variable ${variable.name} belongs to a binding (${variable.managedBy}) and changes only with it.`,
    { hint: 'Unbind the service instance, or choose another name.' },
  );
}
