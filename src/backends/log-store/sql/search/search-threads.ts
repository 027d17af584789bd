/** Threads that search, so that nobody else waits for it: begun with the first large search, ended soon after the last. */
import { extname } from 'node:path';
import { Worker } from 'node:worker_threads';
import type { SearchJob, SearchResult } from './search-job.ts';

/** More would be quicker on a machine with little to do, and takes tens of megabytes each. */
const MOST = 1;
const IDLE_MS = 10_000;
/** For a megabyte or so; what takes longer would take for ever. */
const JOB_MS = 1_500;
/** So long for what cannot take for ever, however busy the machine is. */
const SAFE_JOB_MS = 60_000;
/** Of the heap of one: some blocks of usual size. A search that needs more goes on without it. */
const HEAP_MB = 12;
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
  readonly #waiting: Waiting[] = [];
  #count = 0;
  #timer: NodeJS.Timeout | null = null;
  #isClosed = false;

  /** Throws an error with the name `SearchTooSlow` when the thread was ended, for it takes too long there. */
  async search(job: SearchJob): Promise<Extract<SearchResult, { entries: unknown }>['entries']> {
    const result = await new Promise<SearchResult | Error>((answer) => {
      this.#waiting.push({ job, answer });
      this.#goOn();
    });
    if (result instanceof Error) throw result;
    if ('error' in result) throw new Error(`a search failed: ${result.error}`);
    return result.entries;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    for (const { answer } of this.#waiting.splice(0)) answer(new Error('the log store is closed'));
    await this.#endIdle();
  }

  #goOn(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    while (this.#waiting.length > 0) {
      const worker = this.#idle.pop() ?? (this.#count < MOST ? this.#begin() : null);
      const next = worker === null ? undefined : this.#waiting.shift();
      if (worker === null || next === undefined) return;
      void this.#run(worker, next);
    }
    if (this.#idle.length === 0) return;
    this.#timer = setTimeout(() => void this.#endIdle(), IDLE_MS);
    this.#timer.unref();
  }

  #begin(): Worker {
    this.#count += 1;
    const program = new URL(`./search-thread${extname(import.meta.url)}`, import.meta.url);
    const worker = new Worker(program, {
      resourceLimits: { maxOldGenerationSizeMb: HEAP_MB, maxYoungGenerationSizeMb: YOUNG_HEAP_MB },
    });
    worker.unref();
    return worker;
  }

  async #run(worker: Worker, { job, answer }: Waiting): Promise<void> {
    const result = await askedOf(worker, job);
    if (result instanceof Error) {
      this.#count -= 1;
      await worker.terminate();
    } else if (this.#isClosed) await worker.terminate();
    else this.#idle.push(worker);
    answer(result);
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
      for (const name of ['message', 'error', 'exit']) worker.removeAllListeners(name);
      worker.unref();
      resolve(result);
    };
    const late = setTimeout(() => done(new SearchTooSlow()), job.isSafe ? SAFE_JOB_MS : JOB_MS);
    // Whoever waits for the answer keeps this process alive.
    worker.ref();
    worker.on('message', (result: SearchResult) => done(result));
    worker.on('error', done);
    worker.on('exit', () => done(new Error('a thread that searches has ended')));
    // What was read for this is of use to nobody else.
    worker.postMessage(
      job,
      job.blocks.map(({ packed }) => packed.buffer),
    );
  });
}
