/**
 * Blobs of images that builds begin with, kept for the next build. What is in there is what its digest says, for it was compared when it came
 * and nobody else can write there. Each is kept for the repository that it came from: who names it has been let read there, by the manifest.
 * The digest alone proves nothing, for a registry of anybody's own can name blobs of others'.
 */
import { createHash } from 'node:crypto';
import { link, mkdir, open, readdir, rename, rm, stat, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { randomHex } from '../../../lib/ids.ts';
import { KeyedQueue } from '../../../lib/keyed-queue.ts';

interface KeptBlob {
  /** Of the registry. */
  readonly host: string;
  readonly repository: string;
  readonly digest: string;
}

const MAX_BYTES = 8 * 1024 ** 3;
const NEW = 'new-';

export class BlobCache {
  readonly #directory: string;
  readonly #maxBytes: number;
  readonly #queue = new KeyedQueue();

  constructor(directory: string, maxBytes = MAX_BYTES) {
    this.#directory = directory;
    this.#maxBytes = maxBytes;
  }

  /**
   * Puts the blob to `path`; `fetch` writes it to a file when it is not here, and throws when that is not what the digest says. The signal ends
   * waiting for another one that fetches it.
   */
  async put(
    blob: KeptBlob,
    path: string,
    fetch: (file: string) => Promise<void>,
    signal: AbortSignal,
  ): Promise<'kept' | 'fetched'> {
    const name = nameOf(blob);
    const own = join(this.#directory, name);
    const once = async (): Promise<'kept' | 'fetched'> => {
      if (await linked(own, path)) {
        const now = new Date();
        await utimes(own, now, now);
        return 'kept';
      }
      await mkdir(this.#directory, { recursive: true, mode: 0o700 });
      const fresh = join(this.#directory, `${NEW}${randomHex(12)}`);
      try {
        await fetch(fresh);
        // Before its name says that it is whole: after a power cut it would be empty.
        await synced(fresh);
        await rename(fresh, own);
      } finally {
        await rm(fresh, { force: true });
      }
      await link(own, path);
      return 'fetched';
    };
    return this.#queue.run(name, once, signal);
  }

  /** Removes those that were used least recently while there are more bytes than may be. */
  async prune(): Promise<void> {
    const names = await readdir(this.#directory).catch(() => []);
    const blobs: { path: string; bytes: number; usedAt: number }[] = [];
    for (const name of names) {
      const path = join(this.#directory, name);
      const facts = await stat(path).catch(() => null);
      const isLeft = name.startsWith(NEW) && facts !== null && Date.now() - facts.mtimeMs > 24 * 3_600_000;
      if (isLeft) await rm(path, { force: true });
      else if (facts !== null && !name.startsWith(NEW)) blobs.push({ path, bytes: facts.size, usedAt: facts.mtimeMs });
    }
    let sum = blobs.reduce((all, { bytes }) => all + bytes, 0);
    for (const { path, bytes } of blobs.sort((a, b) => a.usedAt - b.usedAt)) {
      if (sum <= this.#maxBytes) return;
      await rm(path, { force: true });
      sum -= bytes;
    }
  }
}

function nameOf({ host, repository, digest }: KeptBlob): string {
  return createHash('sha256').update(`${host}/${repository}@${digest}`).digest('hex');
}

async function synced(path: string): Promise<void> {
  const file = await open(path, 'r');
  try {
    await file.sync();
  } finally {
    await file.close();
  }
}

async function linked(from: string, to: string): Promise<boolean> {
  try {
    await link(from, to);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false;
    throw error;
  }
}
