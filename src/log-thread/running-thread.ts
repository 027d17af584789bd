/** One life of the thread of the log: requests to it, and that none is left without a reply. */
import { extname } from 'node:path';
import type { Worker } from 'node:worker_threads';
import type { SqlLogStoreOptions } from '../backends/log-store/sql/index.ts';
import { PlatformError } from '../domain/errors.ts';
import type { Carried, CarryRequest } from '../domain/logs/output-carrier.ts';
import { bestEffort, type Logger } from '../lib/logger.ts';
import { type Command, errorOf, type ThreadMessage, type StoredOutput, type WriteRequest } from './messages.ts';

/** Of its heap: some pieces of output, and a block that is sealed. */
const HEAP_MB = 96;
const YOUNG_HEAP_MB = 8;

interface Pending {
  readonly onStored: CarryRequest['onStored'] | null;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: Error) => void;
}

interface Events {
  /** No request is pending any more. */
  readonly onIdle: () => void;
  readonly onEnd: () => void;
}

export class RunningThread {
  /** Never rejects; null: it could not be begun, and what was pending has failed. */
  readonly #worker: Promise<Worker | null>;
  readonly #logger: Logger;
  readonly #events: Events;
  readonly #pending = new Map<number, Pending>();
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
    return this.#pending.size === 0;
  }

  async carry({ unit, forms, before, file, onStored, signal }: CarryRequest): Promise<Carried> {
    const { id: unitId, app, index, process, release } = unit;
    const { path, from, missing } = file;
    const carried = { unit: { id: unitId, app, index, process, release }, forms, before, path, from };
    const id = ++this.#last;
    const stop = (): void => this.#send({ kind: 'stop', id });
    signal.addEventListener('abort', stop);
    try {
      const command = { kind: 'carry', id, file: missing === undefined ? carried : { ...carried, missing } } as const;
      const reply = this.#request(command, onStored);
      void file.gone.then(() => this.#send({ kind: 'gone', id }));
      return (await reply) as Carried;
    } finally {
      signal.removeEventListener('abort', stop);
    }
  }

  write(write: WriteRequest): Promise<unknown> {
    return this.#request({ kind: 'write', id: ++this.#last, write }, null);
  }

  /** Resolves when it has ended; no request may follow. */
  async close(): Promise<void> {
    // Whoever waits for it keeps this process alive.
    (await this.#worker)?.ref();
    this.#send({ kind: 'close' });
    await this.#ended.promise;
  }

  async #begin(options: SqlLogStoreOptions): Promise<Worker> {
    const threads = await import('node:worker_threads');
    const program = new URL(`./main${extname(import.meta.url)}`, import.meta.url);
    const resourceLimits = { maxOldGenerationSizeMb: HEAP_MB, maxYoungGenerationSizeMb: YOUNG_HEAP_MB };
    const worker = new threads.Worker(program, { workerData: options, resourceLimits });
    worker.unref();
    let reason: unknown = new Error('it has ended');
    worker.on('message', (reply: ThreadMessage) => this.#take(reply));
    worker.on('error', (error) => {
      reason = error;
    });
    worker.once('exit', () => this.#end(reason));
    return worker;
  }

  #request(command: Extract<Command, { kind: 'carry' | 'write' }>, onStored: Pending['onStored']): Promise<unknown> {
    return new Promise((resolve, reject) => {
      this.#pending.set(command.id, { onStored, resolve, reject });
      this.#send(command);
    });
  }

  #send(command: Command): void {
    void this.#worker.then((worker) => worker?.postMessage(command));
  }

  #take(reply: ThreadMessage): void {
    if (reply.kind === 'stored') {
      void Promise.all(reply.stored.map((stored) => this.#note(stored))).then(() => this.#send({ kind: 'ack' }));
      return;
    }
    if (reply.kind === 'carried') {
      const { id, last, before, failure } = reply;
      const carried: Carried = { before, failure: failure === null ? null : errorOf(failure) };
      const noted = last === null ? Promise.resolve() : this.#note(last);
      void noted.then(() => this.#settle(id, (pending) => pending.resolve(carried)));
    } else if (reply.kind === 'written') this.#settle(reply.id, (pending) => pending.resolve(reply.value));
    else this.#settle(reply.id, (pending) => pending.reject(errorOf(reply.error)));
  }

  #note({ id, entries, cursor }: StoredOutput): Promise<void> {
    const pending = this.#pending.get(id);
    return bestEffort(this.#logger, 'giving back the room of what is in the log', async () =>
      pending?.onStored?.(entries, cursor),
    );
  }

  #settle(id: number, how: (pending: Pending) => void): void {
    const pending = this.#pending.get(id);
    this.#pending.delete(id);
    if (pending !== undefined) how(pending);
    if (this.isIdle) this.#events.onIdle();
  }

  #end(reason: unknown): void {
    const left = [...this.#pending.values()];
    this.#pending.clear();
    this.#events.onEnd();
    this.#ended.resolve();
    if (left.length === 0) return;
    this.#logger.warn({ err: reason }, 'the thread of the log has failed');
    const error = new PlatformError('unavailable', 'The thread that writes the log has ended.', {
      hint: 'Another one begins when it is needed: try again.',
    });
    for (const { reject } of left) reject(error);
  }
}
