/**
 * Moves an app from the units that serve to a new set, without a failed request and without a half-switched state:
 * starting -> routing -> draining -> done | failed. The step to `routing` is the commit: before it the old units serve and
 * everything new can be thrown away, after it the new units serve and only cleaning up is left. Each step is stored before
 * it is begun, so a crash leaves a state that resume() finishes or undoes.
 */
import { randomHex } from '../../lib/ids.ts';
import { bestEffort } from '../../lib/logger.ts';
import { retry, whenAnother } from '../../lib/retry.ts';
import { publishedFor, type PublishedDeps } from '../artifacts/published-artifacts.ts';
import { PlatformError, toPlatformError } from '../errors.ts';
import { reserveUnits } from '../quotas/quota.ts';
import type { Settings } from '../settings.ts';
import type { StoreReader } from '../store.ts';
import { demandVolumes } from '../volumes/release-mounts.ts';
import type { App } from '../apps/app.ts';
import { isRouted, namedProcesses } from '../units/routed.ts';
import { servingUnits, type Unit } from '../units/unit.ts';
import type { Router } from '../routes/router.ts';
import type { Rollout } from './rollout.ts';
import { Failure, type FailureCause } from '../failure.ts';
import { countAtEnd, countFromCommit, NOT_KNOWN } from './failed-requests.ts';
import type { NumberedPlan, RolloutPlan } from './rollout-plan.ts';
import type { Routes } from '../routes/routes.ts';
import { makeWay } from './one-writer.ts';
import { runCommandsBefore } from './release-commands.ts';
import { startUnits } from './start-units.ts';
import type { Peers } from '../controls/peers.ts';
import type { Ownership } from '../controls/ownership.ts';
import type { Units } from '../units/units.ts';
import { newUnits } from '../units/new-units.ts';
import { exchangeUnits, powerOf, stayingUnits, unitsOf } from './partial-rollout.ts';
import { missingCounts, powerWithout, wantedCounts } from '../units/wanted-units.ts';

const PATIENCE_MS = 1_500;
/**
 * A control that can do nothing loses its lease, which another one takes within seconds, however many die at once; it is waited for no longer. This is
 * for one that renews it and hears of nothing: it looks at the store by itself every ten seconds, so its router has the routes long before.
 */
const PEERS_MS = 60_000;
const END_PAUSES = { firstPauseMs: 1_000, longestPauseMs: 2_000 };

interface RolloutsDeps extends PublishedDeps {
  readonly units: Units;
  readonly ownership: Ownership;
  readonly peers: Peers;
  readonly routes: Routes;
  readonly router: Router;
  readonly settings: Settings;
  readonly now: () => Date;
  /** Has a serving unit that is dead started again, unless that is seen to already. */
  readonly lookAfter: (unit: string) => void;
  /** Has units of the serving rollout collected and watched that another control has started. Resolves with the ids of those that turn out not to serve. */
  readonly adopt: (units: readonly Unit[]) => Promise<ReadonlySet<string>>;
  /** How long a caller waits for the old units to end before the rest goes on in the background; 1.5 s when absent. */
  readonly patienceMs?: number;
}

interface Begun {
  readonly rollout: Rollout;
  readonly units: Unit[];
  /** Processes of which units stay. */
  readonly staying: ReadonlySet<string>;
}

type EndOptions = Pick<RolloutPlan, 'onStep'>;

export class Rollouts {
  readonly #deps: RolloutsDeps;
  readonly #background = new Set<Promise<void>>();
  /** Ids of the committed ones that are carried to their end. */
  readonly #ending = new Set<string>();
  readonly #closed = new AbortController();

  constructor(deps: RolloutsDeps) {
    this.#deps = deps;
  }

