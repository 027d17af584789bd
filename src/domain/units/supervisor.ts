/**
 * Keeps the units of every app's serving rollout running: a unit that dies leaves the routes at once, its last words are
 * kept, and it is started again after growing delays; where its engine does that, it is waited for.
 */
import type { Logger } from '../../lib/logger.ts';
import { retry, whenAnother } from '../../lib/retry.ts';
import { Unreached } from '../errors.ts';
import type { Journal } from '../logs/journal.ts';
import type { Store } from '../store.ts';
import type { Engines } from './engines.ts';
import type { UnitExited } from './provisioner.ts';
import { Failure, type FailureCause } from '../failure.ts';
import { FORGIVEN_AFTER_MS, restartDelayMs } from './restart-delay.ts';
import type { Routes } from '../routes/routes.ts';
import { describeExit, type Unit, type UnitExit, unitName } from './unit.ts';
import type { Ownership } from '../controls/ownership.ts';
import type { Units } from './units.ts';

const STORE_PAUSES = { firstPauseMs: 250, longestPauseMs: 2_000 };
/** An engine that starts units again by itself, and was not reached, is asked again so soon: what it runs may serve the moment it can be reached. */
const UNREACHED_DELAY_MS = 1_000;

interface SupervisorDeps {
  readonly store: Store;
  readonly provisioner: Pick<Engines, 'of' | 'onExit'>;
  readonly routes: Routes;
  readonly units: Units;
  readonly ownership: Ownership;
  readonly journal: Journal;
  readonly logger: Logger;
  readonly now: () => Date;
}

interface Watch {
  /** Deaths and failed starts in a row. */
  failures: number;
  /** When it was last started by us; null when that did not succeed, or was done by somebody else. */
  servesSince: number | null;
  timer: NodeJS.Timeout | null;
  attempt: Promise<void> | null;
  /** Why the last attempt to start it failed; null after one that did not. */
  failure: StartFailure | null;
}

/** Why a unit that runs is ended and started again. */
interface Replacement {
  readonly reason: string;
  /** Milliseconds since 1970. */
  readonly wellUntil: number;
  /** Half a sentence about the unit. */
  readonly what: string;
  readonly exit: Pick<UnitExit, 'outgrown'>;
  /** Absent: the one of the settings. */
  readonly graceMs?: number;
}

interface StartFailure {
  readonly cause: FailureCause;
  readonly message: string;
}

export class Supervisor {
  readonly #deps: SupervisorDeps;
  readonly #watches = new Map<string, Watch>();
  readonly #closed = new AbortController();
  readonly #running = new Set<Promise<void>>();

