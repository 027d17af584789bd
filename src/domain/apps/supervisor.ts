/**
 * Keeps the units of every app's serving rollout running: a unit that dies leaves the routes at once, its last words are
 * kept, and it is started again after growing delays.
 */
import type { Logger } from '../../lib/logger.ts';
import type { Journal } from '../logs/journal.ts';
import type { Store } from '../store.ts';
import { privateValues } from './private-values.ts';
import type { Provisioner, UnitExited } from './provisioner.ts';
import { Failure } from './rollout.ts';
import type { Routes } from './routes.ts';
import { type Unit, unitName } from './unit.ts';
import type { Units } from './units.ts';

const FIRST_DELAY_MS = 200;
const LONGEST_DELAY_MS = 60_000;
/** A unit that lived this long is forgiven its earlier deaths. */
const FORGIVEN_AFTER_MS = 60_000;
const LAST_LINES = 50;
const STOP_GRACE_MS = 1_000;

export interface SupervisorDeps {
  readonly store: Store;
  readonly provisioner: Provisioner;
  readonly routes: Routes;
  readonly units: Units;
  readonly journal: Journal;
  readonly logger: Logger;
  readonly now: () => Date;
}

interface Record {
  failures: number;
  lastStart: number;
  timer: NodeJS.Timeout | null;
}

export class Supervisor {
  readonly #deps: SupervisorDeps;
  readonly #records = new Map<string, Record>();
  readonly #closed = new AbortController();
  readonly #running = new Set<Promise<void>>();

  constructor(deps: SupervisorDeps) {
    this.#deps = deps;
    deps.provisioner.onExit((exited) => this.#track(this.#onExit(exited)));
  }

  /** Starts a serving unit that is known not to run (after a restart of the machine). Resolves after the first attempt. */
  revive(unit: Unit): Promise<void> {
    const record = this.#recordOf(unit.id);
    if (record.timer !== null) clearTimeout(record.timer);
    record.timer = null;
    const attempt = this.#startAgain(unit.id);
    this.#track(attempt);
    return attempt.catch(() => undefined);
  }

  async close(): Promise<void> {
    this.#closed.abort();
    for (const record of this.#records.values()) if (record.timer !== null) clearTimeout(record.timer);
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
    const { store, provisioner, routes, journal, units } = this.#deps;
    units.noteExit(exited.id);
    const unit = await store.unit(exited.id);
    // `stopped`: somebody retires it. `starting`: whoever starts it sees the failure.
    if (unit === null || unit.state === 'stopped') this.#records.delete(exited.id);
    if (unit === null || unit.state === 'stopped' || unit.state === 'starting') return;
    const release = await store.release(unit.app, unit.release);
    const lastLines = (await provisioner.lastLines(unit.id, LAST_LINES)).map(privateValues(release?.env ?? []));
    const { code, signal, outOfMemory } = exited;
    const at = this.#deps.now().toISOString();
    await store.transact((tx) =>
      tx.updateUnit(unit.id, {
        state: 'error',
        address: null,
        exits: unit.exits + 1,
        lastExit: { at, code, signal, outOfMemory, lastLines },
      }),
    );
    const app = await store.app(unit.app);
    if (app === null || app.rollout !== unit.rollout) return;
    await routes.publish();
    const delay = this.#nextDelay(unit.id);
    await journal.note(
      unit.app,
      `${unit.process} ${unitName(unit)} ${describeExit(exited)}; starting it again in ${delay} ms`,
    );
    this.#schedule(unit, delay);
  }

  #nextDelay(id: string): number {
    const record = this.#recordOf(id);
    if (Date.now() - record.lastStart > FORGIVEN_AFTER_MS) record.failures = 0;
    record.failures += 1;
    return Math.min(LONGEST_DELAY_MS, FIRST_DELAY_MS * 4 ** (record.failures - 1));
  }

  #recordOf(id: string): Record {
    const record = this.#records.get(id) ?? { failures: 0, lastStart: 0, timer: null };
    this.#records.set(id, record);
    return record;
  }

  #schedule(unit: Unit, delayMs: number): void {
    if (this.#closed.signal.aborted) return;
    const record = this.#recordOf(unit.id);
    if (record.timer !== null) return;
    record.timer = setTimeout(() => {
      record.timer = null;
      this.#track(this.#startAgain(unit.id));
    }, delayMs);
  }

  async #startAgain(id: string): Promise<void> {
    const { store, units, routes, journal } = this.#deps;
    const unit = await store.unit(id);
    const app = unit === null ? null : await store.app(unit.app);
    const release = unit === null ? null : await store.release(unit.app, unit.release);
    const wanted = unit !== null && app !== null && release !== null && !app.removing && app.rollout === unit.rollout;
    if (!wanted || unit.state === 'stopped' || unit.state === 'started') {
      this.#records.delete(id);
      return;
    }
    this.#recordOf(id).lastStart = Date.now();
    try {
      await units.start(unit, release, this.#closed.signal);
      await routes.publish();
      await journal.note(unit.app, `${unit.process} ${unitName(unit)} is running again`);
    } catch (error) {
      if (this.#closed.signal.aborted) return;
      await this.#failedStart(unit, error);
    }
  }

  async #failedStart(unit: Unit, error: unknown): Promise<void> {
    const { store, provisioner, journal } = this.#deps;
    const now = await store.unit(unit.id);
    if (now === null || now.state === 'stopped') return;
    await store.transact((tx) => tx.updateUnit(unit.id, { state: 'error', address: null, exits: now.exits + 1 }));
    await provisioner.stop(unit.id, STOP_GRACE_MS);
    const delay = this.#nextDelay(unit.id);
    const why = error instanceof Failure ? error.message : 'the platform could not start it';
    await journal.note(
      unit.app,
      `${unit.process} ${unitName(unit)} did not start (${why}); trying again in ${delay} ms`,
    );
    if (!(error instanceof Failure))
      this.#deps.logger.error({ err: error, unit: unit.id }, 'starting a unit again failed');
    this.#schedule(unit, delay);
  }
}

export function describeExit(exited: Pick<UnitExited, 'code' | 'signal' | 'outOfMemory'>): string {
  if (exited.outOfMemory) return 'was killed: it used more memory than it may';
  if (exited.signal !== null) return `was ended by ${exited.signal}`;
  return exited.code === null ? 'ended' : `exited with code ${exited.code}`;
}
