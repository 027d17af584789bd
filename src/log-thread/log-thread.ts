/**
 * The thread of the log, as control sees it: begun with the first unit that prints much, ended when nobody does any more. While it is there, it
 * alone writes to the store; that it dies costs nothing but time, for where to go on is in the store.
 */
import type { SqlLogStoreOptions } from '../backends/log-store/sql/index.ts';
import type { LogStore } from '../domain/logs/log-store.ts';
import type { Carried, CarryRequest, OutputCarrier } from '../domain/logs/output-carrier.ts';
import type { Logger } from '../lib/logger.ts';
import type { Write, WriteRequest } from './messages.ts';
import { RunningThread } from './running-thread.ts';

const IDLE_MS = 30_000;

export class LogThread implements OutputCarrier {
  readonly #options: SqlLogStoreOptions;
  readonly #logger: Logger;
  #running: RunningThread | null = null;
  #idle: NodeJS.Timeout | null = null;

  constructor(options: SqlLogStoreOptions, logger: Logger) {
    this.#options = options;
    this.#logger = logger;
  }

  get isRunning(): boolean {
    return this.#running !== null;
  }

  async carry(request: CarryRequest): Promise<Carried> {
    if (request.signal.aborted) return { before: request.before, failure: null };
    this.#stay();
    this.#running ??= this.#begin();
    return this.#running.carry(request);
  }

  /** The store, changed by the thread while there is one; it is read here in any case. */
  writing(store: LogStore): LogStore {
    const change = async <M extends Write>(
      write: WriteRequest & { readonly method: M },
      here: () => ReturnType<LogStore[M]>,
    ): Promise<Awaited<ReturnType<LogStore[M]>>> => {
      if (this.#running === null) return await here();
      this.#stay();
      return (await this.#running.write(write)) as Awaited<ReturnType<LogStore[M]>>;
    };
    return {
      ...store,
      append: (...args) => change({ method: 'append', args }, () => store.append(...args)),
      forgetUnit: (...args) => change({ method: 'forgetUnit', args }, () => store.forgetUnit(...args)),
      removeApp: (...args) => change({ method: 'removeApp', args }, () => store.removeApp(...args)),
      prune: (...args) => change({ method: 'prune', args }, () => store.prune(...args)),
      openDrain: (...args) => change({ method: 'openDrain', args }, () => store.openDrain(...args)),
      drainSent: (...args) => change({ method: 'drainSent', args }, () => store.drainSent(...args)),
      drainFailed: (...args) => change({ method: 'drainFailed', args }, () => store.drainFailed(...args)),
      forgetDrain: (...args) => change({ method: 'forgetDrain', args }, () => store.forgetDrain(...args)),
      keepMetrics: (...args) => change({ method: 'keepMetrics', args }, () => store.keepMetrics(...args)),
      forgetMetrics: (...args) => change({ method: 'forgetMetrics', args }, () => store.forgetMetrics(...args)),
      close: async () => {
        await this.end();
        await store.close();
      },
    };
  }

  /** What is asked from now on is done here, or by another one. */
  async end(): Promise<void> {
    this.#stay();
    const running = this.#running;
    this.#running = null;
    await running?.close();
  }

  #begin(): RunningThread {
    const thread: RunningThread = new RunningThread(this.#options, this.#logger, {
      onIdle: () => {
        if (this.#running === thread) this.#idle ??= setTimeout(() => void this.end(), IDLE_MS).unref();
      },
      onEnd: () => {
        if (this.#running === thread) this.#running = null;
      },
    });
    return thread;
  }

  #stay(): void {
    if (this.#idle !== null) clearTimeout(this.#idle);
    this.#idle = null;
  }
}
