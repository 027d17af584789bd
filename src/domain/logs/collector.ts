/**
 * Carries the output of units into the journal, from where it was last stored, so nothing is lost or doubled when
 * control dies. One task per attached unit.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { atMost } from '../../lib/deadline.ts';
import type { Logger } from '../../lib/logger.ts';
import type { Release } from '../apps/app.ts';
import { privateValues } from '../units/private-values.ts';
import type { OutputChunk, Provisioner } from '../units/provisioner.ts';
import { type Unit, unitName } from '../units/unit.ts';
import type { LogEntry } from './entry.ts';
import type { Journal } from './journal.ts';
import type { LogStore } from './log-store.ts';

const RETRY_MS = 500;

interface Task {
  readonly stop: AbortController;
  done: Promise<void>;
  /** The unit was started again: there is more to come after the end of what is being read. */
  goesOn: boolean;
}

export class Collector {
  readonly #provisioner: Provisioner;
  readonly #logStore: LogStore;
  readonly #journal: Journal;
  readonly #logger: Logger;
  readonly #tasks = new Map<string, Task>();

  constructor(deps: { provisioner: Provisioner; logStore: LogStore; journal: Journal; logger: Logger }) {
    this.#provisioner = deps.provisioner;
    this.#logStore = deps.logStore;
    this.#journal = deps.journal;
    this.#logger = deps.logger;
  }

  /** Starts carrying; for a unit that is attached already, makes sure that its next life is carried too. */
  attach(unit: Unit, release: Release): void {
    const known = this.#tasks.get(unit.id);
    if (known !== undefined && !known.stop.signal.aborted) {
      known.goesOn = true;
      return;
    }
    const task: Task = { stop: new AbortController(), done: Promise.resolve(), goesOn: false };
    const before = known?.done ?? task.done;
    this.#tasks.set(unit.id, task);
    task.done = before.then(() => this.#carry(unit, release, task));
  }

  /** Resolves when everything a stopped unit has printed is stored, or after `timeoutMs`. */
  async finish(unitId: string, timeoutMs: number): Promise<void> {
    const task = this.#tasks.get(unitId);
    if (task === undefined) return;
    await atMost(timeoutMs, task.done);
    task.stop.abort();
    await task.done;
  }

  async close(): Promise<void> {
    const tasks = [...this.#tasks.values()];
    for (const task of tasks) task.stop.abort();
    await Promise.all(tasks.map((task) => task.done));
  }

  async #carry(unit: Unit, release: Release, task: Task): Promise<void> {
    const redact = privateValues(release.env);
    const { signal } = task.stop;
    while (!signal.aborted) {
      try {
        task.goesOn = false;
        const from = await this.#logStore.offset(unit.id);
        for await (const chunk of this.#provisioner.output(unit.id, from, signal)) {
          await this.#journal.append(entriesOf(unit, chunk), redact, { unitId: unit.id, offset: chunk.offset });
          await this.#provisioner.consumed(unit.id, chunk.offset);
        }
        if (!task.goesOn) break;
      } catch (error) {
        if (signal.aborted) break;
        this.#logger.warn({ err: error, unit: unit.id }, 'reading the output of a unit failed, trying again');
        await delay(RETRY_MS, undefined, { signal, ref: false }).catch(() => undefined);
      }
    }
    if (this.#tasks.get(unit.id) === task) this.#tasks.delete(unit.id);
  }
}

function entriesOf(unit: Unit, chunk: OutputChunk): LogEntry[] {
  return chunk.lines.map((line) => ({
    seq: 0,
    at: line.at,
    app: unit.app,
    source: unit.process,
    unit: unitName(unit),
    unitId: unit.id,
    release: unit.release,
    message: line.text,
  }));
}
