/**
 * Carries the output of units into the journal, from where it was last stored, so nothing is lost or doubled when
 * control dies. One task per attached unit.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { atMost } from '../../lib/deadline.ts';
import { bestEffort, type Logger } from '../../lib/logger.ts';
import type { Release } from '../apps/app.ts';
import { retry } from '../../lib/retry.ts';
import { speedUp } from '../../lib/small-start.ts';
import { privateForms } from '../units/private-values.ts';
import { PlatformError } from '../errors.ts';
import type { OutputChunk, OutputFile, Provisioner } from '../units/provisioner.ts';
import { type Unit, unitName } from '../units/unit.ts';
import type { Journal } from './journal.ts';
import type { LogStore } from './log-store.ts';
import type { OutputCarrier } from './output-carrier.ts';
import { OutputRate } from './output-rate.ts';
import type { Ownership } from '../controls/ownership.ts';
import { UnitWriter } from './unit-writer.ts';

const RETRY_MS = 500;
/** Of outputs that begin together. */
const AT_ONCE = 50;

const nothing = (): void => {};

interface CollectorDeps {
  readonly provisioner: Provisioner;
  readonly logStore: LogStore;
  readonly journal: Journal;
  readonly logger: Logger;
  /** Whether what cannot be stored is given up: the units that print most give up most, and the oldest of it. */
  readonly isDiskFull: () => Promise<boolean>;
  /** Has the units that print much; null: nobody. */
  readonly carrier: OutputCarrier | null;
  /** Absent: this is the only control. */
  readonly ownership?: Pick<Ownership, 'hasRollout'>;
}

interface Task {
  readonly stop: AbortController;
  /** Lets it begin. */
  begin: () => void;
  done: Promise<void>;
  /** The unit was started again: there is more to come after the end of what is being read. */
  goesOn: boolean;
}

interface HandOver {
  readonly forms: readonly string[];
  readonly writer: UnitWriter;
  readonly file: OutputFile;
  readonly signal: AbortSignal;
}

export class Collector {
  readonly #provisioner: Provisioner;
  readonly #logStore: LogStore;
  readonly #journal: Journal;
  readonly #logger: Logger;
  readonly #isDiskFull: () => Promise<boolean>;
  readonly #carrier: OutputCarrier | null;
  readonly #ownership: CollectorDeps['ownership'];
  readonly #rate = new OutputRate();
  readonly #tasks = new Map<string, Task>();
  #isHeld = false;

  constructor(deps: CollectorDeps) {
    this.#provisioner = deps.provisioner;
    this.#logStore = deps.logStore;
    this.#journal = deps.journal;
    this.#logger = deps.logger;
    this.#isDiskFull = deps.isDiskFull;
    this.#carrier = deps.carrier;
    this.#ownership = deps.ownership;
  }

  /** What is attached from now on begins with goOn(), or when somebody waits for its end: thousands of outputs are work that has time. */
  hold(): void {
    this.#isHeld = true;
  }

