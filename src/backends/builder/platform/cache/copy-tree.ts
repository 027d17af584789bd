/** Copies, links and closes directory trees. */
import { execFile } from 'node:child_process';
import {
  chmodSync,
  closeSync,
  constants,
  fchmodSync,
  fchownSync,
  lchownSync,
  lstatSync,
  openSync,
  opendirSync,
} from 'node:fs';
import { lstat, mkdir, opendir } from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { promisify } from 'node:util';

const run = promisify(execFile);
const AT_ONCE = 32;
/** So many entries are sealed before others have their turn: about a millisecond's work. */
const SEALED_AT_ONCE = 128;
const BLOCK_BYTES = 4096;
/** Node knows it also where its types do not; a name is a Buffer then. */
const BYTES = 'buffer' as string as BufferEncoding;

/**
 * A real copy: shares blocks where the file system can, never an inode. Links stay links. Modes are not preserved as such,
 * so that no copy made by root keeps a set-user-id bit.
 */
export async function copyTree(from: string, to: string): Promise<void> {
  await mkdir(to, { recursive: true });
  try {
    await run('cp', ['-R', '-P', '--preserve=timestamps', '--reflink=auto', '--', `${from}/.`, to]);
  } catch (error) {
    if (isFull(error)) throw noSpace(to);
    // Not every system's cp knows these options.
    await run('cp', ['-R', '-P', '--', `${from}/.`, to]);
  }
}

/** Makes the directories of `from` below `to`, without the files. */
export async function copyDirectories(from: string, to: string): Promise<void> {
  await mkdir(to, { recursive: true });
  const names: string[] = [];
  for await (const entry of await opendir(from)) if (entry.isDirectory()) names.push(entry.name);
  await inTurns(names, (name) => copyDirectories(join(from, name), join(to, name)));
}

/** Puts hard links to the files of `from` into the directories made by copyDirectories. False: this system cannot. */
export async function linkFiles(from: string, to: string): Promise<boolean> {
  try {
    await run('cp', ['-R', '-P', '-l', '--', `${from}/.`, to]);
    return true;
  } catch (error) {
    if (isFull(error)) throw noSpace(to);
    return false;
  }
}

/**
 * Takes a tree away from the tenant who made it: the server's user owns it, everybody may read it, nobody else may write.
 * From the top down, and a directory is taken before it is listed, so that whoever owned it cannot swap what is inside. Files that are not the
 * tenant's, of which there may be hard links in it, stay as they are.
 */
export async function seal(path: string): Promise<void> {
  if (process.getuid?.() !== 0) return;
  const tenant = lstatSync(path).uid;
  const directories: Buffer[] = [];
  if (sealOne(Buffer.from(path), tenant)) directories.push(Buffer.from(path));
  // A call by way of the thread pool takes several times as long as the kernel, and a push waits for thousands of them.
  for (let count = 1, next = directories.pop(); next !== undefined; next = directories.pop()) {
    for (const inner of entriesOf(next)) {
      if (sealOne(inner, tenant)) directories.push(inner);
      count += 1;
      if (count % SEALED_AT_ONCE === 0) await turn();
    }
  }
}

/** Not all of them at once: there may be a million. Paths are bytes: whoever made the tree may have used names that are no UTF-8. */
function* entriesOf(path: Buffer): Generator<Buffer> {
  const directory = opendirSync(path, { encoding: BYTES, bufferSize: SEALED_AT_ONCE });
  try {
    for (let entry = directory.readSync(); entry !== null; entry = directory.readSync()) {
      yield Buffer.concat([path, Buffer.from('/'), Buffer.from(entry.name)]);
    }
  } finally {
    directory.closeSync();
  }
}

/** True for a directory. */
function sealOne(path: Buffer, tenant: number): boolean {
  const stats = lstatSync(path);
  if (stats.isDirectory()) {
    const directory = openSync(path, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW);
    try {
      fchownSync(directory, 0, 0);
      fchmodSync(directory, 0o755);
    } finally {
      closeSync(directory);
    }
    return true;
  }
  if (stats.uid !== tenant) return false;
  lchownSync(path, 0, 0);
  if (stats.isFile()) chmodSync(path, (stats.mode & 0o100) === 0 ? 0o644 : 0o755);
  return false;
}

/**
 * True when the files below a directory take more than `bytes`; each entry counts as a block at least. Missing: false. Stops
 * there, and holds no more than one directory's handle per level: whoever wrote the tree decides how much is in it.
 */
export async function isLargerThan(path: string, bytes: number): Promise<boolean> {
  let left = bytes;
  const measure = async (directory: string): Promise<void> => {
    const entries = await opendir(directory).catch(() => null);
    if (entries === null) return;
    for await (const entry of entries) {
      const child = join(directory, entry.name);
      left -= Math.max(entry.isFile() ? ((await lstat(child).catch(() => null))?.size ?? 0) : 0, BLOCK_BYTES);
      if (left >= 0 && entry.isDirectory()) await measure(child);
      if (left < 0) return;
    }
  };
  await measure(path);
  return left < 0;
}

async function inTurns<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  for (let start = 0; start < items.length; start += AT_ONCE) {
    await Promise.all(items.slice(start, start + AT_ONCE).map(work));
  }
}

function isFull(error: unknown): boolean {
  return (
    error instanceof Error &&
    'stderr' in error &&
    /No space left on device|Disk quota exceeded/.test(String(error.stderr))
  );
}

function noSpace(path: string): Error {
  return Object.assign(new Error(`no space left for ${path}`), { code: 'ENOSPC' });
}
