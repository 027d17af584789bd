/** The program of a thread that judges patterns. */
import { parentPort } from 'node:worker_threads';
import { matchOf, type Verdict } from './pattern-match.ts';

export interface PatternQuestion {
  readonly pattern: string;
  readonly body: string;
}

export interface PatternAnswer {
  readonly verdict: Verdict;
  /** Of the processor. */
  readonly cpuMs: number;
}

parentPort?.on('message', ({ pattern, body }: PatternQuestion) => {
  const before = process.threadCpuUsage();
  const verdict = matchOf(pattern, body);
  const { user, system } = process.threadCpuUsage(before);
  parentPort?.postMessage({ verdict, cpuMs: (user + system) / 1_000 } satisfies PatternAnswer);
});
