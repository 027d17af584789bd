/** What it costs at least to keep the same lines: read from the file they were printed to, packed as the log packs them, written. */
import { closeSync, openSync, readSync, writeSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { constants, zstdCompressSync } from 'node:zlib';

const BLOCK_BYTES = 256 * 1024;
const FAST = { params: { [constants.ZSTD_c_compressionLevel]: 1 } };

/** Milliseconds of processor time. */
export async function packingMs(lines: readonly string[]): Promise<number> {
  const directory = await mkdtemp(join(tmpdir(), 'tancho-floor-'));
  try {
    const printed = openSync(join(directory, 'printed'), 'w+');
    const kept = openSync(join(directory, 'kept'), 'w');
    const all = Buffer.from(`${lines.join('\n')}\n`);
    const block = Buffer.allocUnsafe(BLOCK_BYTES);
    const begun = process.cpuUsage();
    writeSync(printed, all);
    for (let at = 0; at < all.length; at += BLOCK_BYTES) {
      const read = readSync(printed, block, 0, BLOCK_BYTES, at);
      writeSync(kept, zstdCompressSync(block.subarray(0, read), FAST));
    }
    const { user, system } = process.cpuUsage(begun);
    closeSync(printed);
    closeSync(kept);
    return (user + system) / 1000;
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}
