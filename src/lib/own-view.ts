/** Has this process, and what it starts, see no more of closed directories than is shown. Takes root, and a mount namespace of its own. */
import { spawnSync } from 'node:child_process';
import { chmodSync, closeSync, mkdirSync, openSync, statSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { findProgram } from './find-program.ts';

/** What a process sees of directories that its user cannot enter; absolute paths. */
export interface OwnView {
  readonly closed: readonly string[];
  /** Directories and programs below them; all else is hidden. */
  readonly shown: readonly string[];
}

const MOUNT_MS = 60_000;
/** The one that is not the input, the output or errors. */
const HANDED = '/proc/self/fd/3';

export function showOnly({ closed, shown }: OwnView): void {
  // What is opened now can be mounted when its path is hidden.
  const opened = shown.map((path) => ({ path, fd: openSync(path, 'r'), isDirectory: statSync(path).isDirectory() }));
  for (const directory of closed)
    mount(['-t', 'tmpfs', '-o', 'nosuid,nodev,mode=755,size=64k,nr_inodes=1024', 'tmpfs', directory]);
  for (const { path, fd, isDirectory } of opened) {
    enterable(isDirectory ? path : dirname(path), closed);
    if (!isDirectory) writeFileSync(path, '');
    mount(['--no-canonicalize', '--bind', HANDED, path], fd);
    closeSync(fd);
  }
}

/** Makes the directory and those above it, for everybody whatever the mask of this process says. */
function enterable(directory: string, closed: readonly string[]): void {
  if (closed.includes(directory) || statSync(directory, { throwIfNoEntry: false }) !== undefined) return;
  enterable(dirname(directory), closed);
  mkdirSync(directory);
  chmodSync(directory, 0o755);
}

function mount(args: readonly string[], fd?: number): void {
  const stdio = ['ignore', 'ignore', 'pipe', ...(fd === undefined ? [] : [fd])] as const;
  const { status, stderr, error } = spawnSync(findProgram('mount') ?? 'mount', args, {
    stdio: [...stdio],
    timeout: MOUNT_MS,
  });
  if (status === 0) return;
  throw new Error(`mount ${args.join(' ')}: ${error?.message ?? stderr.toString().trim()}`);
}
