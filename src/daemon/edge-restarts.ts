/** Has an edge without a server started again whenever it dies, until it is stopped or another one has taken over. */
import { setTimeout as delay } from 'node:timers/promises';
import type { LivingEdge } from './edge-takeover.ts';

const FIRST_PAUSE_MS = 50;
const LONGEST_PAUSE_MS = 10_000;
/** An edge that lived this long does not count as failing at its start. */
const STEADY_MS = 60_000;

interface EdgeRestartsParts {
  readonly start: () => Promise<LivingEdge>;
  /** Resolves when the process is gone, with what it had begun. */
  readonly end: (pid: number) => Promise<void>;
  /** False: another one serves in its place. */
  readonly isToServe: () => Promise<boolean>;
  readonly onDeath: () => void;
}

export class EdgeRestarts {
  /** Resolves when it has ended for good; rejects when it could not be started again. */
  readonly ended: Promise<void>;
  readonly #parts: EdgeRestartsParts;
  readonly #stopping = new AbortController();
  /** Null: it has died, or is just being started. */
  #living: LivingEdge | null = null;

  constructor(first: LivingEdge, parts: EdgeRestartsParts) {
    this.#parts = parts;
    this.ended = this.#keep(first);
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    if (this.#living !== null) await this.#parts.end(this.#living.pid);
    await this.ended;
  }

  async #keep(first: LivingEdge): Promise<void> {
    const { start, isToServe, onDeath } = this.#parts;
    const { signal } = this.#stopping;
    let pauseMs = FIRST_PAUSE_MS;
    for (let edge = first; ; edge = await start()) {
      const born = performance.now();
      await this.#untilDeath(edge);
      if (signal.aborted || !(await isToServe())) return;
      pauseMs = performance.now() - born > STEADY_MS ? FIRST_PAUSE_MS : Math.min(pauseMs * 2, LONGEST_PAUSE_MS);
      onDeath();
      await delay(pauseMs, undefined, { signal }).catch(() => undefined);
      if (signal.aborted) return;
    }
  }

  async #untilDeath(edge: LivingEdge): Promise<void> {
    this.#living = edge;
    // Whoever has asked for the end while it was being started found nothing to end.
    if (this.#stopping.signal.aborted) await this.#parts.end(edge.pid);
    await edge.ended;
    this.#living = null;
  }
}
