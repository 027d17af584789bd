import { createGunzip } from 'node:zlib';
import { drained } from './drained.ts';

/**
 * What gzipped bytes unfold to. Throws what `chunks` throws as it is, and what `damaged` makes of the reason when they are no whole
 * gzip stream. Whoever stops reading does not wait for the bytes that are still to come.
 */
export async function* gunzipped(
  chunks: AsyncIterable<Buffer>,
  damaged: (why: string) => Error,
): AsyncGenerator<Buffer> {
  const gunzip = createGunzip();
  let fault: unknown = null;
  void (async () => {
    try {
      for await (const chunk of chunks) {
        if (!gunzip.write(chunk)) await drained(gunzip);
        if (gunzip.destroyed) return;
      }
      gunzip.end();
    } catch (error) {
      fault = error;
      gunzip.destroy(error as Error);
    }
  })();
  try {
    yield* gunzip as AsyncIterable<Buffer>;
  } catch (error) {
    if (fault !== null) throw fault;
    throw damaged((error as Error).message);
  } finally {
    gunzip.destroy();
  }
}
