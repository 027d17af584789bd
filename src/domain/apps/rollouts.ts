/**
 * Moves an app from the units that serve to a new set, without a failed request and without a half-switched state:
 * starting -> routing -> draining -> done | failed. The step to `routing` is the commit: before it the old units serve and
 * everything new can be thrown away, after it the new units serve and only cleaning up is left. Each step is stored before
 * it is begun, so a crash leaves a state that resume() finishes or undoes.
 */
import { randomHex } from '../../lib/ids.ts';
import { bestEffort, type Logger } from '../../lib/logger.ts';
import { PlatformError } from '../errors.ts';
import type { Settings } from '../settings.ts';
import type { Store, StoreWriter } from '../store.ts';
import type { App, Release } from './app.ts';
import type { Say } from '../say.ts';
import type { Router } from './router.ts';
import { Failure, type FailureCause, type Rollout, type RolloutState } from './rollout.ts';
import type { Routes } from './routes.ts';
import { commandSpec } from './unit-spec.ts';
import { type Unit, unitName } from './unit.ts';
import type { Units } from './units.ts';
import { missingCounts, type Power, stayingUnits, wantedCounts } from './wanted-units.ts';

/** How long a caller waits for the old units to finish their requests before the rest goes on in the background. */
const PATIENCE_MS = 1_500;

export interface RolloutPlan {
  readonly app: App;
  readonly release: Release;
  /** True when `release` is new and to be stored with the rollout. */
  readonly isNewRelease: boolean;
  readonly reason: string;
  readonly by: string;
  readonly say: Say;
  readonly signal: AbortSignal;
  /** What is to run from the commit on. Absent: the app, without the processes that are stopped now. */
  readonly power?: Power;
  /**
   * Processes whose units are replaced; absent: all. Of the others the units stay, so their code and environment must be those
   * of the release; only what is missing of them is started, and what is too many ended.
   */
  readonly replaced?: readonly string[];
  /** Runs in the transaction that stores the step. */
  readonly onStep?: (tx: StoreWriter, state: RolloutState) => Promise<void>;
}

export interface RolloutResult {
  readonly rollout: Rollout;
  /** Resolves when the old units are gone; with the number of requests the router had to fail during the switch. */
  readonly drained: Promise<number>;
}

export interface RolloutsDeps {
  readonly store: Store;
  readonly units: Units;
  readonly routes: Routes;
  readonly router: Router;
  readonly settings: Settings;
  readonly logger: Logger;
  readonly now: () => Date;
}

export class Rollouts {
  readonly #deps: RolloutsDeps;
  readonly #background = new Set<Promise<unknown>>();

  constructor(deps: RolloutsDeps) {
    this.#deps = deps;
  }

