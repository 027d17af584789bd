/** Hands a directory tree to a tenant. */
import { execFile } from 'node:child_process';
import { chmod, chown, lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
const BATCH = 500;

/**
 * Everything below `path` becomes the uid's, readable by its owner only. The top changes last, so its owner says whether
 * the whole tree was handed over; a tree already handed over is left as it is.
 */
export async function handOver(path: string, uid: number): Promise<void> {
  const top = await lstat(path);
  const isDone = top.uid === uid && (!top.isDirectory() || (top.mode & 0o077) === 0);
  if (isDone) return;
  if (top.isDirectory()) {
    await chown(path, process.getuid?.() ?? 0, process.getgid?.() ?? 0);
    const entries = (await readdir(path)).map((name) => join(path, name));
    for (let first = 0; first < entries.length; first += BATCH) {
      const batch = entries.slice(first, first + BATCH);
      await run('chown', ['-R', '-h', '-P', '--', `${uid}:${uid}`, ...batch]);
      await run('chmod', ['-R', 'u+rwX,go-rwx', '--', ...(await withoutLinks(batch))]);
    }
  }
  await chmod(path, top.isDirectory() ? 0o700 : 0o600);
  await chown(path, uid, uid);
}

/** chmod follows a link named on its command line, wherever it points. The top is not writable for the tenant meanwhile. */
async function withoutLinks(paths: readonly string[]): Promise<string[]> {
  const kept: string[] = [];
  for (const path of paths) if (!(await lstat(path)).isSymbolicLink()) kept.push(path);
  return kept;
}
