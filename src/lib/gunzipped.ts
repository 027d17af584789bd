import type { Transform } from 'node:stream';
import { createGunzip, createZstdDecompress } from 'node:zlib';
import { drained } from './drained.ts';

/**
 * What gzipped bytes unfold to. Throws what `chunks` throws as it is, and what `damaged` makes of the reason when they are no whole
 * gzip stream. Whoever stops reading does not wait for the bytes that are still to come.
 */
export function gunzipped(chunks: AsyncIterable<Buffer>, damaged: (why: string) => Error): AsyncGenerator<Buffer> {
  return through(createGunzip(), chunks, damaged);
}

/** The same of bytes packed with zstd. */
export function unzstd(chunks: AsyncIterable<Buffer>, damaged: (why: string) => Error): AsyncGenerator<Buffer> {
  return through(createZstdDecompress(), chunks, damaged);
}

async function* through(
  decoder: Transform,
  chunks: AsyncIterable<Buffer>,
  damaged: (why: string) => Error,
): AsyncGenerator<Buffer> {
  let fault: unknown = null;
  void (async () => {
    try {
      for await (const chunk of chunks) {
        if (!decoder.write(chunk)) await drained(decoder);
        if (decoder.destroyed) return;
      }
      decoder.end();
    } catch (error) {
      fault = error;
      decoder.destroy(error as Error);
    }
  })();
  try {
    yield* decoder as AsyncIterable<Buffer>;
  } catch (error) {
    if (fault !== null) throw fault;
    throw damaged((error as Error).message);
  } finally {
    decoder.destroy();
  }
}
