/**
 * Requests at a fixed rate, whatever becomes of them: each has a time at which it is to leave, and its latency is counted from then, so
 * a server that stands still cannot hide it by being asked less.
 */
import type { Ask } from './asks.ts';
import { until } from './until.ts';

export interface OpenLoop {
  readonly answered: number;
  readonly open: number;
  readonly failures: readonly LoopFailure[];
  stop(): Promise<LoopResult>;
}

export interface LoopFailure {
  readonly why: string;
  /** When it was sent, by performance.now(). */
  readonly sentAt: number;
}

export interface LoopResult {
  readonly requests: number;
  /** Requests that should have left by then. Many more than `requests`: this machine was too slow to send them. */
  readonly wanted: number;
  /** Milliseconds from when the request should have left. */
  readonly latencyMs: { readonly median: number; readonly p99: number; readonly longest: number };
}

const TICK_MS = 5;
/** As many may be unanswered before those that are due are left out. */
const MOST_OPEN = 2_000;
const LAST_ANSWERS_MS = 90_000;

/** The asks take turns; an answer that is not `isRight` is a failure. */
export function startOpenLoop(perSecond: number, asks: readonly Ask[], isRight: (text: string) => boolean): OpenLoop {
  const failures: LoopFailure[] = [];
  const latencies: number[] = [];
  const begun = performance.now();
  let [due, requests, open] = [0, 0, 0];

  function send(ask: Ask, intended: number): void {
    requests++;
    open++;
    const sentAt = performance.now();
    const fail = (why: string): void => void failures.push({ why: why.slice(0, 200), sentAt });
    void ask()
      .then(
        (text) => (isRight(text) ? void latencies.push(performance.now() - intended) : fail(text)),
        (error: Error) => fail(error.message),
      )
      .finally(() => open--);
  }

  const timer = setInterval(() => {
    const now = performance.now() - begun;
    for (; (due * 1_000) / perSecond <= now; due++) {
      const ask = asks[due % asks.length];
      if (ask !== undefined && open < MOST_OPEN) send(ask, begun + (due * 1_000) / perSecond);
    }
  }, TICK_MS);

  return {
    get answered() {
      return latencies.length;
    },
    get open() {
      return open;
    },
    failures,
    async stop() {
      clearInterval(timer);
      await until(() => open === 0, { timeoutMs: LAST_ANSWERS_MS, what: 'the last answers' });
      latencies.sort((a, b) => a - b);
      const at = (share: number): number => Math.round(latencies[Math.floor((latencies.length - 1) * share)] ?? 0);
      return { requests, wanted: due, latencyMs: { median: at(0.5), p99: at(0.99), longest: at(1) } };
    },
  };
}
