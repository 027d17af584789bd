/** Hands a directory tree to a tenant, or lets it in. */
import { execFile } from 'node:child_process';
import { chmod, chown, lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
const BATCH = 500;

/**
 * Everything below `path` becomes the uid's, readable by its owner only. The top changes last, so its owner says whether
 * the whole tree was handed over. Such a tree is not gone through again, whatever its owner has done to it since: it may hold
 * hard links to files that must stay the platform's.
 */
export async function handOver(path: string, uid: number): Promise<void> {
  const top = await lstat(path);
  const mode = top.isDirectory() ? 0o700 : 0o600;
  if (top.uid === uid) {
    if ((top.mode & 0o077) !== 0) await chmod(path, mode);
    return;
  }
  if (top.isDirectory()) {
    await chown(path, process.getuid?.() ?? 0, process.getgid?.() ?? 0);
    await chmod(path, mode);
    const entries = (await readdir(path)).map((name) => join(path, name));
    const batches: string[][] = [];
    for (let first = 0; first < entries.length; first += BATCH) batches.push(entries.slice(first, first + BATCH));
    // Modes first: once the files are the tenant's, a link may stand in the place of each.
    for (const batch of batches) {
      const kept = await withoutLinks(batch);
      if (kept.length > 0) await run('chmod', ['-R', 'u+rwX,go-rwx', '--', ...kept]);
    }
    for (const batch of batches) await run('chown', ['-R', '-h', '-P', '--', `${uid}:${uid}`, ...batch]);
  }
  await chmod(path, mode);
  await chown(path, uid, uid);
}

/** A tenant's uid and gid are one number, so the group of a directory can be a single tenant. */
export async function admit(path: string, gid: number): Promise<void> {
  await chown(path, process.getuid?.() ?? 0, gid);
  await chmod(path, 0o750);
}

/** chmod follows a link named on its command line, wherever it points. */
async function withoutLinks(paths: readonly string[]): Promise<string[]> {
  const kept: string[] = [];
  for (const path of paths) if (!(await lstat(path)).isSymbolicLink()) kept.push(path);
  return kept;
}
