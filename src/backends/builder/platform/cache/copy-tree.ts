/** Copies, links and closes directory trees. */
import { execFile } from 'node:child_process';
import { chmod, lchown, lstat, mkdir, open, readdir, stat } from 'node:fs/promises';
import { constants } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
const AT_ONCE = 32;

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
  const entries = await readdir(from, { withFileTypes: true });
  await inTurns(
    entries.filter((entry) => entry.isDirectory()),
    (entry) => copyDirectories(join(from, entry.name), join(to, entry.name)),
  );
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
 * From the top down, and a directory is taken before it is listed, so that whoever owned it cannot swap what is inside.
 */
export async function seal(path: string): Promise<void> {
  if (process.getuid?.() !== 0) return;
  const stats = await lstat(path);
  if (stats.isDirectory()) {
    const directory = await open(path, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW);
    try {
      await directory.chown(0, 0);
      await directory.chmod(0o755);
    } finally {
      await directory.close();
    }
    await inTurns(await readdir(path), (name) => seal(join(path, name)));
    return;
  }
  await lchown(path, 0, 0);
  if (stats.isFile()) await chmod(path, (stats.mode & 0o100) === 0 ? 0o644 : 0o755);
}

/** Total size of the files below a directory; 0 when it is not there. Links are not followed. */
export async function treeBytes(path: string): Promise<number> {
  let total = 0;
  for (const entry of await readdir(path, { withFileTypes: true, recursive: true }).catch(() => [])) {
    if (entry.isFile()) total += (await lstat(join(entry.parentPath, entry.name)).catch(() => null))?.size ?? 0;
  }
  return total;
}

export async function isThere(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
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
