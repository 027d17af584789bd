/**
 * Bare git repositories as they are at one moment, while git writes to them: every file gets a second name. What refers comes before what is referred
 * to, so whatever a reference names is there; what git moves while it packs is looked for last where it moves to.
 */
import { copyFile, link, mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';

/** Of processes that are at work now: locks, and below `objects` quarantines and half-written packs. */
const LOCK = /\.lock$/;
const UNFINISHED = /^tmp_|^incoming-|\.keep$/;
/** What refers: pushes that are committed and whose branch has not moved, loose references, packed ones. Each moves to the next. */
const REFERRING = ['tancho-push', 'refs', 'packed-refs'];
/** Is written to in place, so a second name would have what comes later. */
const APPENDED = 'logs';
/** Each time another process has packed it meanwhile. */
const ATTEMPTS = 20;

/** `from`: a directory of repositories, and of what else belongs to them. */
export async function linkRepositories(from: string, to: string): Promise<void> {
  await mkdir(to, { recursive: true, mode: 0o700 });
  for (const name of await namesIn(from)) {
    // One that is being removed.
    if (name.startsWith('.removed-')) continue;
    const [source, target] = [join(from, name), join(to, name)];
    await (name.endsWith('.git') ? linkRepository(source, target) : linkTree(source, target));
  }
}

async function linkRepository(from: string, to: string): Promise<void> {
  await mkdir(to, { mode: 0o700 });
  for (const name of REFERRING) await linkTree(join(from, name), join(to, name));
  const done = [...REFERRING, 'objects'];
  const others = (await namesIn(from)).filter((name) => !done.includes(name) && !LOCK.test(name));
  for (const name of others) await linkTree(join(from, name), join(to, name), name === APPENDED ? copyOne : linkFile);
  const [objects, linked] = [join(from, 'objects'), join(to, 'objects')];
  await mkdir(linked, { mode: 0o700 });
  const loose = (await namesIn(objects)).filter((name) => name !== 'pack' && !UNFINISHED.test(name));
  for (const name of loose) await linkTree(join(objects, name), join(linked, name));
  await linkPacks(join(objects, 'pack'), join(linked, 'pack'));
}

/** A new pack is there before the old ones go, so those that stay while they are linked are all. */
async function linkPacks(from: string, to: string): Promise<void> {
  await mkdir(to, { mode: 0o700 });
  const packs = async (): Promise<string[]> => (await namesIn(from)).filter((name) => !UNFINISHED.test(name)).sort();
  for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) {
    const names = await packs();
    for (const name of names) await linkFile(join(from, name), join(to, name));
    if (`${await packs()}` === `${names}`) return;
  }
  throw new Error(`${from} changes again and again`);
}

async function linkTree(from: string, to: string, take = linkFile): Promise<void> {
  let names: string[];
  try {
    names = await readdir(from);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOTDIR') return take(from, to);
    if (code === 'ENOENT') return;
    throw error;
  }
  await mkdir(to, { mode: 0o700 });
  for (const name of names) if (!LOCK.test(name)) await linkTree(join(from, name), join(to, name), take);
}

/** One that has gone meanwhile is no fault here: it is where it has been moved to, or is not asked for. */
async function linkFile(from: string, to: string): Promise<void> {
  await link(from, to).catch(async ({ code }: NodeJS.ErrnoException) => {
    // A file system without second names, or another one.
    if (code !== 'EEXIST' && code !== 'ENOENT') await copyOne(from, to);
  });
}

async function copyOne(from: string, to: string): Promise<void> {
  await copyFile(from, to).catch(unlessGone);
}

async function namesIn(directory: string): Promise<string[]> {
  return (await readdir(directory).catch(unlessGone)) ?? [];
}

function unlessGone(error: NodeJS.ErrnoException): void {
  if (error.code !== 'ENOENT') throw error;
}
