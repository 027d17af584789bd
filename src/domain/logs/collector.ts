/**
 * Carries the output of units into the journal, from where it was last stored, so nothing is lost or doubled when
 * control dies. One task per attached unit.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { atMost } from '../../lib/deadline.ts';
import { bestEffort, type Logger } from '../../lib/logger.ts';
import type { Release } from '../apps/app.ts';
import { PartRedactor } from '../../lib/redact-parts.ts';
import { redactorOf } from '../../lib/redact.ts';
import { speedUp } from '../../lib/small-start.ts';
import { privateForms } from '../units/private-values.ts';
import { PlatformError } from '../errors.ts';
import type { MissingOutput, OutputChunk, Provisioner } from '../units/provisioner.ts';
import { type Unit, unitName } from '../units/unit.ts';
import type { LogEntry } from './entry.ts';
import type { Journal } from './journal.ts';
import type { LogStore } from './log-store.ts';

const RETRY_MS = 500;

interface CollectorDeps {
  readonly provisioner: Provisioner;
  readonly logStore: LogStore;
  readonly journal: Journal;
  readonly logger: Logger;
  /** Whether what cannot be stored is given up: the units that print most give up most, and the oldest of it. */
  readonly isDiskFull: () => Promise<boolean>;
}

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
  readonly #isDiskFull: () => Promise<boolean>;
  readonly #tasks = new Map<string, Task>();

  constructor(deps: CollectorDeps) {
    this.#provisioner = deps.provisioner;
    this.#logStore = deps.logStore;
    this.#journal = deps.journal;
    this.#logger = deps.logger;
    this.#isDiskFull = deps.isDiskFull;
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
    const forms = privateForms(release.env);
    const [redact, parts] = [redactorOf(forms), new PartRedactor(forms)];
    const { signal } = task.stop;
    let after: string | null = null;
    let stored = parts.before;
    while (!signal.aborted) {
      try {
        task.goesOn = false;
        parts.before = stored;
        after = await this.#logStore.cursor(unit.id);
        for await (const chunk of this.#provisioner.output(unit.id, after, signal)) {
          // Apps print also while no client is there.
          speedUp();
          const lines = chunk.lines.map((line) => ({ ...line, text: parts.redact(line) }));
          await this.#journal.append(entriesOf(unit, { ...chunk, lines }, new Date()), redact, {
            unitId: unit.id,
            cursor: chunk.cursor,
          });
          after = chunk.cursor;
          stored = parts.before;
          await this.#provisioner.consumed(unit.id, chunk.cursor);
        }
        if (!task.goesOn) break;
      } catch (error) {
        if (signal.aborted) break;
        this.#logger.warn({ err: error, unit: unit.id }, 'reading the output of a unit failed, trying again');
        if (isUnavailable(error)) await this.#makeRoom(unit, after);
        await delay(RETRY_MS, undefined, { signal, ref: false }).catch(() => undefined);
      }
    }
    if (this.#tasks.get(unit.id) === task) this.#tasks.delete(unit.id);
  }

  async #makeRoom(unit: Unit, after: string | null): Promise<void> {
    await bestEffort(this.#logger, `making room of what ${unitName(unit)} has printed`, async () => {
      if (await this.#isDiskFull()) await this.#provisioner.giveUp(unit.id, after);
    });
  }
}

function isUnavailable(error: unknown): boolean {
  return error instanceof PlatformError && error.code === 'unavailable';
}

function entriesOf(unit: Unit, { missing, lines }: OutputChunk, now: Date): LogEntry[] {
  const own = { seq: 0, app: unit.app, unit: unitName(unit), unitId: unit.id, release: unit.release };
  const entries = lines.map(({ at, text }) => ({ ...own, at, source: unit.process, message: text }));
  if (missing === undefined) return entries;
  const at = lines[0]?.at ?? now.toISOString();
  return [{ ...own, at, source: 'tancho', message: gapMessage(missing) }, ...entries];
}

function gapMessage({ lines, bytes, why }: MissingOutput): string {
  const what = lines === 1 ? '1 line is' : `${lines ?? 'Many'} lines are`;
  const reason = why === 'no room' ? 'the disk of the server was full' : 'more was printed than can be read in time';
  return `${what} missing here (${bytes} bytes): ${reason}.`;
}
