/** Packs on their way: made of what is in a local repository, put into the store in pieces, and fetched from there. */
import { createHash } from 'node:crypto';
import { mkdir, open, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { PackRecord } from '../../../../domain/deploys/repository-store.ts';
import type { Store } from '../../../../domain/store.ts';
import { randomHex } from '../../../../lib/ids.ts';
import { quarantinePath } from '../commit-source.ts';
import { type Git, mustRunGit } from '../git-command.ts';

/** The packs of a repository are other ones by now. */
export class PackGone extends Error {
  override readonly name = 'PackGone';
}

const PART_BYTES = 1024 * 1024;
const GIT_MS = 600_000;
const MAX_NAMES_BYTES = 256 * 1024 * 1024;

/** A directory that is gone afterwards; what a crash leaves of it is removed by the next start. */
export async function inScratch<T>(git: Git, work: (directory: string) => Promise<T>): Promise<T> {
  const directory = join(git.home, `packs-${randomHex(16)}`);
  await mkdir(directory, { mode: 0o700 });
  try {
    return await work(directory);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

/** The path of one pack of the objects that a push has sent; null when it sent none. */
export async function packOfPush(
  git: Git,
  repository: string,
  quarantine: string,
  directory: string,
): Promise<string | null> {
  const objects = quarantinePath(repository, quarantine);
  const names = await readdir(objects).catch(() => []);
  const packs = (await readdir(join(objects, 'pack')).catch(() => [])).filter((name) => name.endsWith('.pack'));
  const isLoose = names.some((name) => /^[0-9a-f]{2}$/.test(name));
  const [only, ...more] = packs;
  if (only !== undefined && more.length === 0 && !isLoose) return join(objects, 'pack', only);
  if (only === undefined && !isLoose) return null;
  const at = `--git-dir=${repository}`;
  const listing = await mustRunGit(git, [at, 'cat-file', '--batch-all-objects', '--batch-check=%(objectname)'], {
    env: { GIT_OBJECT_DIRECTORY: objects, GIT_ALTERNATE_OBJECT_DIRECTORIES: '' },
    maxBytes: MAX_NAMES_BYTES,
    timeoutMs: GIT_MS,
  });
  const env = {
    GIT_OBJECT_DIRECTORY: objects,
    GIT_ALTERNATE_OBJECT_DIRECTORIES: JSON.stringify(join(repository, 'objects')),
  };
  return packObjects(git, repository, { directory, flags: [], input: listing.toString(), env });
}

/** All that `tips` lead to and `without` does not, as one pack; its path, null when that is nothing. */
export async function packOfTips(
  git: Git,
  repository: string,
  { tips, without }: { readonly tips: readonly string[]; readonly without: readonly string[] },
  directory: string,
): Promise<string | null> {
  if (tips.length === 0) return null;
  const input = [...tips, ...without.map((object) => `^${object}`)].map((line) => `${line}\n`).join('');
  return packObjects(git, repository, { directory, flags: ['--revs'], input, env: {} });
}

interface Packing {
  readonly directory: string;
  readonly flags: readonly string[];
  readonly input: string;
  readonly env: Readonly<Record<string, string>>;
}

async function packObjects(git: Git, repository: string, packing: Packing): Promise<string | null> {
  const { directory, flags, input, env } = packing;
  const args = ['pack-objects', '-q', '--non-empty', '--delta-base-offset', ...flags, join(directory, 'made')];
  await mustRunGit(git, [`--git-dir=${repository}`, ...args], { input, env, timeoutMs: GIT_MS, isBounded: true });
  const made = (await readdir(directory)).find((name) => name.startsWith('made-') && name.endsWith('.pack'));
  return made === undefined ? null : join(directory, made);
}

export async function storePack(
  store: Pick<Store, 'transact'>,
  app: string,
  path: string,
  now: () => Date,
): Promise<PackRecord> {
  const id = randomHex(16);
  const hash = createHash('sha256');
  let [bytes, parts] = [0, 0];
  for await (const data of partsOf(path)) {
    const row = { app, pack: id, part: parts, data, at: now().toISOString() };
    await store.transact((tx) => tx.putPackPart(row));
    hash.update(data);
    bytes += data.length;
    parts += 1;
  }
  return { id, digest: hash.digest('hex'), bytes, parts };
}

async function* partsOf(path: string): AsyncGenerator<Buffer> {
  const file = await open(path, 'r');
  try {
    for (;;) {
      const { buffer, bytesRead } = await file.read({ buffer: Buffer.alloc(PART_BYTES) });
      if (bytesRead > 0) yield buffer.subarray(0, bytesRead);
      if (bytesRead < PART_BYTES) return;
    }
  } finally {
    await file.close();
  }
}

/** Puts a pack among those of a local repository. Throws PackGone when the store has it no more. */
export async function fetchPack(
  git: Git,
  repository: string,
  store: Pick<Store, 'packPart'>,
  { app, pack }: { readonly app: string; readonly pack: PackRecord },
): Promise<void> {
  await inScratch(git, async (directory) => {
    const path = join(directory, 'fetched.pack');
    const hash = createHash('sha256');
    const file = await open(path, 'wx', 0o444);
    try {
      for (let part = 0; part < pack.parts; part++) {
        const data = await store.packPart(app, pack.id, part);
        if (data === null) throw new PackGone(`a pack of ${app} is gone`);
        hash.update(data);
        await file.writeFile(data);
      }
      await file.sync();
    } finally {
      await file.close();
    }
    if (hash.digest('hex') !== pack.digest) throw new Error(`a pack of ${app} is damaged in the database`);
    await mustRunGit(git, [`--git-dir=${repository}`, 'index-pack', path], { timeoutMs: GIT_MS, isBounded: true });
    const target = join(repository, 'objects', 'pack');
    await mkdir(target, { recursive: true });
    const made = new Set(await readdir(directory));
    // An index says that its pack is there.
    for (const ending of ['pack', 'rev', 'idx'].filter((name) => made.has(`fetched.${name}`))) {
      await rename(join(directory, `fetched.${ending}`), join(target, `pack-${pack.digest.slice(0, 40)}.${ending}`));
    }
  });
}
