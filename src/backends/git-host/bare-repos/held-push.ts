/**
 * A push between the switch to its code and the move of its reference. git keeps the objects of a push in a quarantine, and throws
 * them away when the platform dies under it; by then the new code may serve. So they get second names, which cost no room, and the
 * next start can still move the reference.
 */
import { copyFile, link, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import type { HeldPush } from '../../../domain/deploys/git-host.ts';
import { quarantinePath } from './commit-source.ts';
import { type Git, runGit } from './git-command.ts';

const FOLDER = 'tancho-push';
const NOTE = 'push.json';
const LOOK_THROUGH_MS = 300_000;

export async function holdPush(repository: string, push: HeldPush & { readonly quarantine: string }): Promise<void> {
  const { quarantine, deploy, ref, from, to } = push;
  await forgetPush(repository);
  await nameAgain(quarantinePath(repository, quarantine), objectsOf(repository));
  const held: HeldPush = { deploy, ref, from, to };
  // Last: without it nothing counts as held.
  await writeFile(join(repository, FOLDER, NOTE), JSON.stringify(held));
}

export async function heldPush(repository: string): Promise<HeldPush | null> {
  const text = await readFile(join(repository, FOLDER, NOTE), 'utf8').catch(() => '');
  // A file that was being written when the power went.
  return text.endsWith('}') ? (JSON.parse(text) as HeldPush) : null;
}

export async function forgetPush(repository: string): Promise<void> {
  await rm(join(repository, FOLDER), { recursive: true, force: true });
}

/** False when the reference has moved meanwhile, or something is missing: as git does it, nothing is referred to that is not whole. */
export async function movePushed(git: Git, repository: string, { ref, from, to }: HeldPush): Promise<boolean> {
  await nameAgain(objectsOf(repository), join(repository, 'objects'));
  const run = (...args: readonly string[]) =>
    runGit(git, [`--git-dir=${repository}`, ...args], { timeoutMs: LOOK_THROUGH_MS });
  const whole = await run('rev-list', '--objects', '--quiet', to, '--not', '--all');
  if (whole.code !== 0) return false;
  return (await run('update-ref', '-m', 'push, finished later', ref, to, from)).code === 0;
}

function objectsOf(repository: string): string {
  return join(repository, FOLDER, 'objects');
}

/** Gives all files of a directory a name in another one; what is there already is the same, being named by its content. */
async function nameAgain(source: string, target: string): Promise<void> {
  await mkdir(target, { recursive: true });
  const entries = await readdir(source, { recursive: true, withFileTypes: true }).catch(whenNothingCame);
  // A `.keep` is git's own, for as long as it is at work on the pack.
  const files = entries.filter((entry) => entry.isFile() && !entry.name.endsWith('.keep'));
  const paths = files.map((entry) => relative(source, join(entry.parentPath, entry.name)));
  // An index says that its pack is there.
  for (const path of paths.sort((a, b) => Number(a.endsWith('.idx')) - Number(b.endsWith('.idx')))) {
    await mkdir(dirname(join(target, path)), { recursive: true });
    await link(join(source, path), join(target, path)).catch(async (error: NodeJS.ErrnoException) => {
      if (error.code === 'EEXIST') return;
      if (error.code !== 'EPERM' && error.code !== 'EMLINK' && error.code !== 'ENOTSUP') throw error;
      await copyFile(join(source, path), join(target, path));
    });
  }
}

/** A push of commits that are there already. */
function whenNothingCame(error: NodeJS.ErrnoException): [] {
  if (error.code === 'ENOENT') return [];
  throw error;
}
