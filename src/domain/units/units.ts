/**
 * The life of single units: start one until it serves, retire one until nothing of it is left. Knows nothing of
 * rollouts; the supervisor and the rollouts decide which units there are to be.
 */
import { KeyedQueue } from '../../lib/keyed-queue.ts';
import { bestEffort, type Logger } from '../../lib/logger.ts';
import { randomHex } from '../../lib/ids.ts';
import { SurvivesKill } from '../../lib/survives-kill.ts';
import type { Collector } from '../logs/collector.ts';
import type { Journal } from '../logs/journal.ts';
import type { LogStore } from '../logs/log-store.ts';
import type { Settings } from '../settings.ts';
import type { Store } from '../store.ts';
import type { Release } from '../apps/app.ts';
import { healthCheckOf, isRouted } from './routed.ts';
import { type Unit, type UnitExit, unitName } from './unit.ts';
import { DOWN, noteDown } from './note-down.ts';
import { LAST_LINES, recordDeath, recordGivenUp } from './record-death.ts';
import { privateValues, withoutPrivateValues } from './private-values.ts';
import { type HookRun, runHook } from './hook-run.ts';
import type { Engines } from './engines.ts';
import type { UnitExited } from './provisioner.ts';
import { Failure } from '../failure.ts';
import { unitSpec } from './unit-spec.ts';
import type { Say } from '../say.ts';

const LAST_OUTPUT_MS = 2_000;
const FAILED_GRACE_MS = 1_000;
/** In one start: nodes are not lost one after the other. */
const MOST_LOSSES = 5;

interface UnitsDeps {
  readonly store: Store;
  readonly provisioner: Engines;
  readonly collector: Collector;
  readonly journal: Journal;
  readonly logStore: LogStore;
  readonly settings: Settings;
  readonly logger: Logger;
  readonly now: () => Date;
}

interface StartOptions {
  /** Of a release that nothing has run yet: what does not listen is watched for longer. */
  readonly isNew?: boolean;
  readonly say?: Say;
  /** The rollout whose equal units it is to be one of; absent: its own. */
  readonly joins?: string;
}

interface Start {
  readonly abort: AbortController;
  /** Its process was reported dead meanwhile. */
  died: boolean;
}

export class Units {
  readonly #deps: UnitsDeps;
  /** What concerns one unit happens one after the other: its starts, its deaths, its end. */
  readonly #serial = new KeyedQueue();
  readonly #starting = new Map<string, Start>();
  readonly #retiring = new Set<string>();
  /** Those that went with what they ran on, and have not been started again since. */
  readonly #lost = new Set<string>();
  /** Those that are not to run until they come back. */
  readonly #madeWay = new Set<string>();
  /** Those that the engine is about to start: what they hold may be of the life before, until then. */
  readonly #beginning = new Set<string>();
  /** Why those are ended that do not serve yet, by id. */
  readonly #outgrown = new Map<string, string>();
  #isClosed = false;

  constructor(deps: UnitsDeps) {
    this.#deps = deps;
  }

