/** One life of the thread of the log: what is asked of it, and that nothing asked is left without an answer. */
import { extname } from 'node:path';
import type { Worker } from 'node:worker_threads';
import type { SqlLogStoreOptions } from '../backends/log-store/sql/index.ts';
import { PlatformError } from '../domain/errors.ts';
import type { Carried, CarryRequest } from '../domain/logs/output-carrier.ts';
import { bestEffort, type Logger } from '../lib/logger.ts';
import { type Answer, errorOf, type Order, type Stored, type WriteRequest } from './messages.ts';

/** Of its heap: some pieces of output, and a block that is sealed. */
const HEAP_MB = 96;
const YOUNG_HEAP_MB = 8;

interface Asked {
  readonly onStored: CarryRequest['onStored'] | null;
  readonly answer: (value: unknown) => void;
  readonly fail: (error: Error) => void;
}

interface Events {
  /** Nobody waits for an answer any more. */
  readonly onIdle: () => void;
  readonly onEnd: () => void;
}

export class RunningThread {
  /** Never rejects; null: it could not be begun, and what was asked has failed. */
  readonly #worker: Promise<Worker | null>;
  readonly #logger: Logger;
  readonly #events: Events;
  readonly #asked = new Map<number, Asked>();
  readonly #ended = Promise.withResolvers<void>();
  #last = 0;

  constructor(options: SqlLogStoreOptions, logger: Logger, events: Events) {
    this.#logger = logger;
    this.#events = events;
    this.#worker = this.#begin(options).catch((error: unknown) => {
      this.#end(error);
      return null;
    });
  }

  get isIdle(): boolean {
    return this.#asked.size === 0;
  }

  async carry({ unit, forms, before, file, onStored, signal }: CarryRequest): Promise<Carried> {
    const { id: unitId, app, index, process, release } = unit;
    const { path, from, missing } = file;
    const carried = { unit: { id: unitId, app, index, process, release }, forms, before, path, from };
    const id = ++this.#last;
    const stop = (): void => this.#tell({ kind: 'stop', id });
    signal.addEventListener('abort', stop);
    try {
      const order = { kind: 'carry', id, file: missing === undefined ? carried : { ...carried, missing } } as const;
      const answer = this.#ask(order, onStored);
      void file.gone.then(() => this.#tell({ kind: 'gone', id }));
      return (await answer) as Carried;
    } finally {
      signal.removeEventListener('abort', stop);
    }
  }

  write(write: WriteRequest): Promise<unknown> {
    return this.#ask({ kind: 'write', id: ++this.#last, write }, null);
  }

  /** Resolves when it has ended; nothing is to be asked any more. */
  async close(): Promise<void> {
    // Whoever waits for it keeps this process alive.
    (await this.#worker)?.ref();
    this.#tell({ kind: 'close' });
    await this.#ended.promise;
  }

  async #begin(options: SqlLogStoreOptions): Promise<Worker> {
    const threads = await import('node:worker_threads');
    const program = new URL(`./main${extname(import.meta.url)}`, import.meta.url);
    const resourceLimits = { maxOldGenerationSizeMb: HEAP_MB, maxYoungGenerationSizeMb: YOUNG_HEAP_MB };
    const worker = new threads.Worker(program, { workerData: options, resourceLimits });
    worker.unref();
    let reason: unknown = new Error('it has ended');
    worker.on('message', (answer: Answer) => this.#take(answer));
    worker.on('error', (error) => {
      reason = error;
    });
    worker.once('exit', () => this.#end(reason));
    return worker;
  }

  #ask(order: Extract<Order, { kind: 'carry' | 'write' }>, onStored: Asked['onStored']): Promise<unknown> {
    return new Promise((answer, fail) => {
      this.#asked.set(order.id, { onStored, answer, fail });
      this.#tell(order);
    });
  }

  #tell(order: Order): void {
    void this.#worker.then((worker) => worker?.postMessage(order));
  }

  #take(answer: Answer): void {
    if (answer.kind === 'stored') {
      void Promise.all(answer.stored.map((stored) => this.#note(stored))).then(() => this.#tell({ kind: 'heard' }));
      return;
    }
    if (answer.kind === 'carried') {
      const { id, last, before, failure } = answer;
      const carried: Carried = { before, failure: failure === null ? null : errorOf(failure) };
      const noted = last === null ? Promise.resolve() : this.#note(last);
      void noted.then(() => this.#over(id, (asked) => asked.answer(carried)));
    } else if (answer.kind === 'written') this.#over(answer.id, (asked) => asked.answer(answer.value));
    else this.#over(answer.id, (asked) => asked.fail(errorOf(answer.error)));
  }

  #note({ id, entries, cursor }: Stored): Promise<void> {
    const asked = this.#asked.get(id);
    return bestEffort(this.#logger, 'giving back the room of what is in the log', async () =>
      asked?.onStored?.(entries, cursor),
    );
  }

  #over(id: number, tell: (asked: Asked) => void): void {
    const asked = this.#asked.get(id);
    this.#asked.delete(id);
    if (asked !== undefined) tell(asked);
    if (this.isIdle) this.#events.onIdle();
  }

  #end(reason: unknown): void {
    const left = [...this.#asked.values()];
    this.#asked.clear();
    this.#events.onEnd();
    this.#ended.resolve();
    if (left.length === 0) return;
    this.#logger.warn({ err: reason }, 'the thread of the log has failed');
    const error = new PlatformError('unavailable', 'The thread that writes the log has ended.', {
      hint: 'Another one begins when it is needed: try again.',
    });
    for (const { fail } of left) fail(error);
  }
}
