/**
 * Where an edge has its files. One that is a user of its own has directories of its own below those of the server, which keep what the server itself goes
 * by: its programs, its log. They are found by the names that they have without it, too. Whatever lies in a directory of that user is looked at as what a
 * stranger may have put there: no link is followed.
 */
import { constants } from 'node:fs';
import { chmod, chown, type FileHandle, lstat, mkdir, open, readdir, rm, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import type { EdgeProcessOptions } from './edge-options.ts';

export type Places = Pick<EdgeProcessOptions, 'stateDir' | 'runDir' | 'user'>;

const STATE = 'state';
const RUN = 'edge';
/** What an edge writes, by which the next one serves from its start. */
const KEPT = ['table.json', 'certificates.json', 'tickets.json'];
const FOUND_BY = ['edge.sock', 'edge.pid'];

/** The directories that are passed to the edge. */
export function placesOf({ stateDir, runDir, user }: Places): Omit<Places, 'user'> {
  if (typeof user !== 'number') return { stateDir, runDir };
  return { stateDir: join(stateDir, STATE), runDir: join(runDir, RUN) };
}

/** Of any edge of this home. */
export function ownStateDirs({ stateDir }: Places): string[] {
  return [stateDir, join(stateDir, STATE)];
}

/** Where an edge may answer, the likelier first. */
export function everyRunDir(options: Places): string[] {
  const { runDir } = placesOf(options);
  return [...new Set([runDir, options.runDir, join(options.runDir, RUN)])];
}

/** Where a running edge may listen for the server. */
export function socketsOf(options: EdgeProcessOptions): string[] {
  return everyRunDir(options).map((directory) => join(directory, 'edge.sock'));
}

/** Before the edge is started; another one may run yet. */
export async function giveOwnPlaces(options: Places): Promise<void> {
  const { stateDir, runDir, user = null } = options;
  if (user === null) {
    // It would write what is found there into the place of somebody else.
    for (const path of FOUND_BY.map((name) => join(runDir, name)))
      if (await isLink(path)) await rm(path, { force: true });
    return takeOver(join(stateDir, STATE), stateDir, null);
  }
  // Others find their way in, to what is theirs.
  for (const directory of [stateDir, runDir]) await chmod(directory, 0o711);
  const places = placesOf(options);
  for (const directory of [places.stateDir, places.runDir]) {
    await mkdir(directory, { recursive: true, mode: 0o700 });
    if ((await lstat(directory)).uid !== user) await chown(directory, user, user);
    for (const name of await readdir(directory)) await giveFile(join(directory, name), user);
  }
  await takeOver(stateDir, places.stateDir, user);
}

/** An edge that was another user has left it there. One that has other names is no file of an edge. */
async function giveFile(path: string, user: number): Promise<void> {
  const file = await plainFile(path);
  try {
    const stats = await file?.stat();
    if (stats?.nlink === 1 && stats.uid !== user) await file?.chown(user, user);
  } finally {
    await file?.close();
  }
}

/** Where an edge has written last that was another user. */
async function takeOver(from: string, to: string, user: number | null): Promise<void> {
  for (const name of KEPT) {
    const text = await plainText(join(from, name));
    if (text === null) continue;
    await rm(join(to, name), { force: true });
    const file = await open(join(to, name), 'wx', 0o600);
    try {
      await file.writeFile(text);
      if (user !== null) await file.chown(user, user);
    } finally {
      await file.close();
    }
  }
}

/** Null of what is no file. */
async function plainText(path: string): Promise<string | null> {
  const file = await plainFile(path);
  try {
    return file === null ? null : await file.readFile('utf8');
  } finally {
    await file?.close();
  }
}

async function plainFile(path: string): Promise<FileHandle | null> {
  try {
    const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    if ((await file.stat()).isFile()) return file;
    await file.close();
    return null;
  } catch (error) {
    if (['ENOENT', 'ELOOP', 'ENXIO'].includes((error as NodeJS.ErrnoException).code ?? '')) return null;
    throw error;
  }
}

/** Once no other edge has files there any more. */
export async function leadToOwnPlaces(options: Places): Promise<void> {
  const { stateDir, runDir } = options;
  const own = placesOf(options);
  for (const directory of ownStateDirs(options).filter((one) => one !== own.stateDir))
    for (const name of KEPT) await rm(join(directory, name), { force: true });
  if (own.stateDir === stateDir) return;
  for (const name of FOUND_BY) {
    const path = join(runDir, name);
    if (await isLink(path)) continue;
    await rm(path, { force: true });
    await symlink(join(RUN, name), path);
  }
}

async function isLink(path: string): Promise<boolean> {
  return (await lstat(path).catch(() => null))?.isSymbolicLink() === true;
}