  /** Begins what was held, a few at a time. */
  async goOn(): Promise<void> {
    this.#isHeld = false;
    let begun = 0;
    for (const { begin } of [...this.#tasks.values()]) {
      begin();
      begun += 1;
      if (begun % AT_ONCE === 0) await new Promise((resolve) => setImmediate(resolve));
    }
  }

  /**
   * Starts carrying; for a unit that is attached already, makes sure that its next life is carried too. `releaseOf`: null where there is none
   * any more, and nothing is carried.
   */
  attach(unit: Unit, releaseOf: Release | (() => Promise<Release | null>)): void {
    const known = this.#tasks.get(unit.id);
    if (known !== undefined && !known.stop.signal.aborted) {
      known.goesOn = true;
      return;
    }
    const gate = Promise.withResolvers<void>();
    const task: Task = { stop: new AbortController(), begin: gate.resolve, done: gate.promise, goesOn: false };
    const before = known?.done;
    this.#tasks.set(unit.id, task);
    task.done = this.#carry(unit, this.#formsAfter(gate.promise, before, releaseOf, task), task);
    if (!this.#isHeld) task.begin();
  }

  /** Whether the unit is attached, and there may be more to come. */
  has(unitId: string): boolean {
    return this.#tasks.has(unitId);
  }

  /** Resolves when everything a stopped unit has printed is stored, or after `timeoutMs`. */
  async finish(unitId: string, timeoutMs: number): Promise<void> {
    const task = this.#tasks.get(unitId);
    if (task === undefined) return;
    task.begin();
    await atMost(timeoutMs, task.done);
    task.stop.abort();
    await task.done;
  }

  async close(): Promise<void> {
    const tasks = [...this.#tasks.values()];
    for (const task of tasks) task.stop.abort();
    for (const task of tasks) task.begin();
    await Promise.all(tasks.map((task) => task.done));
  }

  /** Apart from carrying, so that nothing of a release stays for as long as its units print. */
  async #formsAfter(
    begun: Promise<void>,
    before: Promise<void> | undefined,
    releaseOf: Release | (() => Promise<Release | null>),
    task: Task,
  ): Promise<readonly string[] | null> {
    await begun;
    task.begin = nothing;
    await before;
    return this.#formsOf(releaseOf, task.stop.signal);
  }

  /** What is private in what it prints; null where there is no release, or nobody wants it any more. */
  async #formsOf(
    releaseOf: Release | (() => Promise<Release | null>),
    signal: AbortSignal,
  ): Promise<readonly string[] | null> {
    if (typeof releaseOf !== 'function') return privateForms(releaseOf.env);
    const onError = (error: unknown): void =>
      this.#logger.warn({ err: error }, 'reading the release of a unit failed, trying again');
    const read = retry(releaseOf, { firstPauseMs: RETRY_MS, longestPauseMs: RETRY_MS, signal, onError });
    const release = await read.catch(() => null);
    return release === null || signal.aborted ? null : privateForms(release.env);
  }

  /** One function for all of it: thousands wait here for what their units print next. Never rejects. */
  async #carry(unit: Unit, wanted: Promise<readonly string[] | null>, task: Task): Promise<void> {
    const forms = await wanted;
    const writer = new UnitWriter(unit, this.#journal, forms ?? []);
    const { signal } = task.stop;
    let after: string | null = null;
    while (forms !== null && !signal.aborted) {
      try {
        task.goesOn = false;
        after = await this.#logStore.cursor(unit.id);
        writer.after = after;
        let file: OutputFile | null = null;
        for await (const chunk of this.#provisioner.output(unit.id, after, signal)) {
          file = await this.#write(unit, writer, chunk);
          after = chunk.cursor;
          if (file !== null) break;
        }
        if (file !== null) await this.#handOver(unit, { forms, writer, file, signal });
        else if (!task.goesOn) break;
      } catch (error) {
        if (signal.aborted || (isOvertaken(error) && !(await this.#isOurs(unit)))) break;
        this.#logger.warn({ err: error, unit: unit.id }, 'reading the output of a unit failed, trying again');
        if (isUnavailable(error)) await this.#makeRoom(unit, await this.#storedOf(unit, after));
        await delay(RETRY_MS, undefined, { signal, ref: false }).catch(() => undefined);
      }
    }
    if (this.#tasks.get(unit.id) === task) this.#tasks.delete(unit.id);
  }

  async #isOurs({ rollout }: Unit): Promise<boolean> {
    return (await this.#ownership?.hasRollout(rollout).catch(() => true)) ?? true;
  }

  /** When so much is printed that it is to be read elsewhere, what is to be read there; else null. */
  async #write(unit: Unit, writer: UnitWriter, chunk: OutputChunk): Promise<OutputFile | null> {
    // Apps print also while no client is there.
    speedUp();
    const begunMs = performance.now();
    const written = writer.write(chunk);
    const busyMs = performance.now() - begunMs;
    await written;
    await this.#provisioner.consumed(unit.id, chunk.cursor);
    if (this.#carrier === null || !this.#rate.isHighWith(chunk.lines, performance.now(), busyMs)) return null;
    return this.#provisioner.outputFile?.(unit.id, chunk.cursor) ?? null;
  }

  async #handOver(unit: Unit, { forms, writer, file, signal }: HandOver): Promise<void> {
    const carried = await this.#carrier?.carry({
      ...{ unit, forms, before: writer.before, file, signal },
      onStored: async (entries, cursor) => {
        this.#journal.appended(unit.app, entries);
        await this.#provisioner.consumed(unit.id, cursor);
      },
    });
    if (carried === undefined) return;
    writer.before = carried.before;
    if (carried.failure !== null) throw carried.failure;
  }

  /** What was stored elsewhere meanwhile counts, too. */
  async #storedOf(unit: Unit, known: string | null): Promise<string | null> {
    return this.#logStore.cursor(unit.id).catch(() => known);
  }

  async #makeRoom(unit: Unit, after: string | null): Promise<void> {
    await bestEffort(this.#logger, `making room of what ${unitName(unit)} has printed`, async () => {
      if (await this.#isDiskFull()) await this.#provisioner.giveUp(unit.id, after);
    });
  }
}

function isOvertaken(error: unknown): boolean {
  return error instanceof PlatformError && error.code === 'app.busy';
}

function isUnavailable(error: unknown): boolean {
  return error instanceof PlatformError && error.code === 'unavailable';
}
