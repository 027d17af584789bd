/** Directories as a layer in a file: packed while it is written, so that it is read once. */
import { createHash } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { constants, createZstdCompress } from 'node:zlib';
import { type TarTree, treeTar } from '../../../../lib/tree-tar.ts';
import { type BuiltLayer, ZSTD_LAYER } from './assemble.ts';

/** Whoever waits is a deploy. */
const LEVEL = 1;

interface Packing {
  readonly trees: readonly TarTree[];
  readonly by: string;
  readonly file: string;
  readonly signal: AbortSignal;
}

/** Throws what the signal says, and what reading and writing throw. */
export async function packLayer({ trees, by, file, signal }: Packing): Promise<BuiltLayer> {
  const [plain, packed] = [createHash('sha256'), createHash('sha256')];
  const counted = (hash: ReturnType<typeof createHash>): Transform =>
    new Transform({
      transform(chunk: Buffer, _encoding, done) {
        hash.update(chunk);
        done(null, chunk);
      },
    });
  const compress = createZstdCompress({ params: { [constants.ZSTD_c_compressionLevel]: LEVEL } });
  const source = Readable.from(treeTar(trees, signal), { objectMode: false });
  const target = createWriteStream(file, { mode: 0o600 });
  await pipeline(source, counted(plain), compress, counted(packed), target, { signal });
  const { size } = await stat(file);
  return {
    mediaType: ZSTD_LAYER,
    digest: `sha256:${packed.digest('hex')}`,
    diffId: `sha256:${plain.digest('hex')}`,
    size,
    by,
  };
}
