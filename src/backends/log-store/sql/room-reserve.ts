/** Room that is held to be let go: on a full disk SQLite needs some even to remove what is in the way. */
import { randomBytes } from 'node:crypto';
import { open, rename, rm, statfs } from 'node:fs/promises';
import path from 'node:path';
import { isThere } from '../../../lib/is-there.ts';

const BYTES = 8 * 1024 * 1024;
const PIECE_BYTES = 1024 * 1024;
/** It is made only where others do not miss it. */
const FREE_BYTES = 3 * BYTES;

export class RoomReserve {
  readonly #file: string;

  constructor(database: string) {
    this.#file = `${database}-reserve`;
  }

  /** Makes sure of it, while there is room. */
  async keep(): Promise<void> {
    if (await isThere(this.#file)) return;
    const { bavail, bsize } = await statfs(path.dirname(this.#file));
    if (bavail * bsize < FREE_BYTES) return;
    const draft = `${this.#file}.new`;
    // Not zeros: a file system that packs its files would hold no room for them.
    const piece = randomBytes(PIECE_BYTES);
    const file = await open(draft, 'w', 0o600);
    try {
      for (let written = 0; written < BYTES; written += PIECE_BYTES) await file.write(piece);
    } finally {
      await file.close();
    }
    await rename(draft, this.#file);
  }

  /** False: there was none. */
  async letGo(): Promise<boolean> {
    if (!(await isThere(this.#file))) return false;
    await rm(this.#file, { force: true });
    return true;
  }
}