  /** Resolves when the new units serve. Throws Failure when they do not; the old ones then serve as before. */
  async roll(plan: RolloutPlan): Promise<RolloutResult> {
    await this.#commandsBefore(plan);
    const failuresBefore = (await this.#deps.router.traffic(plan.app.name)).failures;
    const { rollout, units } = await this.#begin(plan);
    try {
      await this.#startAll(units, plan);
      await this.#commit(rollout, plan);
    } catch (error) {
      await this.#undo(rollout, plan.isNewRelease, error);
      throw error;
    }
    await this.#deps.routes.publish();
    const drained = this.#finish(rollout, plan.onStep).then(async () => {
      const after = await this.#deps.router.traffic(plan.app.name);
      return Math.max(0, after.failures - failuresBefore);
    });
    this.#watch(drained);
    await Promise.race([drained.catch(() => 0), new Promise((resolve) => setTimeout(resolve, PATIENCE_MS).unref())]);
    return { rollout, drained };
  }

  /** Waits for what goes on in the background, for an orderly stop. */
  async close(): Promise<void> {
    await Promise.allSettled(this.#background);
  }

  /** At boot: finishes a rollout that was committed, undoes one that was not. */
  async resume(rollout: Rollout): Promise<'finished' | 'undone'> {
    const app = await this.#deps.store.app(rollout.app);
    if (rollout.state === 'starting') {
      const release = await this.#deps.store.release(rollout.app, rollout.release);
      const isServing = app?.release === rollout.release;
      await this.#undo(
        rollout,
        release !== null && !isServing,
        new Failure('interrupted', 'The platform was restarted.'),
      );
      return 'undone';
    }
    this.#watch(this.#deps.routes.publish().then(() => this.#finish(rollout)));
    return 'finished';
  }

  async #commandsBefore(plan: RolloutPlan): Promise<void> {
    const { release, say, signal } = plan;
    // Nothing new is released where units stay.
    if (plan.replaced !== undefined) return;
    for (const command of release.hooks.restartBefore) {
      say(`-----> Running ${command}`);
      const spec = commandSpec(randomHex(12), release, this.#deps.settings.unitLimits);
      await this.#deps.units.runCommand(spec, command, signal, 'release command', (line) => say(`       ${line}`));
    }
    const list = [...wantedCounts(release, powerOf(plan))].map(([name, count]) => `${name}: ${count}`);
    say(`-----> Starting release ${release.number} (${list.join(', ')})`);
  }

  async #begin(plan: RolloutPlan): Promise<{ rollout: Rollout; units: Unit[] }> {
    const { store, now } = this.#deps;
    const at = now().toISOString();
    const rollout: Rollout = {
      id: randomHex(12),
      app: plan.app.name,
      release: plan.release.number,
      reason: plan.reason,
      by: plan.by,
      state: 'starting',
      cause: null,
      startedAt: at,
      finishedAt: null,
    };
    return store.transact(async (tx) => {
      if (plan.isNewRelease) await tx.insertRelease(plan.release);
      await tx.insertRollout(rollout);
      const existing = await tx.units(plan.app.name);
      const missing = missingCounts(wantedCounts(plan.release, powerOf(plan)), staying(plan, existing));
      const units = newUnits(missing, rollout, existing, at);
      for (const unit of units) await tx.insertUnit(unit);
      await plan.onStep?.(tx, 'starting');
      return { rollout, units };
    });
  }

  async #startAll(units: readonly Unit[], plan: RolloutPlan): Promise<void> {
    const stop = new AbortController();
    const signal = AbortSignal.any([plan.signal, stop.signal]);
    const results = await Promise.allSettled(
      units.map(async (unit) => {
        try {
          await this.#deps.units.start(unit, plan.release, signal);
          plan.say(`       ${unit.process} ${unitName(unit)} is up`);
        } catch (error) {
          stop.abort();
          throw error;
        }
      }),
    );
    const errors = results.flatMap((result) => (result.status === 'rejected' ? [result.reason as unknown] : []));
    if (errors.length === 0) return;
    // The others were cancelled because of the first: report that one.
    throw errors.find((error) => !(error instanceof Failure && error.code === 'cancelled')) ?? errors[0];
  }

  async #commit(rollout: Rollout, plan: RolloutPlan): Promise<void> {
    if (plan.signal.aborted) throw new Failure('cancelled', 'The change was cancelled.');
    await this.#deps.store.transact(async (tx) => {
      const units = (await tx.units(rollout.app)).filter((unit) => unit.rollout === rollout.id);
      const dead = units.find((unit) => unit.state !== 'started');
      if (dead !== undefined) {
        throw new Failure('exited', `${dead.process} ended right after it had started.`, {
          lines: dead.lastExit?.lastLines ?? [],
        });
      }
      const app = await tx.app(rollout.app);
      if (app === null || app.removing)
        throw new PlatformError('app.not_found', `App ${rollout.app} was removed meanwhile.`);
      const serving = plan.replaced === undefined ? rollout.id : await exchange(tx, rollout, plan);
      await tx.updateApp(rollout.app, { release: rollout.release, rollout: serving, ...powerOf(plan) });
      await tx.updateRollout(rollout.id, { state: 'routing' });
      await plan.onStep?.(tx, 'routing');
    });
  }

  async #finish(rollout: Rollout, onStep?: RolloutPlan['onStep']): Promise<void> {
    const { store, router, settings, units, now } = this.#deps;
    const old = await store.transact(async (tx) => {
      await tx.updateRollout(rollout.id, { state: 'draining' });
      await onStep?.(tx, 'draining');
      const open = (await tx.unfinishedRollouts()).filter((other) => other.state === 'starting');
      const keep = new Set([(await tx.app(rollout.app))?.rollout, ...open.map((other) => other.id)]);
      return (await tx.units(rollout.app)).filter((unit) => !keep.has(unit.rollout));
    });
    await router.drained(
      old.map((unit) => unit.id),
      settings.drainTimeoutMs,
    );
    await Promise.all(old.map((unit) => units.retire(unit)));
    await store.transact(async (tx) => {
      await tx.updateRollout(rollout.id, { state: 'done', finishedAt: now().toISOString() });
      await onStep?.(tx, 'done');
    });
  }

  async #undo(rollout: Rollout, removeRelease: boolean, error: unknown): Promise<void> {
    const { store, units, now } = this.#deps;
    const mine = (await store.units(rollout.app)).filter((unit) => unit.rollout === rollout.id);
    await Promise.all(mine.map((unit) => units.retire(unit)));
    const cause: FailureCause = error instanceof Failure ? error.code : 'internal';
    await store.transact(async (tx) => {
      await tx.updateRollout(rollout.id, { state: 'failed', cause, finishedAt: now().toISOString() });
      if (removeRelease) await tx.deleteRelease(rollout.app, rollout.release);
    });
  }

  #watch(work: Promise<unknown>): void {
    const watched = bestEffort(this.#deps.logger, 'finishing a rollout', () => work).finally(() =>
      this.#background.delete(watched),
    );
    this.#background.add(watched);
  }
}

