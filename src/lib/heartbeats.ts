/**
 * Finds processes whose event loop stands still. A process that only waits for the processor, on a machine that has too much to do, is
 * given more time; and when this process was paused itself, nobody is blamed for it.
 */
import { readdirSync, readFileSync } from 'node:fs';

interface HeartbeatsOptions {
  /** Called once for each that is stuck, which is then no longer watched. */
  readonly onStuck: (pid: number) => void;
  readonly checkMs?: number;
  readonly stuckMs?: number;
}

interface Watched {
  lastBeat: number;
  /** Processor time at the first check that found it quiet for a while, in ms; null before it, and where the system does not say. */
  cpuMs: number | null;
  /** Checks in a row that found it stuck: one alone may have met it between two moments. */
  suspicions: number;
}

const CHECK_MS = 250;
const STUCK_MS = 1_250;
/** Of that: whoever has beaten since is not asked about, which takes reading a file of the kernel. */
const QUIET = 0.4;
const SUSPICIONS = 3;
/** For one that waits for the disk. However long one waits for the processor, another one in its place would wait as well. */
const BLOCKED_MS = 20_000;
/** Of the kernel's clock in /proc. */
const TICK_MS = 10;

export class Heartbeats {
  readonly #options: Required<HeartbeatsOptions>;
  readonly #watched = new Map<number, Watched>();
  #timer: NodeJS.Timeout | null = null;
  #lastCheck = 0;

  constructor(options: HeartbeatsOptions) {
    this.#options = { checkMs: CHECK_MS, stuckMs: STUCK_MS, ...options };
  }

  /** The process shows a sign of life; the first one begins to watch it. Costs next to nothing, so it may be called for each. */
  beat(pid: number): void {
    const watched = this.#watched.get(pid);
    if (watched === undefined) {
      this.#watched.set(pid, { lastBeat: performance.now(), cpuMs: null, suspicions: 0 });
    } else {
      watched.lastBeat = performance.now();
      watched.cpuMs = null;
      watched.suspicions = 0;
    }
    if (this.#timer !== null) return;
    this.#lastCheck = performance.now();
    this.#timer = setInterval(() => this.#check(), this.#options.checkMs);
    this.#timer.unref();
  }

  forget(pid: number): void {
    this.#watched.delete(pid);
    if (this.#watched.size > 0 || this.#timer === null) return;
    clearInterval(this.#timer);
    this.#timer = null;
  }

  #check(): void {
    const now = performance.now();
    const wasPaused = now - this.#lastCheck > 2 * this.#options.checkMs;
    this.#lastCheck = now;
    if (wasPaused) for (const watched of this.#watched.values()) watched.lastBeat = now;
    // What has arrived, and was not read yet, counts.
    setImmediate(() => {
      for (const [pid, watched] of this.#watched) {
        if (!this.#isStuck(pid, watched)) continue;
        this.forget(pid);
        this.#options.onStuck(pid);
      }
    });
  }

  #isStuck(pid: number, watched: Watched): boolean {
    const { stuckMs } = this.#options;
    const silentMs = performance.now() - watched.lastBeat;
    if (silentMs < stuckMs * QUIET) return false;
    watched.cpuMs ??= cpuMsOf(pid);
    if (silentMs < stuckMs) return false;
    const cpuMs = cpuMsOf(pid);
    if (cpuMs === null || watched.cpuMs === null) return silentMs >= BLOCKED_MS;
    const isBusy = cpuMs - watched.cpuMs >= (stuckMs * (1 - QUIET)) / 2;
    watched.suspicions = isBusy || isHeld(statesOf(pid), silentMs) ? watched.suspicions + 1 : 0;
    return watched.suspicions >= SUSPICIONS;
  }
}

/** By the states of its threads: none runs or waits for the processor (`R`), and none waits for the disk (`D`), or has for long. */
export function isHeld(states: readonly string[], silentMs: number): boolean {
  if (states.includes('R')) return false;
  return !states.includes('D') || silentMs >= BLOCKED_MS;
}

/** Processor time; null for a process that is gone, or where the system does not say. */
function cpuMsOf(pid: number): number | null {
  try {
    const stat = statOf(`/proc/${pid}/stat`);
    return (Number(stat[11]) + Number(stat[12])) * TICK_MS;
  } catch {
    return null;
  }
}

/** Of its threads; as of one that runs where it is just ending. */
function statesOf(pid: number): string[] {
  try {
    return readdirSync(`/proc/${pid}/task`).map((id) => statOf(`/proc/${pid}/task/${id}/stat`)[0] ?? '');
  } catch {
    return ['R'];
  }
}

/** From the state on; the name before it may hold anything. */
function statOf(path: string): string[] {
  const stat = readFileSync(path, 'latin1');
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ');
}