  /**
   * Resolves when the new units serve. When they do not come up it throws Failure, and the old ones serve as before. Throws
   * PlatformError `app.busy` when somebody else changed what serves, `app.not_found` when the app was removed meanwhile.
   */
  async roll(given: RolloutPlan): Promise<Rollout> {
    await this.#undoAbandoned(given.app.name);
    const numbered = await this.#numbered(given);
    // Judged again with the units' records; here, so that no command runs for nothing.
    await this.#demandRoom(this.#deps.store, numbered);
    const plan = { ...numbered, release: await publishedFor(this.#deps, numbered) };
    await this.#commandsBefore(plan);
    const failuresBefore = (await this.#knownFailures(plan.app.name)) ?? NOT_KNOWN;
    const { rollout, units, staying } = await this.#begin(plan, failuresBefore);
    const gone: Unit[] = [];
    try {
      const serving = servingUnits(plan.app, await this.#deps.store.units(plan.app.name));
      const leaving = serving.filter(({ process }) => !staying.has(process));
      gone.push(...(await makeWay(this.#deps, { plan, units, leaving })));
      const tasks = await startUnits(this.#deps.units, { units, serving, staying, plan, now: this.#deps.now() });
      await this.#commit(rollout, withoutTasks(plan, tasks));
    } catch (error) {
      // The answer to a commit may be lost on its way. Where that cannot be read now, it is left to whoever has the app next.
      const isCommitted = await this.#isCommitted(rollout).catch(() => null);
      if (isCommitted === false) {
        await bestEffort(this.#deps.logger, 'undoing a rollout', () => this.#undo(rollout, plan.isNewRelease, error));
      }
      if (isCommitted !== true) {
        this.#comeBack(gone);
        throw error;
      }
    }
    await bestEffort(this.#deps.logger, 'looking after units', () => this.#lookAfterAll(plan.app.name));
    const routed = this.#deps.routes.publish(plan.app.name);
    const ended = this.#end(rollout, routed, given);
    try {
      await routed;
    } catch (error) {
      this.#deps.logger.error({ err: error, app: plan.app.name }, 'the routes of a rollout wait for the router');
      const { message } = toPlatformError(error);
      plan.say(` !     ${message} It is tried again; the old units stay until then.`);
      return rollout;
    }
    const patienceMs = this.#deps.patienceMs ?? PATIENCE_MS;
    await Promise.race([ended, new Promise((resolve) => setTimeout(resolve, patienceMs).unref())]);
    return rollout;
  }

  /** Waits for what goes on in the background, for an orderly stop; what cannot be ended now is ended after the next start. */
  async close(): Promise<void> {
    this.#closed.abort();
    await this.idle();
  }

  /** Whether a committed rollout is being carried to its end. */
  isEnding(rollout: string): boolean {
    return this.#ending.has(rollout);
  }

  /** Resolves when nothing goes on in the background. */
  async idle(): Promise<void> {
    while (this.#background.size > 0) await Promise.allSettled(this.#background);
  }

  /** At boot: finishes a rollout that was committed, in the background; undoes one that was not. */
  async resume(rollout: Rollout, onStep?: RolloutPlan['onStep']): Promise<'finished' | 'undone'> {
    if (rollout.state === 'starting') {
      await this.#undoInterrupted(rollout);
      return 'undone';
    }
    void this.#end(rollout, this.#deps.routes.publish(rollout.app), onStep === undefined ? {} : { onStep });
    return 'finished';
  }

  /** Whoever has the app's lease is the only one who changes it: what is still starting was left by one who died or gave up. */
  async #undoAbandoned(app: string): Promise<void> {
    const open = await this.#deps.store.unfinishedRollouts();
    for (const rollout of open) {
      if (rollout.app === app && rollout.state === 'starting') await this.#undoInterrupted(rollout);
    }
  }

  async #undoInterrupted(rollout: Rollout): Promise<void> {
    const app = await this.#deps.store.app(rollout.app);
    const isNewRelease = app?.release !== rollout.release;
    await this.#undo(rollout, isNewRelease, new Failure('interrupted', 'The platform was restarted.'));
  }

  async #numbered(plan: RolloutPlan): Promise<NumberedPlan> {
    if ('number' in plan.release) return { ...plan, release: plan.release, isNewRelease: false };
    const [newest] = await this.#deps.store.releases(plan.app.name, 1);
    return { ...plan, release: { ...plan.release, number: (newest?.number ?? 0) + 1 }, isNewRelease: true };
  }

  async #demandRoom(store: StoreReader, plan: NumberedPlan): Promise<void> {
    await reserveUnits(store, plan.app.name, unitsOf(plan), this.#deps.settings.defaultLimits);
    await demandVolumes(store, plan.release, wantedCounts(plan.release, powerOf(plan)));
  }

  #comeBack(gone: readonly Unit[]): void {
    for (const { id } of gone) {
      this.#deps.units.comeBack(id);
      this.#deps.lookAfter(id);
    }
  }

  async #commandsBefore(plan: NumberedPlan): Promise<void> {
    // Nothing new is released where units stay.
    if (plan.replaced !== undefined) return;
    await runCommandsBefore(this.#deps, plan);
    const list = [...wantedCounts(plan.release, powerOf(plan))].map(([name, count]) => `${name}: ${count}`);
    plan.say(`-----> Starting release ${plan.release.number} (${list.join(', ')})`);
  }

  async #begin(plan: NumberedPlan, failuresBefore: number): Promise<Begun> {
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
      failuresBefore,
      failedRequests: null,
    };
    return store.transact(async (tx) => {
      await this.#demandRoom(tx, plan);
      if (plan.isNewRelease) await tx.insertRelease(plan.release);
      await tx.insertRollout(rollout);
      await this.#deps.ownership.claimRollout(tx, rollout.id);
      const existing = await tx.units(plan.app.name);
      const stay = stayingUnits(plan, existing);
      const missing = missingCounts(wantedCounts(plan.release, powerOf(plan)), stay);
      const units = newUnits(missing, rollout, existing, at);
      for (const unit of units) await tx.insertUnit(unit);
      await plan.onStep?.(tx, { state: 'starting', release: plan.release.number });
      return { rollout, units, staying: new Set(stay.map(({ process }) => process)) };
    });
  }

  async #commit(rollout: Rollout, plan: NumberedPlan): Promise<void> {
    if (plan.signal.aborted) throw new Failure('cancelled', 'The change was cancelled.');
    const failures = await this.#knownFailures(rollout.app);
    await this.#deps.store.transact(async (tx) => {
      const app = await tx.app(rollout.app);
      if (app === null || app.removing)
        throw new PlatformError('app.not_found', `App ${rollout.app} was removed meanwhile.`);
      // Whoever lost the app's lease without noticing must not undo what was done since.
      const own = await tx.rollout(rollout.id);
      if (own?.state !== 'starting' || isOvertaken(app, plan.app)) throw overtaken(app.name);
      const units = (await tx.units(rollout.app)).filter((unit) => unit.rollout === rollout.id);
      // What does not listen has been judged, and is started again when it has died since.
      const dead = units.find((unit) => unit.state !== 'started' && isRouted(plan.release, unit.process));
      if (dead !== undefined) {
        throw new Failure('exited', `${dead.process} ended right after it had started.`, {
          hint: 'Its last lines say more; correct what ends it, commit and push again.',
          lines: dead.lastExit?.lastLines ?? [],
        });
      }
      const serving = plan.replaced === undefined ? rollout.id : await exchangeUnits(tx, rollout, plan);
      // Its new units were started here.
      await this.#deps.ownership.claimRollout(tx, serving);
      const routedProcesses = namedProcesses(plan.release);
      await tx.updateApp(rollout.app, {
        release: rollout.release,
        rollout: serving,
        routedProcesses,
        ...powerOf(plan),
      });
      await tx.updateRollout(rollout.id, { state: 'routing' });
      if (failures !== null) await countFromCommit(tx, rollout, failures);
      await plan.onStep?.(tx, { state: 'routing', release: rollout.release });
    });
  }

  async #isCommitted({ id }: Rollout): Promise<boolean> {
    const own = await this.#deps.store.rollout(id);
    return own !== null && own.state !== 'starting' && own.state !== 'failed';
  }

  async #lookAfterAll(name: string): Promise<void> {
    const { store, lookAfter, adopt } = this.#deps;
    const app = await store.app(name);
    if (app === null) return;
    const serving = servingUnits(app, await store.units(name));
    const lost = await adopt(serving);
    for (const { id, state } of serving) if (state === 'error' || lost.has(id)) lookAfter(id);
  }

