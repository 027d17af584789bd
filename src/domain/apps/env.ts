/** Use cases of an app's environment (specification 4.1). One change is one release and one rollout, all or nothing. */
import { demand } from '../access.ts';
import type { Act } from '../act.ts';
import { type Caller, callerName } from '../caller.ts';
import { PlatformError } from '../errors.ts';
import type { Journal } from '../logs/journal.ts';
import { limitsFor } from '../plans/demand-plan.ts';
import type { Store, StoreWriter } from '../store.ts';
import type { App, EnvVar } from './app.ts';
import type { Say } from '../say.ts';
import { demandApp } from './demand-app.ts';
import { withSurroundings } from './next-release.ts';
import { privateValues } from './private-values.ts';
import type { Rollouts, RolloutStep } from './rollouts.ts';
import { unitFailed } from './unit-failed.ts';

const NAME = /^[A-Za-z_][A-Za-z0-9_]{0,254}$/;
const MAX_VALUE_BYTES = 65_536;
const MAX_VARIABLES = 1_000;
/** All names and values together: systems start no process with more than some 2 MiB of environment and arguments. */
const MAX_TOTAL_BYTES = 1024 * 1024;
/** Set by the platform for every unit; an app's own value would be a lie. */
const RESERVED = /^(?:PORT|TANCHO_.*)$/;

export interface EnvChange {
  readonly noRestart: boolean;
}

export interface Env {
  /** All, or those named; unknown names are skipped. Sorted by name. */
  get(caller: Caller, app: string, names?: readonly string[]): Promise<EnvVar[]>;
  /** Errors: env.invalid; unit.failed when the app does not start with it, and then nothing has changed. */
  set(
    caller: Caller,
    app: string,
    vars: readonly { name: unknown; value: unknown; public: boolean }[],
    change: EnvChange,
    say: Say,
  ): Promise<void>;
  /** Unknown names are ignored. */
  unset(caller: Caller, app: string, names: readonly unknown[], change: EnvChange, say: Say): Promise<void>;
}

export interface EnvDeps {
  readonly store: Store;
  readonly rollouts: Rollouts;
  readonly journal: Journal;
  readonly act: Act;
  readonly now: () => Date;
}

export function createEnv(deps: EnvDeps): Env {
  const { store, rollouts, journal, act, now } = deps;

  /** Stores the change; for a running app with the release that has it, in the transaction that makes it serve. */
  async function apply(
    caller: Caller,
    app: App,
    write: (tx: StoreWriter) => Promise<void>,
    env: readonly EnvVar[],
    change: EnvChange,
    say: Say,
  ): Promise<void> {
    const serving = app.release === null ? null : await store.release(app.name, app.release);
    if (serving === null || change.noRestart || app.desired === 'stopped') {
      await store.transact(write);
      return;
    }
    const by = callerName(caller);
    const limits = await limitsFor(store, app);
    const release = withSurroundings(serving, { env, limits, reason: 'env', by, at: now() });
    say(`---- Restarting the app "${app.name}" ----`);
    const signal = new AbortController().signal;
    const onStep = async (tx: StoreWriter, step: RolloutStep): Promise<void> => {
      if (step.state === 'routing') await write(tx);
    };
    try {
      await rollouts.roll({ app, release, reason: 'env', by, say, signal, onStep });
    } catch (error) {
      throw unitFailed(error, { app: app.name, serving: app.release, redact: privateValues(env) });
    }
  }

  return {
    async get(caller, appName, names) {
      const app = await demandApp(store, appName);
      demand(caller, 'env.get', { app });
      const all = await store.env(appName);
      return names === undefined ? all : all.filter((variable) => names.includes(variable.name));
    },

    async set(caller, appName, input, change, say) {
      const app = await demandApp(store, appName);
      demand(caller, 'env.set', { app });
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
        for (const variable of vars) merged.set(variable.name, variable);
        if (merged.size > MAX_VARIABLES) {
          throw new PlatformError('env.invalid', `An app may have at most ${MAX_VARIABLES} environment variables.`);
        }
        if (totalBytes([...merged.values()]) > MAX_TOTAL_BYTES) {
          throw new PlatformError(
            'env.invalid',
            `The environment of an app may take at most ${MAX_TOTAL_BYTES} bytes.`,
            {
              hint: 'Keep what is large in a file or a store, and only where it is in a variable.',
            },
          );
        }
        say(`---- Setting ${vars.length} new environment variables ----`);
        const env = [...merged.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
        await apply(caller, current, (tx) => tx.setEnv(appName, vars), env, change, say);
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
      const detail = names.filter((name) => NAME.test(name)).join(' ');
      await act(
        caller,
        'env.unset',
        { app },
        { target: `app:${appName}`, lease: `app:${appName}`, detail },
        async () => {
          const current = await demandApp(store, appName);
          const before = await store.env(appName);
          const gone = before.filter((variable) => names.includes(variable.name) && variable.managedBy === '');
          say(`---- Unsetting ${gone.length} environment variables ----`);
          if (gone.length === 0) return;
          const env = before.filter((variable) => !gone.includes(variable));
          const goneNames = gone.map((variable) => variable.name);
          await apply(caller, current, (tx) => tx.unsetEnv(appName, goneNames), env, change, say);
          await journal.note(appName, `${callerName(caller)} unset ${goneNames.join(' ')}`);
        },
      );
    },
  };
}

function totalBytes(vars: readonly EnvVar[]): number {
  return vars.reduce((sum, { name, value }) => sum + name.length + Buffer.byteLength(value) + 2, 0);
}

function checkVariable(input: { name: unknown; value: unknown; public: boolean }): EnvVar {
  const { name, value } = input;
  if (typeof name !== 'string' || !NAME.test(name)) {
    throw new PlatformError(
      'env.invalid',
      'A variable name consists of letters, digits and _ and does not begin with a digit.',
      {
        hint: 'Rename the variable, for example DATABASE_URL.',
      },
    );
  }
  if (RESERVED.test(name)) {
    throw new PlatformError('env.invalid', `The variable ${name} is set by the platform.`, {
      hint: 'Choose another name.',
    });
  }
  if (typeof value !== 'string' || value.includes('\0') || Buffer.byteLength(value) > MAX_VALUE_BYTES) {
    throw new PlatformError(
      'env.invalid',
      `The value of ${name} must be text without NUL, of at most ${MAX_VALUE_BYTES} bytes.`,
    );
  }
  return { name, value, public: input.public, managedBy: '' };
}
