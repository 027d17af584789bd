/** Use cases of the number of units: more or fewer of a process, while the units that stay go on undisturbed. */
import type { Act } from '../act.ts';
import { demand } from '../access.ts';
import { type Caller, callerName } from '../caller.ts';
import { PlatformError } from '../errors.ts';
import type { Journal } from '../logs/journal.ts';
import { reserveUnits } from '../quotas/quota.ts';
import type { Say } from '../say.ts';
import type { Settings } from '../settings.ts';
import type { Store, StoreWriter } from '../store.ts';
import type { App, Release } from './app.ts';
import { ROUTED_PROCESS } from '../units/unit.ts';
import { demandApp } from '../demand-app.ts';
import { demandProcess, demandRelease } from './demand-release.ts';
import { checkProcessName } from './app-settings.ts';
import { type NewRelease, withCount, withSetCount } from './next-release.ts';
import { replaceUnits } from '../rollouts/replace-units.ts';
import type { RolloutPlan } from '../rollouts/rollout-plan.ts';
import type { Rollouts } from '../rollouts/rollouts.ts';

/** Whatever a quota allows: one request must not be able to fill the machine with processes. */
const MAX_UNITS = 100;

export interface UnitChange {
  /** A number from 1 on, or its decimal text. */
  readonly units: unknown;
  /** Empty: `web`, or the only process there is. */
  readonly process: string;
}

export interface Scale {
  /** Errors: unit.invalid_count, quota.exceeded, app.not_deployed, process.required, process.not_found, unit.failed. */
  add(caller: Caller, app: string, change: UnitChange, say: Say): Promise<void>;
  /**
   * So many units, 0 too; before the first deploy it takes effect with that. Errors: those of add, and input.invalid for a name that no
   * process can have, unit.too_few for none of those that answer requests.
   */
  set(caller: Caller, app: string, change: UnitChange, say: Say): Promise<void>;
  /** Errors: those of add, and unit.too_few when there are fewer, or when nothing would be left to answer requests. */
  remove(caller: Caller, app: string, change: UnitChange, say: Say): Promise<void>;
}

interface SetCount {
  readonly process: string;
  readonly count: number;
  readonly isMore: boolean;
}

interface ScaleDeps {
  readonly store: Store;
  readonly rollouts: Rollouts;
  readonly journal: Journal;
  readonly act: Act;
  readonly settings: Pick<Settings, 'defaultLimits'>;
  readonly now: () => Date;
}

