/**
 * Removes trees that others may write, even while they write: no link put in a directory's place leads out of the tree, no
 * depth and no mode stops it. Left to the system's `rm`, which works by open directories; Node's own works by path names.
 */
import { rm, rmdir, unlink } from 'node:fs/promises';
import { runTool } from './tools/run-tool.ts';

/** Of what is large and lies on a slow disk. */
const DEADLINE_MS = 60 * 60_000;
const ATTEMPTS = 3;

/** Nothing there: nothing to do. Throws when something of a tree cannot be removed. */
export async function removeTree(...paths: readonly string[]): Promise<void> {
  const full: string[] = [];
  for (const path of paths) if (!(await removedSimply(path))) full.push(path);
  if (full.length === 0) return;
  for (let attempt = 1; ; attempt += 1) {
    try {
      await runTool(['rm', '-rf', '--', ...full], '', DEADLINE_MS);
      return;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return removeSlowly(full);
      if (attempt >= ATTEMPTS) throw error;
      // A directory without the right to write (a cache of Go modules) keeps its files even from their owner, root apart.
      await runTool(['chmod', '-R', 'u+rwX', '--', ...full], '', DEADLINE_MS).catch(() => undefined);
    }
  }
}

/** Most trees are not there, are empty, or are no directory: none of these needs a process. */
async function removedSimply(path: string): Promise<boolean> {
  try {
    await rmdir(path);
    return true;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return true;
    if (code !== 'ENOTDIR') return false;
  }
  await unlink(path);
  return true;
}

/** For systems without that program. */
async function removeSlowly(paths: readonly string[]): Promise<void> {
  for (const path of paths) await rm(path, { recursive: true, force: true, maxRetries: 3 });
}
