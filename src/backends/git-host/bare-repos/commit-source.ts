/** Lays out the tree of one commit in a directory: looked through first, then written by git itself. */
import { rm, unlink } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { Failure } from '../../../domain/failure.ts';
import type { SourceTree, Submodule } from '../../../domain/deploys/builder.ts';
import { deadline } from '../../../lib/deadline.ts';
import { randomHex } from '../../../lib/ids.ts';
import { type Git, runGit } from './git-command.ts';
import { invalidSource } from './invalid-source.ts';
import { escapingLinks } from './links.ts';
import { lfsPointers } from './lfs-pointers.ts';
import { listTree, type TreeLimits, unknownCommit } from './tree-listing.ts';

interface CommitSource {
  readonly repository: string;
  readonly commit: string;
  /** Where git keeps the objects of a push that is not accepted yet. */
  readonly quarantine: string | undefined;
  readonly limits: TreeLimits;
  readonly timeoutMs: number;
  /** Gets a line for the pusher about what was left out. */
  readonly note: (line: string) => void;
}

/** What is not in the repository is in the folder of whoever works on it. */
const SENT_INSTEAD = 'To deploy the files themselves: tancho deploy, in a directory that has them (git lfs pull).';
const COMMIT = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/;
const QUARANTINE = /^(?:tmp_objdir-)?incoming-[A-Za-z0-9]+$/;

export function isCommitId(text: string): boolean {
  return COMMIT.test(text);
}

export function commitSource(git: Git, source: CommitSource): SourceTree {
  let submodules: readonly Submodule[] = [];
  return {
    submodules: () => submodules,
    async extract(directory, signal) {
      const limited = deadline(source.timeoutMs, signal);
      try {
        submodules = await extract(git, source, directory, limited.signal);
      } catch (error) {
        signal.throwIfAborted();
        if (!limited.signal.aborted) throw error;
        throw invalidSource('Laying out the files of the commit took too long.', 'Push a smaller tree.');
      } finally {
        limited.clear();
      }
    },
  };
}

async function extract(
  git: Git,
  source: CommitSource,
  directory: string,
  signal: AbortSignal,
): Promise<readonly Submodule[]> {
  if (!isCommitId(source.commit)) throw invalidSource('This is not a commit id.', 'Use the full 40 digits.');
  const env = objectEnvironment(source);
  const { repository, commit, limits } = source;
  const [type, listing] = await Promise.all([
    runGit(git, [`--git-dir=${repository}`, 'cat-file', '-t', commit], { env, signal }),
    listTree(git, { repository, commit, env, limits }, signal),
  ]);
  if (type.code !== 0) throw unknownCommit(commit);
  if (type.stdout.toString().trim() !== 'commit') {
    throw invalidSource('What was pushed is not a commit.', 'Push a branch, not a tag or a tree.');
  }
  const leaving = escapingLinks(await linkTargets(git, source, listing.links, signal));
  if (leaving === null)
    throw invalidSource('The links of the commit lead through too many others.', 'Push fewer links.');
  await checkOut(git, source, directory, signal);
  // Nothing has followed them so far, and nothing gets the chance to. git writes no file below a link.
  for (const path of leaving) await unlink(Buffer.concat([Buffer.from(`${directory}/`), Buffer.from(path, 'latin1')]));
  noteLeftOut(source, 'Links that lead out of the repository are left out', leaving);
  const pointers = await lfsPointers(directory, listing);
  noteLeftOut(source, 'Files kept with Git LFS are not fetched, the app gets pointers in place of', pointers);
  if (pointers.length > 0) source.note(SENT_INSTEAD);
  return listing.submodules;
}

function noteLeftOut(source: CommitSource, what: string, paths: readonly string[]): void {
  if (paths.length === 0) return;
  const some = paths.slice(0, 5).map((path) => Buffer.from(path, 'latin1').toString());
  source.note(`${what}: ${some.join(', ')}${paths.length > 5 ? ', ...' : ''}`);
}

/** The quarantine's name comes from the hook; only its last part is used, and only inside this repository. */
export function quarantinePath(repository: string, quarantine: string): string {
  const name = basename(quarantine);
  if (!QUARANTINE.test(name)) throw new Error('the quarantine of the push has an unknown name');
  return join(repository, 'objects', name);
}

function objectEnvironment({ repository, quarantine }: CommitSource): Record<string, string> {
  if (quarantine === undefined) return {};
  return {
    GIT_OBJECT_DIRECTORY: quarantinePath(repository, quarantine),
    GIT_ALTERNATE_OBJECT_DIRECTORIES: JSON.stringify(join(repository, 'objects')),
  };
}

async function linkTargets(
  git: Git,
  source: CommitSource,
  links: ReadonlyMap<string, string>,
  signal: AbortSignal,
): Promise<Map<string, string>> {
  const targets = new Map<string, string>();
  if (links.size === 0) return targets;
  const ids = [...new Set(links.values())];
  const { stdout, code, truncated } = await runGit(git, [`--git-dir=${source.repository}`, 'cat-file', '--batch'], {
    env: objectEnvironment(source),
    input: `${ids.join('\n')}\n`,
    maxBytes: 64 * 1024 * 1024,
    signal,
  });
  if (code !== 0 || truncated) throw invalidSource('The links of the commit cannot be read.', 'Push fewer links.');
  const texts = new Map<string, string>();
  for (let at = 0; at < stdout.length;) {
    const lineEnd = stdout.indexOf(10, at);
    const [id = '', kind = '', size = ''] = stdout.subarray(at, lineEnd).toString('latin1').split(' ');
    if (lineEnd < 0 || kind !== 'blob') throw invalidSource('A link of the commit has no target.', 'Push it again.');
    texts.set(id, stdout.subarray(lineEnd + 1, lineEnd + 1 + Number(size)).toString('latin1'));
    at = lineEnd + 1 + Number(size) + 1;
  }
  for (const [path, id] of links) targets.set(path, texts.get(id) ?? '/');
  return targets;
}

async function checkOut(git: Git, source: CommitSource, directory: string, signal: AbortSignal): Promise<void> {
  const index = join(git.home, `index-${randomHex(16)}`);
  const args = [
    `--git-dir=${source.repository}`,
    `--work-tree=${directory}`,
    'read-tree',
    '--reset',
    '-u',
    source.commit,
  ];
  try {
    const { code, stderr } = await runGit(git, args, {
      env: { ...objectEnvironment(source), GIT_INDEX_FILE: index },
      timeoutMs: source.timeoutMs,
      signal,
    });
    if (code === 0) return;
    // For a large file git gives no reason, but there is hardly another one.
    if (/No space left on device|Disk quota exceeded|unable to write file/.test(stderr)) {
      throw new Failure('disk_full', 'The disk of the server is full.', { hint: 'Ask the operator to make room.' });
    }
    throw invalidSource(
      `git cannot lay out the files of the commit: ${stderr.split('\n')[0] ?? ''}`,
      'Check that the repository can be cloned and checked out.',
    );
  } finally {
    await rm(index, { force: true });
    await rm(`${index}.lock`, { force: true });
  }
}
