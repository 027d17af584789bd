/** Lays the layers of an image over each other: files, links, and the marks of what a layer takes away. */
import { createReadStream } from 'node:fs';
import type { ReadEntry } from 'tar';
import { gunzipped, unzstd } from '../../../lib/gunzipped.ts';
import { readTar, TarError } from '../../../lib/tar-entries.ts';
import { unfit } from './failures.ts';
import { type ImageLimits, mib } from './limits.ts';
import { hostile, partsOf, type RootTree } from './root-tree.ts';

const MARK = '.wh.';
const OPAQUE = '.wh..wh..opq';
/** Other marks of the file system that these come from; they say nothing about the image. */
const BOOKKEEPING = '.wh..wh.';
const MAX_LINK_BYTES = 4_000;
const FILES: ReadonlySet<string> = new Set(['File', 'OldFile', 'ContiguousFile']);
const DEVICES: ReadonlySet<string> = new Set(['CharacterDevice', 'BlockDevice', 'FIFO']);
/** Headers and padding of a tar file, per entry. */
const OVERHEAD_BYTES = 4_096;

export class ImageLayers {
  readonly #tree: RootTree;
  readonly #limits: ImageLimits;
  #entries = 0;
  #bytes = 0;
  #inflated = 0;

  constructor(tree: RootTree, limits: ImageLimits) {
    this.#tree = tree;
    this.#limits = limits;
  }

  get entries(): number {
    return this.#entries;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** `file`: a layer as it came, packed or not. Throws Failure `invalid_source`. */
  async add(file: string, signal: AbortSignal): Promise<void> {
    this.#tree.beginLayer();
    try {
      await readTar(this.#counted(unpacked(file)), (entry) => this.#take(entry), signal);
    } catch (error) {
      if (!(error instanceof TarError)) throw error;
      throw error.fault === 'unknown_kind' ? hostile(error.path, error.message) : damaged(error.message);
    }
  }

  async *#counted(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    const { unpackedBytes, entries } = this.#limits;
    for await (const chunk of chunks) {
      this.#inflated += chunk.length;
      if (this.#inflated > unpackedBytes + entries * OVERHEAD_BYTES) throw tooLarge(unpackedBytes);
      yield chunk;
    }
  }

  async #take(entry: ReadEntry): Promise<void> {
    this.#entries += 1;
    this.#bytes += FILES.has(entry.type) ? entry.size : 0;
    if (this.#entries > this.#limits.entries) throw unfit(`it has more than ${this.#limits.entries} files.`);
    if (this.#bytes > this.#limits.unpackedBytes) throw tooLarge(this.#limits.unpackedBytes);
    const parts = partsOf(entry.path);
    const name = parts.at(-1) ?? '';
    if (name.startsWith(MARK)) await this.#takeAway(parts, name);
    else await this.#put(entry, parts);
    entry.resume();
  }

  async #takeAway(parts: readonly string[], name: string): Promise<void> {
    const parent = parts.slice(0, -1);
    if (name === OPAQUE) return this.#tree.makeOpaque(parent);
    if (name.startsWith(BOOKKEEPING)) return;
    const gone = name.slice(MARK.length);
    if (gone === '' || gone === '.' || gone === '..') throw hostile(parts.join('/'), 'takes away what is not its own');
    await this.#tree.whiteOut([...parent, gone]);
  }

  async #put(entry: ReadEntry, parts: readonly string[]): Promise<void> {
    const { type, mode = 0o644, mtime, linkpath = '' } = entry;
    const tree = this.#tree;
    if (FILES.has(type)) {
      await tree.file(parts, { mode, modifiedAt: mtime }, entry as AsyncIterable<Uint8Array>);
    } else if (type === 'Directory' || type === 'GNUDumpDir') {
      await tree.directory(parts, mode);
    } else if (type === 'SymbolicLink') {
      const isGood = linkpath !== '' && !linkpath.includes('\0') && Buffer.byteLength(linkpath) <= MAX_LINK_BYTES;
      if (!isGood) throw hostile(entry.path, 'is a link to nowhere');
      await tree.symbolicLink(parts, linkpath);
    } else if (type === 'Link') {
      const isThere = await tree.hardLink(parts, partsOf(linkpath));
      if (!isThere) throw hostile(entry.path, 'is another name of a file that is not there');
    } else if (!DEVICES.has(type)) {
      throw hostile(entry.path, 'is of a kind that is not known here');
    }
  }
}

function tooLarge(bytes: number): Error {
  return unfit(`it unfolds to more than ${mib(bytes)}.`, 'Make it smaller.');
}

function damaged(why: string): Error {
  return unfit(`a layer is damaged: ${why}`);
}

async function* unpacked(file: string): AsyncGenerator<Buffer> {
  const source = createReadStream(file);
  try {
    const chunks = source[Symbol.asyncIterator]() as AsyncIterator<Buffer>;
    const first = await chunks.next();
    if (first.done === true) return;
    const start = first.value.subarray(0, 4).toString('hex');
    const all = withFirst(first.value, chunks);
    const broken = (why: string): Error => damaged(`${why}.`);
    if (start === '28b52ffd') yield* unzstd(all, broken);
    else yield* start.startsWith('1f8b') ? gunzipped(all, broken) : all;
  } finally {
    source.destroy();
  }
}

async function* withFirst(first: Buffer, rest: AsyncIterator<Buffer>): AsyncGenerator<Buffer> {
  yield first;
  for (let next = await rest.next(); next.done !== true; next = await rest.next()) yield next.value;
}
