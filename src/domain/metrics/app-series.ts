/** What is known of one app over time: every ten seconds for two hours, every minute for two days. */
import { type AnswerCounts, answersCounted, answersTogether, NO_ANSWERS, quantileMs } from '../../lib/answer-counts.ts';
import { type Point, Ring, type Row } from './ring.ts';

export const FIELDS = ['cpuMillis', 'memoryBytes', 'units', 'restarts', 'requests', 'failures', 'logLines'] as const;
type Field = (typeof FIELDS)[number];
export type Sample = Row<Field>;

/** Answers by class of their status, and the milliseconds in which half of them, and nearly all, were given. */
export const ANSWER_FIELDS = [
  ...(['status1xx', 'status2xx', 'status3xx', 'status4xx', 'status5xx'] as const),
  ...(['p50Ms', 'p95Ms', 'p99Ms'] as const),
] as const;
type AnswerField = (typeof ANSWER_FIELDS)[number];

export type SeriesPoint = Point<Field | AnswerField>;

/** Counters since the platform began to look; they never go back. */
export interface Totals {
  readonly cpuMs: number;
  readonly restarts: number;
  readonly requests: number;
  readonly failures: number;
  readonly answers: AnswerCounts;
}

export const FINE = { stepMs: 10_000, slots: 720 };
const COARSE = { stepMs: 60_000, slots: 2_880 };

export class AppSeries {
  totals: Totals = { cpuMs: 0, restarts: 0, requests: 0, failures: 0, answers: NO_ANSWERS };
  latest: Sample | null = null;
  readonly #fine = new Ring(FIELDS, FINE);
  readonly #coarse = new Ring(FIELDS, COARSE);
  /** Null before the first answer: most apps have few, and many none. */
  #answers: { readonly fine: Ring<AnswerField>; readonly coarse: Ring<AnswerField> } | null = null;
  #minute = { number: 0, samples: [] as Sample[], answers: NO_ANSWERS };

  /** `answers`: those of this step. */
  add(atMs: number, sample: Sample, answers: AnswerCounts, totals: Totals): void {
    this.latest = sample;
    this.totals = totals;
    this.#fine.put(atMs, sample);
    const number = Math.floor(atMs / COARSE.stepMs);
    if (this.#minute.number !== number) this.#minute = { number, samples: [], answers: NO_ANSWERS };
    this.#minute.samples.push(sample);
    this.#coarse.put(atMs, summary(this.#minute.samples));
    if (answersCounted(answers) > 0) this.#addAnswers(atMs, answers);
  }

  #addAnswers(atMs: number, answers: AnswerCounts): void {
    this.#answers ??= { fine: new Ring(ANSWER_FIELDS, FINE), coarse: new Ring(ANSWER_FIELDS, COARSE) };
    this.#minute.answers = answersTogether(this.#minute.answers, answers);
    this.#answers.fine.put(atMs, rowOf(answers));
    this.#answers.coarse.put(atMs, rowOf(this.#minute.answers));
  }

  /** In the finer steps as long as those reach back so far. */
  read(fromMs: number, toMs: number): { readonly stepMs: number; readonly points: SeriesPoint[] } {
    const isFine = toMs - fromMs <= FINE.stepMs * FINE.slots;
    const ring = isFine ? this.#fine : this.#coarse;
    const answers = (isFine ? this.#answers?.fine : this.#answers?.coarse)?.read(fromMs, toMs) ?? [];
    const byStep = new Map(answers.map(({ atMs, values }) => [atMs, values]));
    const points = ring
      .read(fromMs, toMs)
      .map(({ atMs, values }) => ({ atMs, values: { ...values, ...(byStep.get(atMs) ?? NO_ROW) } }));
    return { stepMs: ring.stepMs, points };
  }
}

function rowOf(answers: AnswerCounts): Row<AnswerField> {
  const [status1xx = 0, status2xx = 0, status3xx = 0, status4xx = 0, status5xx = 0] = answers.classes;
  const [p50Ms, p95Ms, p99Ms] = [quantileMs(answers, 0.5), quantileMs(answers, 0.95), quantileMs(answers, 0.99)];
  return { status1xx, status2xx, status3xx, status4xx, status5xx, p50Ms, p95Ms, p99Ms };
}

const NO_ROW = rowOf(NO_ANSWERS);

/** Of a minute: the mean of what is a level, the sum of what is counted. */
function summary(samples: readonly Sample[]): Sample {
  const sum = (field: Field): number => samples.reduce((total, sample) => total + sample[field], 0);
  const mean = (field: Field): number => sum(field) / samples.length;
  return {
    cpuMillis: mean('cpuMillis'),
    memoryBytes: mean('memoryBytes'),
    units: mean('units'),
    restarts: sum('restarts'),
    requests: sum('requests'),
    failures: sum('failures'),
    logLines: sum('logLines'),
  };
}
