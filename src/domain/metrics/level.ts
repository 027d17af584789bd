/** What is known of one app, a step of one length at a time: the newest in memory, what is older is in the store (metrics-archive.ts). */
import { type AnswerCounts, answersCounted, answersTogether, NO_ANSWERS, quantileMs } from '../../lib/answer-counts.ts';
import { type Point, Ring, type MetricRow } from './ring.ts';

export const FIELDS = ['cpuMillis', 'memoryBytes', 'units', 'restarts', 'requests', 'failures', 'logLines'] as const;
type Field = (typeof FIELDS)[number];
export type Sample = MetricRow<Field>;
/** Averaged where samples are put together; the others are summed up. */
const LEVELS_OF: ReadonlySet<Field> = new Set(['cpuMillis', 'memoryBytes', 'units']);

/** Answers by class of their status, and the milliseconds in which half of them, and nearly all, were given. */
export const ANSWER_FIELDS = [
  ...(['status1xx', 'status2xx', 'status3xx', 'status4xx', 'status5xx'] as const),
  ...(['p50Ms', 'p95Ms', 'p99Ms'] as const),
] as const;
type AnswerField = (typeof ANSWER_FIELDS)[number];
const QUANTILES: ReadonlySet<AnswerField> = new Set(['p50Ms', 'p95Ms', 'p99Ms']);

/** `samples`: how many looks it was made of. */
export type LevelField = Field | AnswerField | 'samples';
export const LEVEL_FIELDS: readonly LevelField[] = [...FIELDS, ...ANSWER_FIELDS, 'samples'];
export type LevelPoint = Point<LevelField>;

export interface LevelShape {
  readonly stepMs: number;
  /** Steps in memory: what could not be stored for longer is lost. */
  readonly slots: number;
  /** Steps that are stored in one piece. */
  readonly chunkSteps: number;
  /** How long it is stored. */
  readonly keptMs: number;
}

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

export const FINE: LevelShape = { stepMs: 10_000, slots: 360, chunkSteps: 360, keptMs: 6 * HOUR_MS };
export const COARSE: LevelShape = { stepMs: 60_000, slots: 240, chunkSteps: 360, keptMs: 7 * DAY_MS };
export const YEAR: LevelShape = { stepMs: 900_000, slots: 8, chunkSteps: 384, keptMs: 366 * DAY_MS };
/** From the finest on. */
export const LEVELS: readonly LevelShape[] = [FINE, COARSE, YEAR];

const NO_ROW = rowOf(NO_ANSWERS);

export class MetricLevel {
  readonly shape: LevelShape;
  /** Up to which step it is stored. */
  storedTo = 0;
  readonly #ring: Ring<Field | 'samples'>;
  /** Null before the first answer: most apps have few, and many none. */
  #answers: Ring<AnswerField> | null = null;
  #now = { step: -1, sums: zeros(), samples: 0, answers: NO_ANSWERS };

  constructor(shape: LevelShape) {
    this.shape = shape;
    this.#ring = new Ring([...FIELDS, 'samples'], shape);
  }

  /** `answers`: those since the last look. Of the finest level each look is one step. */
  add(atMs: number, sample: Sample, answers: AnswerCounts): void {
    const step = Math.floor(atMs / this.shape.stepMs);
    if (step !== this.#now.step || this.shape === FINE) {
      this.#now = { step, sums: zeros(), samples: 0, answers: NO_ANSWERS };
    }
    const now = this.#now;
    now.samples += 1;
    for (const field of FIELDS) now.sums[field] += sample[field];
    const value = (field: Field): number => now.sums[field] / (LEVELS_OF.has(field) ? now.samples : 1);
    // Of a step that was stored already when the clock was ahead, this is not.
    this.storedTo = Math.min(this.storedTo, step - 1);
    this.#ring.put(atMs, { ...fieldsBy(value), samples: now.samples });
    if (answersCounted(answers) === 0) return;
    now.answers = answersTogether(now.answers, answers);
    this.#answers ??= new Ring(ANSWER_FIELDS, this.shape);
    this.#answers.put(atMs, rowOf(now.answers));
  }

  points(fromMs: number, toMs: number): LevelPoint[] {
    const answers = new Map(this.#answers?.read(fromMs, toMs).map(({ atMs, values }) => [atMs, values]));
    return this.#ring
      .read(fromMs, toMs)
      .map(({ atMs, values }) => ({ atMs, values: { ...values, ...(answers.get(atMs) ?? NO_ROW) } }));
  }
}

/** Two parts of one span as one: means of levels, sums of counts; of how long answers took, the longer. */
export function together(one: LevelPoint, other: LevelPoint): LevelPoint {
  const [a, b] = [one.values, other.values];
  const samples = a.samples + b.samples;
  const value = (field: LevelField): number => {
    if (LEVELS_OF.has(field as Field)) return (a[field] * a.samples + b[field] * b.samples) / Math.max(1, samples);
    if (QUANTILES.has(field as AnswerField)) return Math.max(a[field], b[field]);
    return a[field] + b[field];
  };
  return {
    atMs: one.atMs,
    values: Object.fromEntries(LEVEL_FIELDS.map((f) => [f, value(f)])) as MetricRow<LevelField>,
  };
}

/** So few steps that a page can show them, each of as many as it takes. */
export function thinned(points: readonly LevelPoint[], stepMs: number, most: number) {
  const first = points[0]?.atMs ?? 0;
  const span = ((points.at(-1)?.atMs ?? 0) - first) / stepMs + 1;
  const wideMs = stepMs * Math.max(1, Math.ceil(span / most));
  const wide = Map.groupBy(points, ({ atMs }) => Math.floor(atMs / wideMs) * wideMs);
  const found = [...wide].map(([atMs, own]) => ({ ...own.reduce(together), atMs }));
  return { stepMs: wideMs, points: found };
}

function zeros(): Record<Field, number> {
  return fieldsBy(() => 0);
}

function fieldsBy(value: (field: Field) => number): Record<Field, number> {
  return Object.fromEntries(FIELDS.map((field) => [field, value(field)])) as Record<Field, number>;
}

function rowOf(answers: AnswerCounts): MetricRow<AnswerField> {
  const [status1xx = 0, status2xx = 0, status3xx = 0, status4xx = 0, status5xx = 0] = answers.classes;
  const [p50Ms, p95Ms, p99Ms] = [quantileMs(answers, 0.5), quantileMs(answers, 0.95), quantileMs(answers, 0.99)];
  return { status1xx, status2xx, status3xx, status4xx, status5xx, p50Ms, p95Ms, p99Ms };
}
