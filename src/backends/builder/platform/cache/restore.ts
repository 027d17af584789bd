/** Moves dependency directories between the code and the cache; docs/decisions/dependency-cache.md says who may write what. */
import { lstat, mkdir, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { removeTree } from '../../../../lib/remove-tree.ts';
import { copyDirectories, copyTree, linkFiles, seal } from './copy-tree.ts';

interface Restoring {
  /** The kept tree. */
  readonly tree: string;
  /** Where it is to appear; nothing is there. */
  readonly target: string;
  /** A path that does not exist, on the same file system as the target, in a directory the tenant cannot write. */
  readonly staging: string;
  /** Makes a directory tree belong to the tenant. */
  readonly own: (path: string) => Promise<void>;
}

/**
 * Files are shared with the cache, where only the server's user may write them; the directories are the tenant's. Built where
 * the tenant cannot reach and then renamed, so that no link planted in the code is ever followed.
 */
export async function restore({ tree, target, staging, own }: Restoring): Promise<void> {
  await mkdir(staging, { mode: 0o700 });
  const staged = join(staging, 'tree');
  try {
    if (!(await shareFiles(tree, staged, own))) {
      await copyTree(tree, staged);
      await own(staged);
    }
    await rename(staged, target);
  } finally {
    await removeTree(staging);
  }
}

async function shareFiles(tree: string, staged: string, own: (path: string) => Promise<void>): Promise<boolean> {
  await copyDirectories(tree, staged);
  await own(staged);
  if (await linkFiles(tree, staged)) return true;
  await removeTree(staged);
  return false;
}

/** Takes `source`, made by the tenant's steps, away as `tree`. False when the steps made no such directory. */
export async function keep(source: string, tree: string): Promise<boolean> {
  if (!(await isRealDirectory(source))) return false;
  try {
    await rename(source, tree);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EXDEV')) throw error;
    await copyTree(source, tree);
    await removeTree(source);
  }
  // Looked at again where the tenant cannot exchange it: a link would make the server read wherever it points.
  if (!(await isRealDirectory(tree))) return false;
  await seal(tree);
  return true;
}

async function isRealDirectory(path: string): Promise<boolean> {
  return lstat(path).then(
    (stats) => stats.isDirectory(),
    () => false,
  );
}
