/** The bytes of a tar file, whether it comes gzipped or not; bounded in size and in how much comes out of how little. */
import { PlatformError } from '../../../../domain/errors.ts';
import { gunzipped } from '../../../../lib/gunzipped.ts';
import { invalidSource } from '../invalid-source.ts';

export interface ArchiveLimits {
  /** Of the archive as it comes. */
  readonly maxArchiveBytes: number;
  /** Of what is in it. */
  readonly maxBytes: number;
  readonly maxEntries: number;
}

/** How often more may come out than went in, beyond what is small anyway. */
const MAX_RATIO = 200;
const SMALL_BYTES = 64 * 1024 * 1024;
/** Headers and padding of a tar file, per entry. */
const OVERHEAD_BYTES = 4_096;

export function damaged(why: string): PlatformError {
  return invalidSource(
    `The archive is damaged, or not a tar.gz file: ${why}`,
    'Make it again, with "tar -czf app.tar.gz ." in the directory of the app.',
  );
}

/** Throws PlatformError `deploy.invalid_source`, `input.too_large`. */
export async function* inflated(bytes: AsyncIterable<Uint8Array>, limits: ArchiveLimits): AsyncGenerator<Buffer> {
  const source = counted(bytes, limits.maxArchiveBytes);
  const input = source.chunks();
  const { first, rest } = await head(input, 2);
  if (first.length === 0) throw damaged('it is empty.');
  const isGzip = first[0] === 0x1f && first[1] === 0x8b;
  const chunks = isGzip ? gunzipped(rest, damaged) : rest;
  const most = limits.maxBytes + limits.maxEntries * OVERHEAD_BYTES;
  let total = 0;
  for await (const chunk of chunks) {
    total += chunk.length;
    if (total > most || (total > SMALL_BYTES && total > source.read() * MAX_RATIO)) {
      throw invalidSource(
        `The archive unfolds to more than ${Math.floor(total / 1024 / 1024)} MiB.`,
        'Leave out what is installed or generated (node_modules, build output).',
      );
    }
    yield chunk;
  }
}

function counted(bytes: AsyncIterable<Uint8Array>, most: number) {
  let read = 0;
  return {
    read: () => read,
    async *chunks(): AsyncGenerator<Buffer> {
      for await (const chunk of bytes) {
        read += chunk.length;
        if (read > most) {
          throw new PlatformError(
            'input.too_large',
            `The archive is larger than ${Math.floor(most / 1024 / 1024)} MiB.`,
            {
              hint: 'Leave out what is installed or generated (node_modules, build output).',
            },
          );
        }
        yield Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
      }
    },
  };
}

/** The first bytes, and everything with them. */
async function head(
  chunks: AsyncGenerator<Buffer>,
  count: number,
): Promise<{ first: Buffer; rest: AsyncGenerator<Buffer> }> {
  let first = Buffer.alloc(0);
  while (first.length < count) {
    const next = await chunks.next();
    if (next.done === true) break;
    first = Buffer.concat([first, next.value]);
  }
  async function* all(): AsyncGenerator<Buffer> {
    if (first.length > 0) yield first;
    yield* chunks;
  }
  return { first, rest: all() };
}
