/** Brings what was measured into the store, a piece of some hundred steps at a time, and reads it again: so it outlives restarts, and reaches back a year. */
import { bestEffort, type Logger } from '../../lib/logger.ts';
import type { AppSeries } from './app-series.ts';
import type { KeptMetrics, MetricsChunk } from './kept-metrics.ts';
import {
  LEVEL_FIELDS,
  type MetricLevel,
  type LevelField,
  type LevelPoint,
  LEVELS,
  type LevelShape,
  together,
} from './level.ts';
import type { MetricRow } from './ring.ts';

/** Between two times; what a kill takes is younger than this. */
const EVERY_MS = 300_000;
/** Apps in one transaction. */
const AT_ONCE = 20;
const FORMAT = 1;

export class MetricsArchive {
  readonly #kept: KeptMetrics;
  readonly #logger: Logger;
  #round = 0;

  constructor(deps: { readonly logStore: KeptMetrics; readonly logger: Logger }) {
    this.#kept = deps.logStore;
    this.#logger = deps.logger;
  }

  /** Stores what is complete and not stored yet, when it is time to; `isLast`: in any case, with what is not complete. Never rejects. */
  async keep(all: ReadonlyMap<string, AppSeries>, nowMs: number, isLast = false): Promise<void> {
    const round = Math.floor(nowMs / EVERY_MS);
    if (round === this.#round && !isLast) return;
    const isFirst = this.#round === 0;
    this.#round = round;
    if (isFirst && !isLast) return;
    await bestEffort(this.#logger, 'storing what was measured', async () => {
      const apps = [...all];
      for (let at = 0; at < apps.length; at += AT_ONCE)
        await this.#keepSome(apps.slice(at, at + AT_ONCE), nowMs, isLast);
      for (const { stepMs, keptMs } of LEVELS) await this.#kept.forgetMetrics(stepMs, nowMs - keptMs - spanOf(stepMs));
    });
  }

  /** What is stored of an app, oldest first. */
  async read(app: string, shape: LevelShape, fromMs: number, toMs: number): Promise<LevelPoint[]> {
    const chunkMs = shape.stepMs * shape.chunkSteps;
    const from = Math.floor(fromMs / chunkMs) * chunkMs;
    const chunks = await this.#kept.metricsChunks(app, shape.stepMs, from, toMs);
    const least = Math.floor(fromMs / shape.stepMs) * shape.stepMs;
    return chunks.flatMap(opened).filter(({ atMs }) => atMs >= least && atMs <= toMs);
  }

  async #keepSome(apps: readonly (readonly [string, AppSeries])[], nowMs: number, isLast: boolean): Promise<void> {
    const chunks: MetricsChunk[] = [];
    const done: (() => void)[] = [];
    for (const [app, { levels }] of apps) {
      for (const level of levels) {
        const { stepMs } = level.shape;
        const last = Math.floor(nowMs / stepMs) - (isLast ? 0 : 1);
        const points = level.points((level.storedTo + 1) * stepMs, last * stepMs);
        if (points.length === 0) continue;
        chunks.push(...(await this.#withStored(app, level, points)));
        done.push(() => (level.storedTo = last));
      }
    }
    if (chunks.length === 0) return;
    await this.#kept.keepMetrics(chunks);
    for (const note of done) note();
  }

  /** The pieces that the points belong to, with what is in them already. */
  async #withStored(app: string, { shape }: MetricLevel, points: readonly LevelPoint[]): Promise<MetricsChunk[]> {
    const chunkMs = shape.stepMs * shape.chunkSteps;
    const chunks: MetricsChunk[] = [];
    for (const [startMs, own] of Map.groupBy(points, ({ atMs }) => Math.floor(atMs / chunkMs) * chunkMs)) {
      const [stored] = await this.#kept.metricsChunks(app, shape.stepMs, startMs, startMs);
      chunks.push({
        app,
        stepMs: shape.stepMs,
        startMs,
        data: packed(merged(stored === undefined ? [] : opened(stored), own), startMs, shape),
      });
    }
    return chunks;
  }
}

/** A step of which both know something was begun by one process and ended by another. */
export function merged(one: readonly LevelPoint[], other: readonly LevelPoint[]): LevelPoint[] {
  const all = new Map(one.map((point) => [point.atMs, point]));
  for (const point of other) {
    const known = all.get(point.atMs);
    all.set(point.atMs, known === undefined ? point : together(known, point));
  }
  return [...all.values()].sort((a, b) => a.atMs - b.atMs);
}

function spanOf(stepMs: number): number {
  const { chunkSteps = 0 } = LEVELS.find((shape) => shape.stepMs === stepMs) ?? {};
  return stepMs * chunkSteps;
}

/** Field by field, so that it packs well: the format, the number of fields and steps, then numbers; NaN for what is not known. */
function packed(points: readonly LevelPoint[], startMs: number, { stepMs, chunkSteps }: LevelShape): Uint8Array {
  const head = Float32Array.of(FORMAT, LEVEL_FIELDS.length, chunkSteps);
  const values = new Float32Array(head.length + LEVEL_FIELDS.length * chunkSteps).fill(Number.NaN);
  values.set(head);
  for (const { atMs, values: row } of points) {
    const step = (atMs - startMs) / stepMs;
    for (const [at, field] of LEVEL_FIELDS.entries()) values[head.length + at * chunkSteps + step] = row[field];
  }
  return new Uint8Array(values.buffer);
}

function opened({ data, startMs, stepMs }: MetricsChunk): LevelPoint[] {
  // A copy: what a store answers may lie anywhere in a larger piece of memory, and numbers have to lie at multiples of their size.
  const values = new Float32Array(new Uint8Array(data).buffer);
  const [format, fields = 0, steps = 0] = values;
  if (format !== FORMAT) return [];
  const points: LevelPoint[] = [];
  for (let step = 0; step < steps; step += 1) {
    const value = (at: number): number => (at < fields ? (values[3 + at * steps + step] ?? Number.NaN) : 0);
    if (Number.isNaN(value(0))) continue;
    const row = Object.fromEntries(LEVEL_FIELDS.map((field, at) => [field, value(at)])) as MetricRow<LevelField>;
    points.push({ atMs: startMs + step * stepMs, values: row });
  }
  return points;
}
