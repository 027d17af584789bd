/**
 * What lies in the directory of the repositories: `<app>.git`, and `.platform` with the configuration and the hooks that
 * hold for all of them. Rewritten at every start, so an upgrade changes every repository at once.
 */
import { access, chmod, constants, mkdir, readdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PlatformError } from '../../../domain/errors.ts';
import { randomHex } from '../../../lib/ids.ts';
import { CONFIG_FILE, type Git, mustRunGit } from './git-command.ts';

const PLATFORM_DIR = '.platform';
const REMOVED = /^\.removed-[0-9a-f]+$/;
const REPOSITORY = /^([a-z](?:[a-z0-9-]{0,61}[a-z0-9])?)\.git$/;

interface LayoutOptions {
  readonly root: string;
  readonly program: string;
  /** Text of the pre-receive hook. */
  readonly preReceive: string;
  readonly maxPushBytes: number;
  readonly maxMemoryBytes: number;
}

export function repositoryPath(root: string, app: string): string {
  if (!REPOSITORY.test(`${app}.git`)) throw new PlatformError('app.invalid_name', 'This is not the name of an app.');
  return join(root, `${app}.git`);
}

function quoted(value: string): string {
  return `"${value.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`;
}

/**
 * The `receive.fsck` exceptions are flaws of old clients, found in the history of well-known projects, that harm nobody.
 * A shallow push is welcome: build machines clone with `--depth 1`, and a deploy needs one tree.
 */
function configuration(hooks: string, maxPushBytes: number): string {
  return `[core]
\thooksPath = ${quoted(hooks)}
\tlogAllRefUpdates = true
\tfsync = loose-object,pack,pack-metadata,reference
\tfsyncMethod = batch
\tbigFileThreshold = 32m
\tsharedRepository = false
[safe]
\tdirectory = *
[user]
\tname = tancho
\temail = tancho@localhost
[receive]
\tfsckObjects = true
\tmaxInputSize = ${maxPushBytes}
\tautogc = false
\tdenyNonFastForwards = false
\tdenyDeleteCurrent = ignore
\tshallowUpdate = true
\tadvertisePushOptions = false
[receive "fsck"]
\tmissingSpaceBeforeDate = ignore
\tbadTimezone = ignore
\tzeroPaddedFilemode = ignore
[transfer]
\thideRefs = refs/tancho
\tadvertiseSID = false
[uploadpack]
\tallowAnySHA1InWant = false
\tallowFilter = true
[pack]
\tthreads = 2
\twindowMemory = 64m
[gc]
\tautoDetach = false
\tauto = 2000
\tautoPackLimit = 50
[protocol]
\tallow = never
[protocol "file"]
\tallow = never
`;
}

/** Prepares the directory and clears away what a crash left. Throws when hooks could not run there. */
export async function prepareLayout(options: LayoutOptions): Promise<Git> {
  const home = join(options.root, PLATFORM_DIR);
  const hooks = join(home, 'hooks');
  await mkdir(hooks, { recursive: true, mode: 0o700 });
  await writeAtomically(join(hooks, 'pre-receive'), options.preReceive, 0o755);
  await writeAtomically(join(home, CONFIG_FILE), configuration(hooks, options.maxPushBytes), 0o644);
  // git skips a hook it may not execute, and would then take pushes that deploy nothing.
  await access(join(hooks, 'pre-receive'), constants.X_OK).catch((cause: unknown) => {
    throw new PlatformError('unavailable', `Programs cannot be executed in ${options.root}.`, {
      hint: 'Move TANCHO_HOME to a file system that is not mounted "noexec".',
      cause,
    });
  });
  await clearRemains(options.root);
  return { program: options.program, home, maxMemoryBytes: options.maxMemoryBytes };
}

async function writeAtomically(path: string, text: string, mode: number): Promise<void> {
  const fresh = `${path}.${randomHex(8)}`;
  await writeFile(fresh, text, { mode });
  await chmod(fresh, mode);
  await rename(fresh, path);
}

/** Half-made and half-removed repositories, and locks and quarantines of git processes that died with the machine. */
async function clearRemains(root: string): Promise<void> {
  for (const name of await readdir(root)) {
    if (REMOVED.test(name)) await rm(join(root, name), { recursive: true, force: true });
    if (REPOSITORY.test(name)) await clearRepository(join(root, name));
  }
  const home = join(root, PLATFORM_DIR);
  for (const name of await readdir(home)) {
    if (name === 'hooks' || name === CONFIG_FILE) continue;
    await rm(join(home, name), { recursive: true, force: true });
  }
}

/** Locks and quarantines; only while nobody writes there. A repository that is gone needs none of it. */
export async function clearRepository(repository: string): Promise<void> {
  for (const name of await readdir(repository)) {
    if (name.endsWith('.lock')) await rm(join(repository, name), { force: true });
  }
  for (const entry of await readdir(join(repository, 'refs'), { recursive: true, withFileTypes: true }).catch(
    whenGone,
  )) {
    if (entry.isFile() && entry.name.endsWith('.lock')) await rm(join(entry.parentPath, entry.name), { force: true });
  }
  for (const name of await readdir(join(repository, 'objects')).catch(whenGone)) {
    if (!name.startsWith('tmp_objdir-') && !name.startsWith('incoming-')) continue;
    await rm(join(repository, 'objects', name), { recursive: true, force: true });
  }
}

/** A directory that is damaged so far that it is not there has nothing to be cleared. */
function whenGone(error: NodeJS.ErrnoException): [] {
  if (error.code === 'ENOENT') return [];
  throw error;
}

/** True of one that git itself would take for a repository. */
export async function hasRepository(root: string, app: string): Promise<boolean> {
  const path = repositoryPath(root, app);
  const [head, ...directories] = await Promise.all(
    ['HEAD', 'objects', 'refs'].map((name) => stat(join(path, name)).catch(() => null)),
  );
  return head?.isFile() === true && directories.every((found) => found?.isDirectory() === true);
}

/** Made aside and moved into place, so a repository is there whole or not at all. */
export async function createRepository(git: Git, root: string, app: string): Promise<void> {
  const path = repositoryPath(root, app);
  if (await hasRepository(root, app)) return;
  const fresh = join(git.home, `new-${randomHex(16)}`);
  try {
    await mustRunGit(git, ['init', '--quiet', '--bare', '--template=', '--initial-branch=main', '--', fresh]);
    await rename(fresh, path).catch(async (error: unknown) => {
      if (await hasRepository(root, app)) return;
      if (!isTaken(error)) throw error;
      // One that has lost its HEAD: made whole in place, with what it still has.
      await mustRunGit(git, ['init', '--quiet', '--bare', '--template=', '--initial-branch=main', '--', path]);
    });
  } finally {
    await rm(fresh, { recursive: true, force: true });
  }
}

function isTaken(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return code === 'ENOTEMPTY' || code === 'EEXIST';
}

export async function removeRepository(root: string, app: string): Promise<void> {
  const doomed = join(root, `.removed-${randomHex(16)}`);
  try {
    await rename(repositoryPath(root, app), doomed);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return;
    throw error;
  }
  await rm(doomed, { recursive: true, force: true });
}

export async function listRepositories(root: string): Promise<string[]> {
  const names = (await readdir(root)).map((name) => REPOSITORY.exec(name)?.[1]);
  return names.filter((name) => name !== undefined).sort();
}
