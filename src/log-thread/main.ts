/**
 * The program of the thread of the log: reads what units print from their files, and does everything else that changes the log meanwhile.
 * Units of one app get one turn in the round of all apps, however much they print.
 */
import { setPriority } from 'node:os';
import { setImmediate } from 'node:timers/promises';
import { parentPort, workerData } from 'node:worker_threads';
import { tailOutput } from '../backends/provisioner/process/output-file.ts';
import { createSqlLogStore, type SqlLogStoreOptions } from '../backends/log-store/sql/index.ts';
import { Journal } from '../domain/logs/journal.ts';
import type { LogStore } from '../domain/logs/log-store.ts';
import { UnitWriter } from '../domain/logs/unit-writer.ts';
import { KeyedQueue } from '../lib/keyed-queue.ts';
import { SILENT } from '../lib/logger.ts';
import {
  type CarriedFile,
  type Command,
  type ThreadMessage,
  type StoredOutput,
  textOf,
  type WriteRequest,
} from './messages.ts';

/** Whoever has printed nothing for so long is no longer read here. */
const QUIET_MS = 10_000;
/** Between two reports of what is stored: each has files looked at. */
const REPORT_MS = 50;
/** Below control and apps, above what has no hurry: on Linux this is of the calling thread only. */
const NICENESS = 5;
const STEPS_OF_A_READ = 2;

interface Carried {
  readonly stop: AbortController;
  readonly gone: () => void;
}

class LogThread {
  readonly #store: LogStore;
  readonly #journal: Pick<Journal, 'append'>;
  readonly #reply: (reply: ThreadMessage) => void;
  readonly #carried = new Map<number, Carried>();
  /** One at a time for each app. */
  readonly #turns = new KeyedQueue();
  readonly #unreported = new Map<number, StoredOutput>();
  #isAcknowledged = true;
  readonly #works = new Set<Promise<void>>();

  constructor(store: LogStore, reply: (reply: ThreadMessage) => void) {
    this.#store = store;
    this.#journal = new Journal({ logStore: store, now: () => new Date(), logger: SILENT });
    this.#reply = reply;
  }

  take(command: Command): void {
    if (command.kind === 'carry') return this.#begin(this.#carry(command.id, command.file));
    if (command.kind === 'write') return this.#begin(this.#write(command.id, command.write));
    if (command.kind === 'gone') return this.#carried.get(command.id)?.gone();
    if (command.kind === 'stop') return this.#carried.get(command.id)?.stop.abort();
    if (command.kind === 'close') return void this.#close();
    setTimeout(() => {
      this.#isAcknowledged = true;
      this.#report();
    }, REPORT_MS);
  }

  /** Never rejects. */
  #begin(work: Promise<void>): void {
    this.#works.add(work);
    void work.then(() => this.#works.delete(work));
  }

  async #carry(id: number, { unit, forms, before, ...file }: CarriedFile): Promise<void> {
    const writer = new UnitWriter(unit, this.#journal, forms, before);
    const stop = new AbortController();
    const { promise: gone, resolve } = Promise.withResolvers<void>();
    this.#carried.set(id, { stop, gone: resolve });
    const quiet = setTimeout(() => stop.abort(), QUIET_MS);
    let failure: unknown = null;
    try {
      for await (const { offset, ...read } of tailOutput({ ...file, gone, signal: stop.signal })) {
        quiet.refresh();
        const cursor = String(offset);
        const entries = await this.#turns.run(unit.app, async () => {
          const written = await writer.write({ ...read, cursor });
          // What others have read meanwhile comes to them with the next turns of the event loop, and storing takes none.
          for (let turn = 0; turn < STEPS_OF_A_READ; turn += 1) await setImmediate();
          return written;
        });
        this.#note({ id, entries, cursor });
      }
    } catch (error) {
      failure = error;
    }
    clearTimeout(quiet);
    this.#carried.delete(id);
    const last = this.#unreported.get(id) ?? null;
    this.#unreported.delete(id);
    const { before: next } = writer;
    this.#reply({ kind: 'carried', id, last, before: next, failure: failure === null ? null : textOf(failure) });
  }

  #note({ id, entries, cursor }: StoredOutput): void {
    this.#unreported.set(id, { id, entries: entries + (this.#unreported.get(id)?.entries ?? 0), cursor });
    this.#report();
  }

  #report(): void {
    if (!this.#isAcknowledged || this.#unreported.size === 0) return;
    this.#isAcknowledged = false;
    this.#reply({ kind: 'stored', stored: [...this.#unreported.values()] });
    this.#unreported.clear();
  }

  async #write(id: number, write: WriteRequest): Promise<void> {
    try {
      this.#reply({ kind: 'written', id, value: await written(this.#store, write) });
    } catch (error) {
      this.#reply({ kind: 'failed', id, error: textOf(error) });
    }
  }

  async #close(): Promise<void> {
    for (const { stop } of this.#carried.values()) stop.abort();
    await Promise.all(this.#works);
    await this.#store.close();
    parentPort?.close();
  }
}

function written(store: LogStore, { method, args }: WriteRequest): Promise<unknown> {
  switch (method) {
    case 'append':
      return store.append(...args);
    case 'forgetUnit':
      return store.forgetUnit(...args);
    case 'removeApp':
      return store.removeApp(...args);
    case 'prune':
      return store.prune(...args);
    case 'openDrain':
      return store.openDrain(...args);
    case 'drainSent':
      return store.drainSent(...args);
    case 'drainFailed':
      return store.drainFailed(...args);
    case 'forgetDrain':
      return store.forgetDrain(...args);
    case 'keepMetrics':
      return store.keepMetrics(...args);
    case 'forgetMetrics':
      return store.forgetMetrics(...args);
  }
}

async function run(): Promise<void> {
  const port = parentPort;
  if (port === null) throw new Error('This is the program of a thread.');
  setPriority(0, NICENESS);
  const store = await createSqlLogStore(workerData as SqlLogStoreOptions, { logger: SILENT });
  const thread = new LogThread(store, (reply) => port.postMessage(reply));
  // Commands that came meanwhile wait in the port.
  port.on('message', (command: Command) => thread.take(command));
}

await run();
