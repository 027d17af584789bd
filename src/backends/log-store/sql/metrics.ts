/** What was measured, as rows: a piece each, packed, for most apps do little. */
import { constants, zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import type { KeptMetrics } from '../../../domain/metrics/kept-metrics.ts';
import type { LogScope } from './schema.ts';

/** A piece packs into some hundred bytes, and would hold the 64 KB that zlib allots for its answer otherwise. */
const CHUNKS = { chunkSize: 4096 };
const FAST = { ...CHUNKS, params: { [constants.ZSTD_c_compressionLevel]: 1 } };
/** What would be larger comes from nobody of ours. */
const MOST_BYTES = 1024 * 1024;

export function keptMetrics({ db }: LogScope): KeptMetrics {
  return {
    async metricsChunks(app, stepMs, fromMs, toMs) {
      const rows = await db
        .selectFrom('metrics')
        .select(['start_ms', 'packed'])
        .where('app', '=', app)
        .where('step_ms', '=', stepMs)
        .where('start_ms', '>=', fromMs)
        .where('start_ms', '<=', toMs)
        .orderBy('start_ms')
        .execute();
      return rows.map(({ start_ms: startMs, packed }) => {
        return { app, stepMs, startMs, data: zstdDecompressSync(packed, { ...CHUNKS, maxOutputLength: MOST_BYTES }) };
      });
    },
    async keepMetrics(chunks) {
      if (chunks.length === 0) return;
      const values = chunks.map(({ app, stepMs, startMs, data }) => {
        return { app, step_ms: stepMs, start_ms: startMs, packed: zstdCompressSync(data, FAST) };
      });
      await db
        .insertInto('metrics')
        .values(values)
        .onConflict((conflict) =>
          conflict
            .columns(['app', 'step_ms', 'start_ms'])
            .doUpdateSet((row) => ({ packed: row.ref('excluded.packed') })),
        )
        .execute();
    },
    async forgetMetrics(stepMs, beforeMs) {
      await db.deleteFrom('metrics').where('step_ms', '=', stepMs).where('start_ms', '<', beforeMs).execute();
    },
  };
}
