/** What the references of a local repository name, and how they become those of the store. */
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { RepositoryRecord } from '../../../../domain/deploys/repository-store.ts';
import { type Git, mustRunGit } from '../git-command.ts';
import { isUpload } from './shared-refs.ts';

const GIT_MS = 120_000;
const MAX_REFS_BYTES = 64 * 1024 * 1024;

export async function localRefs(git: Git, repository: string): Promise<Record<string, string>> {
  const args = [`--git-dir=${repository}`, 'for-each-ref', '--format=%(objectname) %(refname)'];
  const text = (await mustRunGit(git, args, { maxBytes: MAX_REFS_BYTES, timeoutMs: GIT_MS })).toString();
  const lines = text.split('\n').filter((line) => line !== '');
  return Object.fromEntries(lines.map((line) => [line.slice(line.indexOf(' ') + 1), line.slice(0, line.indexOf(' '))]));
}

export async function localHead(repository: string): Promise<string> {
  const text = await readFile(join(repository, 'HEAD'), 'utf8');
  return /^ref: (\S+)\n$/.exec(text)?.[1] ?? 'refs/heads/main';
}

/** Commits whose parents nobody has sent, sorted. */
export async function localShallow(repository: string): Promise<string[]> {
  const text = await readFile(join(repository, 'shallow'), 'utf8').catch(() => '');
  return text.split('\n').filter(Boolean).sort();
}

/** All objects are here. Archives that are not in the store yet keep theirs. */
export async function takeRefs(git: Git, repository: string, record: RepositoryRecord): Promise<void> {
  const before = await localRefs(git, repository);
  const gone = Object.keys(before).filter((ref) => !Object.hasOwn(record.refs, ref) && !isUpload(ref));
  const other = Object.entries(record.refs).filter(([ref, object]) => before[ref] !== object);
  const change = async (lines: readonly string[]): Promise<void> => {
    if (lines.length === 0) return;
    const input = `${lines.join('\n')}\n`;
    await mustRunGit(git, [`--git-dir=${repository}`, 'update-ref', '--stdin'], { input, timeoutMs: GIT_MS });
  };
  const shallow = join(repository, 'shallow');
  if (record.shallow.length === 0) await rm(shallow, { force: true });
  else await writeFile(shallow, `${record.shallow.join('\n')}\n`);
  // First: a name may be a directory for others from now on.
  await change(gone.map((ref) => `delete ${ref}`));
  await change(other.map(([ref, object]) => `update ${ref} ${object}`));
  if ((await localHead(repository)) !== record.head) {
    await mustRunGit(git, [`--git-dir=${repository}`, 'symbolic-ref', 'HEAD', record.head]);
  }
}