  constructor(deps: SupervisorDeps) {
    this.#deps = deps;
    deps.provisioner.onExit((exited) => this.#track(this.#onExit(exited)));
  }

  /** Starts a serving unit that is known not to run (after a restart of the machine). Resolves after the first attempt. */
  async revive(unit: Unit): Promise<void> {
    const watch = this.#watchOf(unit.id);
    if (watch.timer !== null) clearTimeout(watch.timer);
    watch.timer = null;
    const attempt = this.#startAgain(unit.id);
    this.#track(attempt);
    await attempt.catch(() => undefined);
  }

  /** Starts a serving unit that is known to be dead, and that nobody starts yet, after its delay. */
  lookAfter(id: string): void {
    if (!this.isLookingAfter(id)) this.#schedule(id, this.#nextDelay(id));
  }

  /**
   * Takes a serving unit that does not answer any more out of the routes, ends it and starts it again after its delay; `wellUntil`:
   * since when it has not answered, milliseconds since 1970. Resolves when it has been ended.
   */
  async replaceHung(unit: Unit, why: { readonly reason: string; readonly wellUntil: number }): Promise<void> {
    await this.#replace(unit, { ...why, what: 'does not answer any more', exit: {} });
  }

  /** The same for a unit that holds too much on the disk: what it has written goes with it. */
  async replaceOutgrown(unit: Unit, reason: string, graceMs: number): Promise<void> {
    const wellUntil = this.#deps.now().getTime();
    const what = 'holds too much on the disk';
    await this.#replace(unit, { reason, wellUntil, what, exit: { outgrown: true }, graceMs });
  }

  /** The same of one that does not serve, which is left to whoever starts or drains it; nothing is done where it has not begun. */
  async endOutgrown(unit: Unit, reason: string, graceMs: number): Promise<void> {
    const { units, journal } = this.#deps;
    if (!(await units.endOutgrown(unit.id, reason, graceMs))) return;
    const what = `${unit.process} ${unitName(unit)}, which does not serve, holds too much on the disk`;
    await journal.note(unit.app, `${what}: ${reason}; it is ended`);
  }

  async #replace(unit: Unit, why: Replacement): Promise<void> {
    const { routes, journal, units } = this.#deps;
    const watch = this.#watchOf(unit.id);
    if (watch.timer !== null || watch.attempt !== null) return;
    const delay = this.#nextDelay(unit.id, { until: why.wellUntil, isAtBound: why.exit.outgrown === true });
    const end = async (): Promise<void> => {
      const down = await this.#surely(`noting that a unit ${why.what}`, () =>
        units.giveUp(unit.id, why.reason, why.exit),
      );
      if (down === null) return;
      const published = routes.publish(unit.app);
      // What has no time to finish its requests is to go at once.
      if (why.graceMs !== 0) await published;
      const again = watch.failures > 1 ? ` (the ${watch.failures}. time in a row, so it waits longer)` : '';
      const what = `${unit.process} ${unitName(unit)} ${why.what}: ${why.reason}`;
      await Promise.all([
        published,
        journal.note(unit.app, `${what}; ending it and starting it again in ${delay} ms${again}`),
        this.#surely('ending a unit', () => units.endForNow(unit.id, why.graceMs)),
      ]);
    };
    // An attempt, so that nobody starts it meanwhile.
    watch.attempt = end().finally(() => {
      watch.attempt = null;
      this.#schedule(unit.id, delay);
    });
    this.#track(watch.attempt);
    await watch.attempt.catch(() => undefined);
  }

  /** Whether a unit is being started, or will be after its delay. */
  isLookingAfter(id: string): boolean {
    const watch = this.#watches.get(id);
    return watch !== undefined && (watch.timer !== null || watch.attempt !== null);
  }

  /** Why a unit that is being looked after did not start the last time; null: it did, or nobody has tried. */
  failureOf(id: string): StartFailure | null {
    return this.#watches.get(id)?.failure ?? null;
  }

  async close(): Promise<void> {
    this.#closed.abort();
    for (const watch of this.#watches.values()) if (watch.timer !== null) clearTimeout(watch.timer);
    await Promise.all(this.#running);
  }

  #track(work: Promise<void>): void {
    const tracked = work
      .catch((error: unknown) => this.#deps.logger.error({ err: error }, 'looking after a unit failed'))
      .finally(() => this.#running.delete(tracked));
    this.#running.add(tracked);
  }

  async #onExit(exited: UnitExited): Promise<void> {
    if (this.#closed.signal.aborted) return;
    const { store, routes, journal, units } = this.#deps;
    const { id } = exited;
    // An engine that several controls share notifies each of them.
    if (!(await this.#surely('looking up who looks after a unit', () => this.#isOurs(id)))) return;
    const unit = await this.#surely('noting the death of a unit', () => units.died(exited));
    const app = unit === null ? null : await this.#surely('looking up an app', () => store.app(unit.app));
    if (unit === null || app === null || app.removing || app.rollout !== unit.rollout) {
      const known = await store.unit(id);
      if (known === null || known.state === 'stopped') this.#forget(id);
      return;
    }
    const delay = this.#nextDelay(id, { isAtBound: exited.outOfMemory });
    const engine = this.#deps.provisioner.of(id);
    const isOurs = engine.supports.restarts === 'platform';
    // An engine has delays of its own, and the attempt waits for what it does.
    this.#schedule(id, isOurs ? delay : 0);
    await routes.publish(unit.app);
    const what = `${unit.process} ${unitName(unit)} ${describeExit(exited)}`;
    const next = isOurs ? `starting it again in ${delay} ms` : `the engine ${engine.name} starts it again`;
    await journal.note(unit.app, `${what}; ${next}`);
  }

  async #isOurs(id: string): Promise<boolean> {
    const { store, ownership } = this.#deps;
    if (ownership.isAlone) return true;
    const unit = await store.unit(id);
    return unit !== null && (await ownership.hasRollout(unit.rollout));
  }

  /** What is not stored is not started again either, so it is tried until it succeeds. */
  #surely<T>(what: string, work: () => Promise<T>): Promise<T> {
    const onError = whenAnother((err) => this.#deps.logger.error({ err }, `${what} failed, trying again`));
    return retry(work, { ...STORE_PAUSES, signal: this.#closed.signal, onError });
  }

  #nextDelay(id: string, { until = this.#deps.now().getTime(), isAtBound = false } = {}): number {
    const watch = this.#watchOf(id);
    const lived = watch.servesSince === null ? 0 : until - watch.servesSince;
    if (lived > FORGIVEN_AFTER_MS) watch.failures = 0;
    watch.servesSince = null;
    watch.failures += 1;
    return restartDelayMs(watch.failures, isAtBound);
  }

  #watchOf(id: string): Watch {
    const watch = this.#watches.get(id) ?? {
      failures: 0,
      servesSince: null,
      timer: null,
      attempt: null,
      failure: null,
    };
    this.#watches.set(id, watch);
    return watch;
  }

  #forget(id: string): void {
    const timer = this.#watches.get(id)?.timer ?? null;
    if (timer !== null) clearTimeout(timer);
    this.#watches.delete(id);
  }

  #schedule(id: string, delayMs: number): void {
    if (this.#closed.signal.aborted) return;
    const watch = this.#watchOf(id);
    if (watch.timer !== null) return;
    watch.timer = setTimeout(() => {
      watch.timer = null;
      this.#track(this.#startAgain(id));
    }, delayMs);
  }

  /** Those who ask while an attempt is under way share it. */
  #startAgain(id: string): Promise<void> {
    const watch = this.#watchOf(id);
    watch.attempt ??= this.#attempt(id).finally(() => {
      watch.attempt = null;
    });
    return watch.attempt;
  }

  async #attempt(id: string): Promise<void> {
    const { store, units, routes, journal } = this.#deps;
    const unit = await this.#surely('looking up a unit', () => store.unit(id));
    try {
      const app = unit === null ? null : await store.app(unit.app);
      const release = unit === null ? null : await store.release(unit.app, unit.release);
      const isWanted = app !== null && !app.removing && app.rollout === unit?.rollout && unit.state !== 'stopped';
      if (!isWanted || unit === null || release === null) return this.#forget(id);
      if (unit.state === 'started') return;
      await units.start(unit, release, this.#closed.signal);
      const watch = this.#watchOf(id);
      watch.servesSince = this.#deps.now().getTime();
      watch.failure = null;
    } catch (error) {
      if (this.#closed.signal.aborted) return;
      return this.#failedStart(id, error);
    }
    await routes.publish(unit.app);
    await journal.note(unit.app, `${unit.process} ${unitName(unit)} is running again`);
  }

  async #failedStart(id: string, error: unknown): Promise<void> {
    const { journal, units, logger, provisioner } = this.#deps;
    const unit = await this.#surely('noting a failed start', () => units.fail(id));
    if (unit === null) return this.#forget(id);
    const isUnreached = error instanceof Unreached && provisioner.of(id).supports.restarts === 'engine';
    const delay = Math.min(this.#nextDelay(id), isUnreached ? UNREACHED_DELAY_MS : Infinity);
    this.#schedule(id, delay);
    const why = error instanceof Failure ? error.message : 'the platform could not start it';
    this.#watchOf(id).failure = { cause: error instanceof Failure ? error.code : 'internal', message: why };
    if (!(error instanceof Failure)) logger.error({ err: error, unit: id }, 'starting a unit again failed');
    const name = `${unit.process} ${unitName(unit)}`;
    await journal.note(unit.app, `${name} did not start (${why}); trying again in ${delay} ms`);
  }
}