  /** What is committed is carried to its end, in the background and however long it takes: nothing can fail it any more. */
  #end(rollout: Rollout, routed: Promise<void>, options: EndOptions): Promise<void> {
    const { logger, routes } = this.#deps;
    routed.catch(() => undefined);
    const onError = whenAnother((err) =>
      logger.warn({ err, app: rollout.app }, 'ending a rollout failed, trying again'),
    );
    const work = async (attempt: number): Promise<void> => {
      await (attempt === 0 ? routed : routes.publish(rollout.app));
      await this.#finish(rollout, options);
    };
    const trying = (): Promise<void> => retry(work, { ...END_PAUSES, signal: this.#closed.signal, onError });
    this.#ending.add(rollout.id);
    const ended = bestEffort(logger, 'ending a rollout', trying).finally(() => {
      this.#background.delete(ended);
      this.#ending.delete(rollout.id);
    });
    this.#background.add(ended);
    return ended;
  }

  async #finish(rollout: Rollout, options: EndOptions): Promise<void> {
    const { store, router, peers, settings, units, now } = this.#deps;
    const { release } = rollout;
    const { signal } = this.#closed;
    await peers.all('routes', [rollout.app], PEERS_MS, signal);
    const old = await store.transact(async (tx) => {
      await tx.updateRollout(rollout.id, { state: 'draining' });
      await options.onStep?.(tx, { state: 'draining', release });
      const open = (await tx.unfinishedRollouts()).filter((other) => other.state === 'starting');
      const keep = new Set([(await tx.app(rollout.app))?.rollout, ...open.map((other) => other.id)]);
      return (await tx.units(rollout.app)).filter((unit) => !keep.has(unit.rollout));
    });
    const ids = old.map(({ id }) => id);
    await Promise.all([
      router.drained(ids, settings.drainTimeoutMs),
      peers.all('drain', ids, settings.drainTimeoutMs + PEERS_MS, signal),
    ]);
    await Promise.all(old.map((unit) => units.retire(unit)));
    const failures = await this.#failures(rollout.app);
    await store.transact(async (tx) => {
      const failedRequests = await countAtEnd(tx, rollout, failures);
      await tx.updateRollout(rollout.id, { state: 'done', finishedAt: now().toISOString() });
      await options.onStep?.(tx, { state: 'done', release, failedRequests });
    });
  }

