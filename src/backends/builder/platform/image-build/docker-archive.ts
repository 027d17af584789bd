/** An image as Docker and BuildKit write it, one archive, taken apart into the form that unpack() reads: a directory with its manifest and blobs. */
import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join, posix } from 'node:path';
import { Transform, type TransformCallback } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { Failure } from '../../../../domain/failure.ts';
import { isRecord } from '../../../../lib/is-record.ts';
import { readTar, TarError } from '../../../../lib/tar-entries.ts';

const LIST = 'manifest.json';
const MAX_LIST = 4 * 1024 * 1024;
const KIND = 'application/vnd.docker';
const MANIFEST_KIND = `${KIND}.distribution.manifest.v2+json`;
const CONFIG_KIND = `${KIND}.container.image.v1+json`;
const LAYER_KIND = `${KIND}.image.rootfs.diff.tar`;
const PACKED: Readonly<Record<string, string>> = { '1f8b': '.gzip', '28b5': '.zstd' };

interface Part {
  readonly file: string;
  readonly digest: string;
  readonly size: number;
  /** What its first bytes say of how it is packed. */
  readonly packed: string;
}

interface Parts {
  readonly files: Map<string, Part>;
  /** Layers that are there already are links to them. */
  readonly links: Map<string, string>;
}

/** `directory` exists and is empty. Throws Failure `build_failed` for what is no such archive. */
export async function takeApart(archive: string, directory: string, signal: AbortSignal): Promise<void> {
  const { files, links } = await partsOf(archive, directory, signal);
  const list = files.get(LIST);
  const text = list === undefined || list.size > MAX_LIST ? '' : await readFile(list.file, 'utf8');
  const { config, layers } = named(text);
  const part = (name: string): Part => {
    const found = files.get(links.get(name) ?? name);
    if (found === undefined) throw damaged();
    return found;
  };
  const used = new Map<string, Part>();
  const descriptor = (mediaType: string, { digest, size }: Part): object => ({
    mediaType,
    size,
    digest: `sha256:${digest}`,
  });
  const use = (name: string): Part => {
    const found = part(name);
    used.set(found.digest, found);
    return found;
  };
  const manifest = {
    schemaVersion: 2,
    mediaType: MANIFEST_KIND,
    config: descriptor(CONFIG_KIND, use(config)),
    layers: layers.map(use).map((layer) => descriptor(`${LAYER_KIND}${layer.packed}`, layer)),
  };
  for (const [digest, { file }] of used) await rename(file, join(directory, digest));
  for (const { file } of files.values()) await rm(file, { force: true });
  await writeFile(join(directory, LIST), JSON.stringify(manifest));
}

/** Each file of the archive beside the others, under a name of our own. */
async function partsOf(archive: string, directory: string, signal: AbortSignal): Promise<Parts> {
  const files = new Map<string, Part>();
  const links = new Map<string, string>();
  try {
    await readTar(
      createReadStream(archive),
      async (entry) => {
        const path = posix.normalize(entry.path);
        if (entry.type === 'SymbolicLink' || entry.type === 'Link') {
          const from = entry.type === 'Link' ? '.' : posix.dirname(path);
          links.set(path, posix.normalize(posix.join(from, entry.linkpath ?? '')));
          return void entry.resume();
        }
        if (entry.type !== 'File' && entry.type !== 'OldFile') return void entry.resume();
        const file = join(directory, `part-${files.size}`);
        const digest = new Digest();
        await pipeline(entry, digest, createWriteStream(file, { mode: 0o644 }), { signal });
        files.set(path, { file, ...digest.result, size: (await stat(file)).size });
      },
      signal,
    );
  } catch (error) {
    if (error instanceof TarError) throw damaged();
    throw error;
  }
  return { files, links };
}

class Digest extends Transform {
  readonly #hash = createHash('sha256');
  #begin = Buffer.alloc(0);

  override _transform(chunk: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
    if (this.#begin.length < 2) this.#begin = Buffer.concat([this.#begin, chunk.subarray(0, 2)]);
    this.#hash.update(chunk);
    done(null, chunk);
  }

  get result(): Pick<Part, 'digest' | 'packed'> {
    const packed = PACKED[this.#begin.subarray(0, 2).toString('hex')] ?? '';
    return { digest: this.#hash.digest('hex'), packed };
  }
}

function named(text: string): { readonly config: string; readonly layers: readonly string[] } {
  const [image]: unknown[] = listOf(text);
  const [config, layers] = isRecord(image) ? [image['Config'], image['Layers']] : [];
  if (typeof config !== 'string' || !Array.isArray(layers)) throw damaged();
  const names = layers.filter((layer) => typeof layer === 'string');
  return { config, layers: names };
}

function listOf(text: string): unknown[] {
  try {
    const list: unknown = JSON.parse(text);
    return Array.isArray(list) ? list : [];
  } catch {
    throw damaged();
  }
}

function damaged(): Failure {
  return new Failure('build_failed', 'What was built has been given out as something else than an image.', {
    hint: 'Push again; if it stays so, the operator has to look at the program that builds images here (images.builder).',
  });
}
