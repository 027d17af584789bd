/** Use cases of rest: stop an app, or one of its processes, and start it again. Its release, address and settings stay. */
import type { Act } from '../act.ts';
import { demand } from '../access.ts';
import { type Caller, callerName } from '../caller.ts';
import type { Journal } from '../logs/journal.ts';
import type { Say } from '../say.ts';
import type { Store } from '../store.ts';
import type { App, Release } from './app.ts';
import { demandApp } from '../demand-app.ts';
import { demandProcess, demandRelease } from './demand-release.ts';
import { isSameAround, planAndPool, withSurroundings } from './next-release.ts';
import { replaceUnits } from '../rollouts/replace-units.ts';
import type { Rollouts } from '../rollouts/rollouts.ts';
import { type Power, powerWithout } from '../units/wanted-units.ts';

export interface StartStop {
  /** `process` empty: everything that is stopped. What runs already is left alone. Errors: app.not_deployed, unit.failed. */
  start(caller: Caller, app: string, process: string, say: Say): Promise<void>;
  /** Requests under way are finished, then the units end. `process` empty: all. Errors: app.not_deployed. */
  stop(caller: Caller, app: string, process: string, say: Say): Promise<void>;
}

interface StartStopDeps {
  readonly store: Store;
  readonly rollouts: Rollouts;
  readonly journal: Journal;
  readonly act: Act;
  readonly now: () => Date;
}

export function createStartStop(deps: StartStopDeps): StartStop {
  const { store, rollouts, journal, act, now } = deps;

  async function apply(app: App, serving: Release, power: Power, by: string, say: Say): Promise<void> {
    const reason = power.desired === 'stopped' ? 'stop' : 'start';
    const env = await store.env(app.name);
    const around = { env, ...(await planAndPool(store, app)) };
    // While an app rests its environment and plan may have changed; beside units that run there can be no others than theirs.
    const isSame = app.desired === 'running' || isSameAround(around, serving);
    const release = isSame ? serving : withSurroundings(serving, { ...around, reason: 'env', by, at: now() });
    const replaced = app.desired === 'running' ? { replaced: [] } : {};
    await replaceUnits(rollouts, { app, release, ...replaced, power, reason, by, say });
  }

  function change(action: 'app.start' | 'app.stop') {
    const [doing, done] = action === 'app.start' ? ['Starting', 'started'] : ['Stopping', 'stopped'];
    return async (caller: Caller, name: string, named: string, say: Say): Promise<void> => {
      const app = await demandApp(store, name);
      demand(caller, action, { app });
      const by = callerName(caller);
      const options = { target: `app:${name}`, lease: `app:${name}`, detail: named.slice(0, 100) };
      await act(caller, action, { app }, options, async () => {
        const current = await demandApp(store, name);
        const serving = await demandRelease(store, current);
        const what = named === '' ? Object.keys(serving.processes) : [demandProcess(serving, named)];
        const before = stoppedOf(current, serving);
        const after = before.filter((process) => !what.includes(process));
        if (action === 'app.stop') after.push(...what);
        const subject = named === '' ? `the app "${name}"` : `the process "${named}" of the app "${name}"`;
        say(` ---> ${doing} ${subject}`);
        if (new Set(after).size === before.length) {
          say(` ---> It is ${done} already`);
          return;
        }
        await apply(current, serving, powerWithout(serving, after), by, say);
        await journal.note(name, `${by} ${done} ${subject}`);
      });
    };
  }

  return { start: change('app.start'), stop: change('app.stop') };
}

function stoppedOf(app: App, release: Release): string[] {
  const processes = Object.keys(release.processes);
  if (app.desired === 'stopped') return processes;
  return processes.filter((process) => app.stoppedProcesses.includes(process));
}
