/**
 * A root file system that is put together from layers by strangers, below one directory of this machine. No path of theirs is
 * handed to the system before every directory on its way was looked at: links are followed here, within the root, never by the
 * kernel. Nobody else may write below the directory meanwhile.
 */
import { constants, type Stats } from 'node:fs';
import { appendFile, link, lstat, mkdir, open, readdir, readFile, readlink, symlink, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { removeTree } from '../../../lib/remove-tree.ts';
import { unfit } from './failures.ts';

const MAX_LINKS = 40;
const MAX_PARTS = 200;
const MAX_PART_BYTES = 255;
const MAX_PATH_BYTES = 3_000;

interface FileFacts {
  readonly mode: number;
  readonly modifiedAt?: Date | undefined;
}

/** `./a/b`, `/a/b/` -> `[a, b]`; the root itself is empty. Throws Failure `invalid_source` for what would leave it. */
export function partsOf(path: string): string[] {
  const parts = path.split('/').filter((part) => part !== '' && part !== '.');
  const isTooLong = parts.some((part) => Buffer.byteLength(part) > MAX_PART_BYTES) || parts.length > MAX_PARTS;
  if (parts.includes('..')) throw hostile(path, 'leads out of its root');
  if (path.includes('\0') || isTooLong || Buffer.byteLength(path) > MAX_PATH_BYTES) {
    throw hostile(path, 'has a name that is too long or no name');
  }
  return parts;
}

export function hostile(path: string, what: string): Error {
  return unfit(`the entry ${JSON.stringify(path.slice(0, 200))} of a layer ${what}.`);
}

export class RootTree {
  readonly #root: string;
  /** Real directories, so that they are not looked at again and again. */
  readonly #directories = new Set<string>();
  /** What this layer has put there, and every directory on the way to it. */
  #fresh = new Set<string>();

  constructor(root: string) {
    this.#root = root;
  }

  beginLayer(): void {
    this.#fresh = new Set();
  }

  async directory(parts: readonly string[], mode: number): Promise<void> {
    const path = this.#path(await this.#enter(parts));
    const handle = await open(path, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW);
    try {
      await handle.chmod((mode & 0o777) | 0o700);
    } finally {
      await handle.close();
    }
  }

  /** One that is there stays as it is. */
  async makeDirectory(parts: readonly string[]): Promise<void> {
    await this.#enter(parts);
  }

  async file(parts: readonly string[], facts: FileFacts, data: AsyncIterable<Uint8Array>): Promise<void> {
    const path = await this.#vacate(parts);
    const flags = constants.O_CREAT | constants.O_EXCL | constants.O_WRONLY | constants.O_NOFOLLOW;
    const handle = await open(path, flags, 0o600);
    try {
      for await (const chunk of data) await handle.writeFile(chunk);
      await handle.chmod((facts.mode & 0o777) | 0o600);
      const { modifiedAt } = facts;
      if (modifiedAt !== undefined && !Number.isNaN(modifiedAt.getTime())) await handle.utimes(modifiedAt, modifiedAt);
    } finally {
      await handle.close();
    }
  }

  /** The target is kept as it is, wherever it points: it means something only within the root. */
  async symbolicLink(parts: readonly string[], target: string): Promise<void> {
    await symlink(target, await this.#vacate(parts));
  }

  /** False when there is no such file yet. */
  async hardLink(parts: readonly string[], of: readonly string[]): Promise<boolean> {
    const parent = await this.#walk(of.slice(0, -1), false);
    const name = of.at(-1);
    if (parent === null || name === undefined) return false;
    const source = this.#path([...parent, name]);
    if (!(await isNoDirectory(source))) return false;
    const path = await this.#vacate(parts, source);
    if (path === source) return true;
    // The new name may stand where the file, or a directory above it, was.
    if (!(await isNoDirectory(source))) return false;
    await link(source, path);
    return true;
  }

  /** Takes away what an earlier layer has put there. */
  async whiteOut(parts: readonly string[]): Promise<void> {
    const parent = await this.#walk(parts.slice(0, -1), false);
    const name = parts.at(-1);
    if (parent === null || name === undefined) return;
    const real = [...parent, name];
    if (!this.#fresh.has(real.join('/'))) await this.#remove(this.#path(real));
  }

  /** Takes away everything that earlier layers have put into a directory. */
  async makeOpaque(parts: readonly string[]): Promise<void> {
    const real = await this.#walk(parts, false);
    if (real !== null) await this.#removeStale(real);
  }

  async #removeStale(real: readonly string[]): Promise<void> {
    for (const name of await readdir(this.#path(real))) {
      const child = [...real, name];
      const path = this.#path(child);
      if (!this.#fresh.has(child.join('/'))) await this.#remove(path);
      else if ((await stats(path))?.isDirectory() === true) await this.#removeStale(child);
    }
  }

  /** The place of what a path within the root leads to, every link followed; null when it leads nowhere. */
  async locate(parts: readonly string[]): Promise<{ readonly place: string; readonly facts: Stats } | null> {
    const real = await this.#walk(parts, false, true);
    const place = real === null ? null : this.#path(real);
    const facts = place === null ? null : await stats(place);
    return place === null || facts === null ? null : { place, facts };
  }

  /** Null when it is no file, or a longer one. */
  async read(parts: readonly string[], maxBytes: number): Promise<string | null> {
    const found = await this.locate(parts);
    if (found === null || !found.facts.isFile() || found.facts.size > maxBytes) return null;
    return readFile(found.place, 'utf8');
  }

  async append(parts: readonly string[], text: string): Promise<void> {
    const found = await this.locate(parts);
    if (found?.facts.isFile() === true) await appendFile(found.place, text);
    else await this.file(parts, { mode: 0o644 }, oneChunk(text));
  }

  /** A real directory, whatever stands there now. */
  async realDirectory(name: string): Promise<void> {
    const path = this.#path([name]);
    const found = await stats(path);
    if (found !== null && !found.isDirectory()) await this.#remove(path);
    await this.#enter([name]);
  }

  /** What stands at the top. */
  names(): Promise<string[]> {
    return readdir(this.#root);
  }

  #path(real: readonly string[]): string {
    return join(this.#root, ...real);
  }

  /** The real parts of a directory, which is made where it is missing. */
  async #enter(parts: readonly string[]): Promise<string[]> {
    const real = await this.#walk(parts, true);
    if (real === null) throw hostile(parts.join('/'), 'leads nowhere');
    for (let length = real.length; length > 0; length -= 1) {
      const key = real.slice(0, length).join('/');
      if (this.#fresh.has(key)) break;
      this.#fresh.add(key);
    }
    return real;
  }

  /** Where something new may be made; nothing is there any more, but for `unless`, which may stay. */
  async #vacate(parts: readonly string[], unless = ''): Promise<string> {
    const name = parts.at(-1);
    if (name === undefined) throw hostile('/', 'stands in the place of the root');
    const real = [...(await this.#enter(parts.slice(0, -1))), name];
    const path = this.#path(real);
    if (path !== unless) await this.#remove(path);
    this.#fresh.add(real.join('/'));
    return path;
  }

  async #remove(path: string): Promise<void> {
    const found = await stats(path);
    if (found === null) return;
    if (!found.isDirectory()) return unlink(path);
    this.#directories.clear();
    await removeTree(path);
  }

  /** `isAny`: the end may be something else than a directory. Null when it is not there, unless it is to be made. */
  async #walk(parts: readonly string[], isMade: boolean, isAny = false): Promise<string[] | null> {
    let at: string[] = [];
    // The next one last: who takes the first of many moves all others.
    const ahead = parts.toReversed();
    let links = 0;
    for (let part = ahead.pop(); part !== undefined; part = ahead.pop()) {
      if (part === '' || part === '.') continue;
      if (part === '..') {
        // At the root it leads to the root.
        at = at.slice(0, -1);
        continue;
      }
      const next = [...at, part];
      const path = this.#path(next);
      const found = this.#directories.has(path) ? 'directory' : kindOf(await stats(path));
      if (found === 'link') {
        links += 1;
        if (links > MAX_LINKS) throw hostile(parts.join('/'), 'is a ring of links');
        const target = await readlink(path);
        if (target.startsWith('/')) at = [];
        ahead.push(...target.split('/').reverse());
        continue;
      }
      if (found === 'other' && isAny && ahead.length === 0) return next;
      if (found !== 'directory') {
        if (!isMade) return null;
        if (found === 'other') await unlink(path);
        await mkdir(path, { mode: 0o755 });
      }
      this.#directories.add(path);
      at = next;
    }
    return at;
  }
}

async function isNoDirectory(path: string): Promise<boolean> {
  return (await stats(path))?.isDirectory() === false;
}

function kindOf(found: Stats | null): 'nothing' | 'directory' | 'link' | 'other' {
  if (found === null) return 'nothing';
  if (found.isDirectory()) return 'directory';
  return found.isSymbolicLink() ? 'link' : 'other';
}

async function stats(path: string): Promise<Stats | null> {
  try {
    return await lstat(path);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return null;
    if (code === 'ENAMETOOLONG') throw hostile(path, 'lies too deep');
    throw error;
  }
}

async function* oneChunk(text: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text);
}