  /**
   * Brings a unit to `started`; resolves with its record as it serves, at once when it does already. Throws Failure (`cancelled`
   * when nobody wants the unit any more, `exited` with its code when it ended while it was watched); its process may then still run, in state `starting`: retire(), fail() or start it again.
   */
  start(unit: Unit, release: Release, signal: AbortSignal, options: StartOptions = {}): Promise<Unit> {
    return this.#serial.run(unit.id, async () => {
      const start: Start = { abort: new AbortController(), died: false };
      this.#starting.set(unit.id, start);
      try {
        const bringUp = (): Promise<Unit> =>
          this.#bringUp(unit, release, AbortSignal.any([signal, start.abort.signal]), options);
        let started = await bringUp();
        // What does not listen was judged while it was watched: when it ends after that, it is started again.
        const isJudged = isRouted(release, unit.process);
        for (let losses = 1; isJudged && !start.died && this.isLost(unit.id) && losses < MOST_LOSSES; losses++) {
          await noteDown(this.#deps.store, unit.id);
          started = await bringUp();
        }
        if (isJudged && (start.died || this.isLost(unit.id))) {
          const lines = await this.#deps.provisioner.lastLines(unit.id, LAST_LINES);
          throw new Failure('exited', `${unit.process} ended right after it had started.`, {
            hint: 'Its last lines say more; correct what ends it, commit and push again.',
            lines,
          });
        }
        return started;
      } catch (error) {
        throw withoutPrivateValues(error, privateValues(release.env));
      } finally {
        this.#starting.delete(unit.id);
      }
    });
  }

  /** Whether it went with what it ran on, and its engine is to have it somewhere else by now: start() waits for that. */
  isLost(id: string): boolean {
    return this.#lost.has(id);
  }

  /** Nothing is started any more; resolves when what was being started has been given up. */
  async close(): Promise<void> {
    this.#isClosed = true;
    const starting = [...this.#starting];
    for (const [, { abort }] of starting) abort.abort();
    await Promise.all(starting.map(([id]) => this.#serial.run(id, async () => undefined)));
  }

  /**
   * Notes the death of a process with its last words; to be called the moment it is reported. Resolves with the unit, now in state
   * `error`, when it had served; with null when whoever starts or retires it sees to the rest.
   */
  died(exited: UnitExited): Promise<Unit | null> {
    const start = this.#starting.get(exited.id);
    if (exited.isLost === true) this.#lost.add(exited.id);
    else if (start !== undefined) start.died = true;
    return this.#serial.run(exited.id, () => this.#noteDeath(exited, start !== undefined));
  }

  #noteDeath(exited: UnitExited, isStartsConcern: boolean): Promise<Unit | null> {
    const outgrown = this.#outgrown.get(exited.id) ?? null;
    this.#outgrown.delete(exited.id);
    return recordDeath(this.#deps, exited, { outgrown, isStartsConcern });
  }

  /**
   * Notes that a unit does not answer any more; what it runs still has to be ended, see end(). Resolves with the unit, now in state
   * `error`; null when it does not serve.
   */
  giveUp(id: string, reason: string, why: Pick<UnitExit, 'outgrown'> = {}): Promise<Unit | null> {
    const isWanted = (): boolean => !this.#retiring.has(id);
    return this.#serial.run(id, () => recordGivenUp(this.#deps, id, { reason, ...why, isWanted }));
  }

  /**
   * A serving unit leaves its place to one that is about to start: it is out of the routes with the next table, nobody starts it again, and
   * end() ends it. Until it is retired, or comeBack() is called.
   */
  async makeWay(id: string): Promise<void> {
    this.#madeWay.add(id);
    await this.#serial.run(id, () => noteDown(this.#deps.store, id));
  }

  /** Nobody has taken its place: it may be started again. */
  comeBack(id: string): void {
    this.#madeWay.delete(id);
  }

  /** Ends one that does not serve and holds too much on the disk: whoever starts it sees it end, and its record says why. False: it has not begun. */
  async endOutgrown(id: string, reason: string, graceMs: number): Promise<boolean> {
    if (this.#beginning.has(id)) return false;
    this.#outgrown.set(id, reason);
    try {
      await this.#deps.provisioner.stop(id, graceMs);
    } catch (error) {
      this.#outgrown.delete(id);
      throw error;
    }
    return true;
  }

  /** Ends what a unit runs; its record stays. Throws SurvivesKill, and what the provisioner throws. */
  async end(id: string, graceMs: number = this.#deps.settings.stopGraceMs): Promise<void> {
    await this.#serial.run(id, () => this.#deps.provisioner.stop(id, graceMs));
  }

  /** The same for one that is started again after a while, also when this process has ended by then; an engine that starts units again by itself would do so at once. */
  async endForNow(id: string, graceMs: number = this.#deps.settings.stopGraceMs): Promise<void> {
    const { provisioner } = this.#deps;
    const isToComeBack = provisioner.of(id).supports.restarts === 'platform';
    await this.#serial.run(id, () => provisioner.stop(id, graceMs, isToComeBack));
  }

  /** Ends what a failed start left, unless the engine starts it again by itself. Resolves with the unit, in state `error`; null when nobody wants it any more. */
  fail(id: string): Promise<Unit | null> {
    return this.#serial.run(id, async () => {
      const { store, provisioner } = this.#deps;
      const known = await store.unit(id);
      if (known === null || known.state === 'stopped' || this.#isUnwanted(id)) return null;
      if (provisioner.of(id).supports.restarts === 'platform') {
        // While this process is away the next start is by who asks for no health check.
        const release = await store.release(known.app, known.release);
        const isToComeBack = release !== null && healthCheckOf(release, known.process) === null;
        await provisioner.stop(id, FAILED_GRACE_MS, isToComeBack);
      }
      return store.transact(async (tx) => {
        const unit = await tx.unit(id);
        if (unit === null || unit.state === 'stopped') return null;
        const change = { ...DOWN, exits: unit.exits + 1 };
        await tx.updateUnit(id, change);
        return { ...unit, ...change };
      });
    });
  }

  async #bringUp(unit: Unit, release: Release, signal: AbortSignal, options: StartOptions): Promise<Unit> {
    const { store, provisioner, collector, settings } = this.#deps;
    const unwanted = new Failure('cancelled', 'The start was cancelled.');
    this.#lost.delete(unit.id);
    if (this.#isClosed) throw new Failure('interrupted', 'The platform is being stopped.');
    if (signal.aborted || this.#isUnwanted(unit.id)) throw unwanted;
    const known = await store.transact(async (tx) => {
      const found = await tx.unit(unit.id);
      const isToStart = found !== null && found.state !== 'stopped' && found.state !== 'started';
      if (isToStart) await tx.updateUnit(unit.id, { state: 'starting', address: null });
      return found;
    });
    if (known === null || known.state === 'stopped') throw unwanted;
    if (known.state === 'started') return known;
    const { joins = unit.rollout } = options;
    const spec = { ...unitSpec(unit, release, settings.unitLimits), rollout: joins };
    // Of the life before, which may have ended by itself meanwhile.
    this.#outgrown.delete(unit.id);
    this.#beginning.add(unit.id);
    const handle = await provisioner.ensure(spec).finally(() => this.#beginning.delete(unit.id));
    await store.transact((tx) => tx.updateUnit(unit.id, { handle }));
    collector.attach(unit, release);
    const healthCheck = healthCheckOf(release, unit.process);
    const limit = healthCheck?.timeoutSeconds;
    const timeoutMs = limit === undefined ? settings.startTimeoutMs : limit * 1000;
    const watchMs = this.#watchMs(unit, release, options);
    const check = { healthCheck, listens: spec.listens, timeoutMs, watchMs };
    const address = await provisioner.ready(unit.id, check, signal, options.say);
    for (const command of release.hooks.restartAfter) await this.#hook(unit, release, command, signal);
    await store.transact((tx) => tx.updateUnit(unit.id, { state: 'started', address }));
    return { ...known, state: 'started', handle, address };
  }

  #isUnwanted(id: string): boolean {
    return this.#retiring.has(id) || this.#madeWay.has(id);
  }

  #watchMs({ process }: Unit, { processes }: Release, { isNew = false }: StartOptions): number {
    const { newMs, againMs } = this.#deps.settings.watch;
    const own = processes[process]?.watchSeconds;
    const fullMs = own === undefined ? newMs : own * 1000;
    return isNew ? fullMs : Math.min(againMs, fullMs);
  }

  async #hook(unit: Unit, release: Release, command: string, signal: AbortSignal): Promise<void> {
    const spec = { ...unitSpec(unit, release, this.#deps.settings.unitLimits), id: randomHex(12), listens: false };
    await this.runCommand({ spec, env: release.env, command, signal, what: 'restart hook' });
  }

  /** Runs a hook to its end, its output going to the app's log; throws Failure `release_command_failed`. */
  runCommand(hook: HookRun): Promise<void> {
    return runHook(this.#deps, hook);
  }

  /**
   * Stops a unit, stores its last output and removes every trace. Idempotent; also for units that never ran. Of one whose
   * processes survive KILL the record goes, so that it holds nobody up; the healer of strays goes on trying to end it.
   */
  async retire(unit: Unit): Promise<void> {
    this.#retiring.add(unit.id);
    this.#starting.get(unit.id)?.abort.abort();
    try {
      await this.#serial.run(unit.id, () => this.#end(unit));
    } finally {
      this.#retiring.delete(unit.id);
      this.#madeWay.delete(unit.id);
      this.#lost.delete(unit.id);
      this.#outgrown.delete(unit.id);
    }
  }

  async #end(unit: Unit): Promise<void> {
    const { store, provisioner, collector, journal, logStore, settings, logger } = this.#deps;
    const known = await store.unit(unit.id);
    if (known !== null && known.state !== 'stopped') {
      await store.transact((tx) => tx.updateUnit(unit.id, { state: 'stopped', address: null }));
    }
    let isEnded = true;
    try {
      await provisioner.stop(unit.id, settings.stopGraceMs);
    } catch (error) {
      if (!(error instanceof SurvivesKill)) throw error;
      isEnded = false;
      logger.error({ err: error, unit: unit.id }, 'a unit cannot be ended');
      const name = `${unit.process} ${unitName(unit)}`;
      await journal.note(
        unit.app,
        `${name} cannot be ended: its processes survive KILL; the healer of strays goes on trying`,
      );
    }
    await collector.finish(unit.id, LAST_OUTPUT_MS);
    if (isEnded) await provisioner.remove(unit.id);
    await store.transact((tx) => tx.deleteUnit(unit.id));
    await bestEffort(logger, `forgetting the output of ${unitName(unit)}`, () => logStore.forgetUnit(unit.id));
  }
}
