/** The program of the version before the newest schema, compiled from the history of this repository. */
import { execFile } from 'node:child_process';
import { mkdir, readdir, symlink } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { compile } from './built.ts';
import { findProgram } from '../../src/lib/find-program.ts';

const run = promisify(execFile);
const ROOT = path.resolve(fileURLToPath(new URL('../..', import.meta.url)));
const MIGRATIONS = 'src/backends/store/sql/migrations';
const ARCHIVE_MS = 60_000;

export const WITHOUT_HISTORY = 'the history of this repository is not here';

/** The last commit whose program knows all migrations but the newest; null: the history is not here. */
export async function commitBeforeNewestSchema(): Promise<string | null> {
  const names = (await readdir(path.join(ROOT, MIGRATIONS))).filter((name) => /^\d{4}-/.test(name)).sort();
  const file = `${MIGRATIONS}/${names.at(-1) ?? ''}`;
  try {
    const added = await git('log', '-1', '--diff-filter=A', '--format=%H', '--', file);
    return added === '' ? null : await git('rev-parse', '--verify', '--quiet', `${added}^`);
  } catch {
    return null;
  }
}

/** Below the folder; answers its main.js. */
export async function earlierBuild(folder: string, commit: string): Promise<string> {
  const root = path.join(folder, 'earlier');
  const archive = path.join(folder, 'earlier.tar');
  await mkdir(root);
  await git('archive', '--format=tar', `--output=${archive}`, commit);
  await run(findProgram('tar') ?? 'tar', ['-xf', archive, '-C', root], { timeout: ARCHIVE_MS });
  await symlink(path.join(ROOT, 'node_modules'), path.join(root, 'node_modules'));
  await compile(root, path.join(root, 'dist'));
  return path.join(root, 'dist', 'main.js');
}

async function git(...args: string[]): Promise<string> {
  const { stdout } = await run('git', args, { cwd: ROOT, timeout: ARCHIVE_MS });
  return stdout.trim();
}
