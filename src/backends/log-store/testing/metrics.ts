import { randomBytes } from 'node:crypto';
import { expect } from 'vitest';
import type { MetricsChunk } from '../../../domain/metrics/kept-metrics.ts';
import type { LogStoreCases } from './case.ts';

function chunk(startMs: number, more: Partial<MetricsChunk> = {}): MetricsChunk {
  return { app: 'shop', stepMs: 10_000, startMs, data: randomBytes(23_000), ...more };
}

/** Buffers and plain arrays of bytes are equal when their bytes are. */
const plain = (chunks: readonly MetricsChunk[]) =>
  chunks.map((one) => ({ ...one, data: Buffer.from(one.data).toString('hex') }));

export const metricsCases: LogStoreCases = {
  'what was measured is found by app, step and span, also by the next control': async (store, { again }) => {
    const at = Date.parse('2026-03-04T05:00:00Z');
    const [first, second, third] = [chunk(at), chunk(at + 3_600_000), chunk(at + 7_200_000)];
    await store.keepMetrics([third, first, second, chunk(at, { app: 'blog' }), chunk(at, { stepMs: 60_000 })]);
    const other = await again();
    expect(plain(await other.metricsChunks('shop', 10_000, at, at + 3_600_000))).toEqual(plain([first, second]));
    expect(plain(await other.metricsChunks('shop', 10_000, at + 1, at + 9_000_000))).toEqual(plain([second, third]));
    expect(await other.metricsChunks('none', 10_000, 0, at)).toEqual([]);
  },

  'a piece that is kept again takes the place of the one before': async (store) => {
    const [before, after] = [chunk(0), chunk(0)];
    await store.keepMetrics([before]);
    await store.keepMetrics([after]);
    await store.keepMetrics([]);
    expect(plain(await store.metricsChunks('shop', 10_000, 0, 0))).toEqual(plain([after]));
  },

  'what is old is forgotten, of one step only, and the log is no matter': async (store) => {
    await store.keepMetrics([chunk(0), chunk(1_000), chunk(0, { stepMs: 60_000 })]);
    await store.removeApp('shop');
    await store.forgetMetrics(10_000, 1_000);
    const starts = async (stepMs: number): Promise<number[]> =>
      (await store.metricsChunks('shop', stepMs, 0, 2_000)).map(({ startMs }) => startMs);
    expect([await starts(10_000), await starts(60_000)]).toEqual([[1_000], [0]]);
  },
};