function powerOf({ app, power }: RolloutPlan): Power {
  return power ?? { desired: 'running', stoppedProcesses: app.stoppedProcesses };
}

/** The serving units that the plan leaves as they are. */
function staying({ app, release, replaced, ...rest }: RolloutPlan, existing: readonly Unit[]): Unit[] {
  if (replaced === undefined || app.rollout === null) return [];
  const kept = existing.filter((unit) => unit.rollout === app.rollout && !replaced.includes(unit.process));
  return stayingUnits(kept, wantedCounts(release, powerOf({ app, release, ...rest })));
}

/**
 * Where units stay, the rollout that serves goes on serving: the new units join it, and those that are to go change to the new
 * rollout, which ends them. Nobody who reads the app and its units one after the other ever misses one that stays.
 */
async function exchange(tx: StoreWriter, rollout: Rollout, plan: RolloutPlan): Promise<string> {
  const serving = plan.app.rollout ?? rollout.id;
  const units = await tx.units(rollout.app);
  const stay = new Set(staying(plan, units).map((unit) => unit.id));
  for (const unit of units) {
    if (unit.rollout === rollout.id) await tx.updateUnit(unit.id, { rollout: serving });
    else if (stay.has(unit.id)) await tx.updateUnit(unit.id, { release: rollout.release });
    else if (unit.rollout === serving) await tx.updateUnit(unit.id, { rollout: rollout.id });
  }
  return serving;
}

/** One record per unit that is missing, each with the lowest number that no unit of the app has. */
function newUnits(
  missing: ReadonlyMap<string, number>,
  rollout: Rollout,
  existing: readonly Unit[],
  at: string,
): Unit[] {
  const taken = new Set(existing.map((unit) => unit.index));
  const units: Unit[] = [];
  for (const [process, count] of missing) {
    for (let n = 0; n < count; n++) {
      let index = 0;
      while (taken.has(index)) index++;
      taken.add(index);
      units.push({
        id: randomHex(12),
        app: rollout.app,
        index,
        process,
        release: rollout.release,
        rollout: rollout.id,
        state: 'pending',
        address: null,
        handle: null,
        exits: 0,
        lastExit: null,
        createdAt: at,
      });
    }
  }
  return units;
}