export function createScale(deps: ScaleDeps): Scale {
  const { store, rollouts, journal, act, settings, now } = deps;

  /** Stores the release with other counts; for a running app in the transaction that makes it serve. */
  async function apply(app: App, release: NewRelease, set: SetCount, say: Say): Promise<void> {
    const { by } = release;
    const remember = async (tx: StoreWriter): Promise<void> => {
      const { settings } = await demandApp(tx, app.name);
      await tx.updateApp(app.name, { settings: withSetCount(settings, set.process, set.count) });
    };
    if (app.desired === 'stopped') {
      say(`---- The app "${app.name}" is stopped; its units come with the next start ----`);
      await store.transact(async (tx) => {
        const [newest] = await tx.releases(app.name, 1);
        const number = (newest?.number ?? 0) + 1;
        if (set.isMore) await reserveUnits(tx, app.name, totalOf(release), settings.defaultLimits);
        await tx.insertRelease({ ...release, number });
        await tx.updateApp(app.name, { release: number });
        await remember(tx);
      });
      return;
    }
    const onStep: RolloutPlan['onStep'] = async (tx, { state }) => {
      if (state === 'routing') await remember(tx);
    };
    await replaceUnits(rollouts, { app, release, replaced: [], reason: 'scale', by, say, onStep });
  }

  /** What there is no release of yet. */
  async function setForLater(name: string, { process, units }: UnitChange, by: string, say: Say): Promise<void> {
    const wanted = checkProcessName(process === '' ? ROUTED_PROCESS : process);
    const count = checkCount(units, 0);
    demandAnswers(name, wanted, count);
    demandRoom(count, 0);
    await store.transact(async (tx) => {
      const { settings } = await demandApp(tx, name);
      await tx.updateApp(name, { settings: withSetCount(settings, wanted, count) });
    });
    say(`---- ${wanted} will have ${count} units, from the first deploy on ----`);
    await journal.note(name, `${by} set the units of ${wanted} to ${count}`);
  }

  async function set(caller: Caller, name: string, change: UnitChange, say: Say): Promise<void> {
    const app = await demandApp(store, name);
    demand(caller, 'unit.add', { app });
    const by = callerName(caller);
    const count = checkCount(change.units, 0);
    const detail = `= ${count} ${change.process}`.trim();
    await act(caller, 'unit.add', { app }, { target: `app:${name}`, lease: `app:${name}`, detail }, async () => {
      const current = await demandApp(store, name);
      if (current.release === null) return setForLater(name, change, by, say);
      const serving = await demandRelease(store, current);
      const process = demandProcess(serving, change.process);
      const before = serving.processes[process]?.count ?? 0;
      demandAnswers(name, process, count);
      if (count > before) demandRoom(count - before, totalOf(serving));
      say(`---- ${process} is to have ${count} units (now ${before}) ----`);
      const release = withCount(serving, { process, count, by, at: now() });
      await apply(current, release, { process, count, isMore: count > before }, say);
      await journal.note(name, `${by} scaled ${process} from ${before} to ${count}`);
    });
  }

  function scale(action: 'unit.add' | 'unit.remove') {
    return async (caller: Caller, name: string, change: UnitChange, say: Say): Promise<void> => {
      const app = await demandApp(store, name);
      demand(caller, action, { app });
      const units = checkCount(change.units, 1);
      const by = callerName(caller);
      const detail = `${units} ${change.process}`.trim();
      await act(caller, action, { app }, { target: `app:${name}`, lease: `app:${name}`, detail }, async () => {
        const current = await demandApp(store, name);
        const serving = await demandRelease(store, current, 'New units can only be added after the first deployment');
        const process = demandProcess(serving, change.process);
        const before = serving.processes[process]?.count ?? 0;
        const count = action === 'unit.add' ? before + units : before - units;
        if (action === 'unit.add') demandRoom(units, totalOf(serving));
        else allowFewer(name, process, { before, count, units });
        say(`---- ${action === 'unit.add' ? 'Adding' : 'Removing'} ${units} ${process} units (now ${count}) ----`);
        const release = withCount(serving, { process, count, by, at: now() });
        await apply(current, release, { process, count, isMore: count > before }, say);
        await journal.note(name, `${by} scaled ${process} from ${before} to ${count}`);
      });
    };
  }

  return { add: scale('unit.add'), remove: scale('unit.remove'), set };
}

function totalOf({ processes }: Pick<Release, 'processes'>): number {
  return Object.values(processes).reduce((sum, { count }) => sum + count, 0);
}

function checkCount(value: unknown, least: 0 | 1): number {
  const text = typeof value === 'number' ? String(value) : typeof value === 'string' ? value.trim() : '';
  if (text === '') {
    throw new PlatformError('unit.invalid_count', 'You must provide the number of units.', {
      hint: 'Send it as the body, or as the field "units".',
    });
  }
  if (!/^\d{1,6}$/.test(text) || Number(text) < least) {
    throw new PlatformError(
      'unit.invalid_count',
      `Invalid number of units: the number must be an integer ${least === 0 ? 'from 0 on' : 'greater than 0'}.`,
      { hint: 'Send for example 2.' },
    );
  }
  return Number(text);
}

/** The app's quota is judged with the units' records, in the transaction that adds them. */
function demandRoom(more: number, now: number): void {
  if (now + more <= MAX_UNITS) return;
  throw new PlatformError('unit.invalid_count', `An app may have at most ${MAX_UNITS} units; this one has ${now}.`);
}

function allowFewer(
  app: string,
  process: string,
  { before, count, units }: { before: number; count: number; units: number },
): void {
  if (count < 0) {
    throw new PlatformError(
      'unit.too_few',
      `cannot remove ${units} units from process "${process}", only ${before} available`,
      { hint: `See "tancho app info ${app}".` },
    );
  }
  demandAnswers(app, process, count);
}

function demandAnswers(app: string, process: string, count: number): void {
  if (count > 0 || process !== ROUTED_PROCESS) return;
  throw new PlatformError('unit.too_few', 'Cannot remove all units from an app.', {
    hint: `To let it rest: tancho app stop ${app}`,
  });
}
