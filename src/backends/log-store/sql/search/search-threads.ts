/** Threads that search, so that nobody else waits for it: begun with the first large search, ended soon after the last. */
import { extname } from 'node:path';
import { Worker } from 'node:worker_threads';
import type { SearchJob, SearchResult } from './search-job.ts';

/** More would be quicker on a machine with little to do, and takes tens of megabytes each. */
const MOST = 1;
const IDLE_MS = 10_000;
/** For a megabyte or so; what takes longer would take for ever. */
const JOB_MS = 1_500;
/** So long for what ends by itself after a turn, however busy the machine is. */
const SAFE_JOB_MS = 60_000;
/** Of the heap of one: some blocks of usual size; and of one for what needs more, which ends after that. */
const HEAP_MB = 12;
const LARGE_HEAP_MB = 128;
const YOUNG_HEAP_MB = 1;

class SearchTooSlow extends Error {
  override readonly name = 'SearchTooSlow';
}

interface Waiting {
  readonly job: SearchJob;
  readonly answer: (result: SearchResult | Error) => void;
}

export class SearchThreads {
  readonly #idle: Worker[] = [];
  /** By whose they are: each has a turn, then the next one. */
  readonly #waiting = new Map<string, Waiting[]>();
  #count = 0;
  #timer: NodeJS.Timeout | null = null;
  #isClosed = false;

  /** Throws an error with the name `SearchTooSlow` when the thread was ended, for it takes too long there. */
  async search(job: SearchJob): Promise<Extract<SearchResult, { found: unknown }>['found']> {
    const result = await new Promise<SearchResult | Error>((answer) => {
      const key = job.filter.by ?? `app ${job.filter.app}`;
      const line = this.#waiting.get(key) ?? [];
      line.push({ job, answer });
      this.#waiting.set(key, line);
      this.#goOn();
    });
    if (result instanceof Error) throw result;
    if ('error' in result) throw new Error(`a search failed: ${result.error}`);
    return result.found;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    const waiting = [...this.#waiting.values()].flat();
    this.#waiting.clear();
    for (const { answer } of waiting) answer(new Error('the log store is closed'));
    await this.#endIdle();
  }

  #goOn(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    while (this.#idle.length > 0 || this.#count < MOST) {
      const next = this.#next();
      if (next === null) break;
      void this.#run(next);
    }
    if (this.#waiting.size > 0) return;
    if (this.#idle.length === 0) return;
    this.#timer = setTimeout(() => void this.#endIdle(), IDLE_MS);
    this.#timer.unref();
  }

  /** Of whoever has waited longest since the last turn. */
  #next(): Waiting | null {
    for (const [key, line] of this.#waiting) {
      const next = line.shift();
      this.#waiting.delete(key);
      if (line.length > 0) this.#waiting.set(key, line);
      if (next !== undefined) return next;
    }
    return null;
  }

  #begin(heapMb: number): Worker {
    const program = new URL(`./search-thread${extname(import.meta.url)}`, import.meta.url);
    const worker = new Worker(program, {
      resourceLimits: { maxOldGenerationSizeMb: heapMb, maxYoungGenerationSizeMb: YOUNG_HEAP_MB },
    });
    // It may run out of memory when it has answered, too.
    worker.on('error', () => undefined);
    worker.on('exit', () => {
      const at = this.#idle.indexOf(worker);
      if (at < 0) return;
      this.#idle.splice(at, 1);
      this.#count -= 1;
    });
    worker.unref();
    return worker;
  }

  async #run({ job, answer }: Waiting): Promise<void> {
    const idle = this.#idle.pop();
    if (idle === undefined) this.#count += 1;
    try {
      if (job.isLarge) await idle?.terminate();
      const worker = job.isLarge ? this.#begin(LARGE_HEAP_MB) : (idle ?? this.#begin(HEAP_MB));
      const result = await askedOf(worker, job);
      if (result instanceof Error || job.isLarge || this.#isClosed) {
        await worker.terminate();
        this.#count -= 1;
      } else this.#idle.push(worker);
      answer(result);
    } catch (error) {
      // There can be no thread: the machine has as many as it may.
      this.#count -= 1;
      answer(error instanceof Error ? error : new Error(String(error)));
    }
    this.#goOn();
  }

  async #endIdle(): Promise<void> {
    const idle = this.#idle.splice(0);
    this.#count -= idle.length;
    await Promise.all(idle.map((worker) => worker.terminate()));
  }
}

function askedOf(worker: Worker, job: SearchJob): Promise<SearchResult | Error> {
  return new Promise((resolve) => {
    const done = (result: SearchResult | Error): void => {
      clearTimeout(late);
      worker.off('message', done).off('error', done).off('exit', ended);
      worker.unref();
      resolve(result);
    };
    const ended = (): void => done(new Error('a thread that searches has ended'));
    const late = setTimeout(() => done(new SearchTooSlow()), job.isSafe ? SAFE_JOB_MS : JOB_MS);
    // Whoever waits for the answer keeps this process alive.
    worker.ref();
    worker.on('message', done).on('error', done).on('exit', ended);
    // What was read for this is of use to nobody else.
    worker.postMessage(
      job,
      job.blocks.map(({ packed }) => packed.buffer),
    );
  });
}