  /** Null: the router does not say. One that is away does not stop a change. */
  #knownFailures(app: string): Promise<number | null> {
    return this.#failures(app).catch(() => null);
  }

  async #failures(app: string): Promise<number> {
    return (await this.#deps.router.traffic(app)).failures;
  }

  async #undo(rollout: Rollout, removeRelease: boolean, error: unknown): Promise<void> {
    const { store, units, now } = this.#deps;
    const mine = (await store.units(rollout.app)).filter((unit) => unit.rollout === rollout.id);
    await Promise.all(mine.map((unit) => units.retire(unit)));
    const cause: FailureCause = error instanceof Failure ? error.code : 'internal';
    await store.transact(async (tx) => {
      // Somebody else may have undone it, and given the number of its release to another.
      if ((await tx.rollout(rollout.id))?.state !== 'starting') return;
      await tx.updateRollout(rollout.id, { state: 'failed', cause, finishedAt: now().toISOString() });
      if (removeRelease) await tx.deleteRelease(rollout.app, rollout.release);
    });
  }
}

function withoutTasks(plan: NumberedPlan, tasks: ReadonlySet<string>): NumberedPlan {
  if (tasks.size === 0) return plan;
  const power = powerOf(plan);
  // What was to run and has done so does not make a stopped app of one that is to run something else.
  return { ...plan, power: powerWithout(plan.release, [...power.stoppedProcesses, ...tasks]) };
}

/** Whether somebody else has changed what runs since the app was read. */
function isOvertaken(app: App, before: App): boolean {
  return app.rollout !== before.rollout || app.release !== before.release || app.desired !== before.desired;
}

function overtaken(app: string): PlatformError {
  return new PlatformError('app.busy', `Another change of ${app} took over before this one was done.`, {
    hint: 'Look at the app as it is now, then try again.',
  });
}
