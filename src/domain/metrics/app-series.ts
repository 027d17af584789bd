/** What is known of one app over time since the platform began: every ten seconds, every minute, every quarter of an hour. */
import { type AnswerCounts, NO_ANSWERS } from '../../lib/answer-counts.ts';
import { COARSE, FINE, MetricLevel, LEVELS, type LevelPoint, type Sample } from './level.ts';

/** Counters since the platform began to look; they never go back. */
export interface Totals {
  readonly cpuMs: number;
  readonly restarts: number;
  readonly requests: number;
  readonly failures: number;
  readonly answers: AnswerCounts;
}

export class AppSeries {
  /** Of the app: one that has the name later is another one. */
  readonly createdAt: string;
  totals: Totals = { cpuMs: 0, restarts: 0, requests: 0, failures: 0, answers: NO_ANSWERS };
  latest: Sample | null = null;
  readonly levels: readonly MetricLevel[] = LEVELS.map((shape) => new MetricLevel(shape));

  constructor(createdAt = '') {
    this.createdAt = createdAt;
  }

  /** `answers`: those of this step. */
  add(atMs: number, sample: Sample, answers: AnswerCounts, totals: Totals): void {
    this.latest = sample;
    this.totals = totals;
    for (const level of this.levels) level.add(atMs, sample, answers);
  }

  /** What is in memory, in the finer steps as long as those reach back so far. */
  read(fromMs: number, toMs: number): { readonly stepMs: number; readonly points: LevelPoint[] } {
    const { stepMs } = toMs - fromMs <= FINE.stepMs * FINE.slots ? FINE : COARSE;
    return { stepMs, points: this.points(stepMs, fromMs, toMs) };
  }

  /** What is in memory only. */
  unstored(stepMs: number, fromMs: number, toMs: number): LevelPoint[] {
    const storedTo = this.levels.find(({ shape }) => shape.stepMs === stepMs)?.storedTo ?? 0;
    return this.points(stepMs, Math.max(fromMs, (storedTo + 1) * stepMs), toMs);
  }

  points(stepMs: number, fromMs: number, toMs: number): LevelPoint[] {
    return this.levels.find(({ shape }) => shape.stepMs === stepMs)?.points(fromMs, toMs) ?? [];
  }
}
