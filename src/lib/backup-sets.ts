/**
 * Copies of the databases that are made before an upgrade changes them: one folder per upgrade below `backups/` in the home, named
 * after the start that began it. Owns where they are and how many are kept; who copies what is the databases' business.
 */
import { mkdir, readdir, readlink, rename, rm, rmdir, symlink } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { isThere } from './is-there.ts';
import { syncPath } from './sync-path.ts';

export interface BackupSet {
  /** Name of the folder: ISO 8601 UTC without punctuation, such as `20261123T164000123Z`. */
  readonly name: string;
  /** The databases in it, by file name. */
  readonly files: readonly string[];
}

const KEPT = 3;
const NAME = /^\d{8}T\d{9}Z$/;
/** Leads to the set of an upgrade that is not over: what failed starts leave may be half of it, so only the first copy is the way back. */
const UPGRADING = 'upgrading';

/** Folder for what the start at this time copies, unless it goes on with an upgrade; made by the first copy. */
export function backupSetOf(home: string, at: Date): string {
  return join(backupsOf(home), at.toISOString().replace(/[-:.]/g, ''));
}

/** Newest first. */
export async function listBackupSets(home: string): Promise<BackupSet[]> {
  const names = (await readdir(backupsOf(home)).catch(none)).filter((name) => NAME.test(name)).sort();
  const sets = await Promise.all(
    names.reverse().map(async (name) => {
      const files = await readdir(join(backupsOf(home), name));
      return { name, files: files.filter((file) => file.endsWith('.db')).sort() };
    }),
  );
  return sets.filter(({ files }) => files.length > 0);
}

/**
 * Copies an open database into the folder of a set, whole or not at all, and removes the oldest sets. Of an upgrade that an earlier start has begun it
 * is that set, and a database that is in it stays as it was then.
 */
export async function copyIntoSet(wanted: string, file: string, name: string): Promise<void> {
  const backups = dirname(wanted);
  await mkdir(backups, { recursive: true, mode: 0o700 });
  const upgrading = join(backups, UPGRADING);
  await symlink(basename(wanted), upgrading).catch(unlessThere);
  const set = join(backups, basename(await readlink(upgrading)));
  await mkdir(set, { recursive: true, mode: 0o700 });
  if (await isThere(join(set, name))) return;
  try {
    await snapshotDatabase(file, join(set, name));
  } catch (error) {
    // It would count as one of those that are kept. Not when the copy of another database is in it.
    await rmdir(set).then(
      () => rm(upgrading),
      () => undefined,
    );
    throw error;
  }
  await syncPath(backups);
  const names = (await readdir(backups)).filter((known) => NAME.test(known)).sort();
  for (const old of names.slice(0, -KEPT)) await rm(join(backups, old), { recursive: true, force: true });
}

/** All databases are what the program needs: the next upgrade is another one, with a set of its own. */
export async function endUpgrade(home: string): Promise<void> {
  await rm(join(backupsOf(home), UPGRADING), { force: true });
}

/**
 * Puts the databases of a set in the place of those in the home, each at once; nothing may have them open. What they replace
 * is kept in `backups/replaced` until the next time.
 */
export async function restoreBackupSet(home: string, set: BackupSet): Promise<void> {
  const replaced = join(backupsOf(home), 'replaced');
  const fresh = (name: string): string => join(home, `${name}.restored`);
  const draft = `${replaced}.new`;
  // All that takes long, and may find the disk full, comes before anything is replaced, and leaves nothing behind where it fails.
  try {
    for (const name of set.files) await snapshotDatabase(join(backupsOf(home), set.name, name), fresh(name));
    await rm(draft, { recursive: true, force: true });
    await mkdir(draft, { mode: 0o700 });
    for (const name of set.files) await snapshotDatabase(join(home, name), join(draft, name));
  } catch (error) {
    for (const path of [...set.files.map(fresh), draft]) await rm(path, { recursive: true, force: true });
    throw error;
  }
  await rm(replaced, { recursive: true, force: true });
  await rename(draft, replaced);
  for (const name of set.files) {
    // Their write-ahead logs would be taken for the restored one's; the copy above has what they held.
    for (const ending of ['-wal', '-shm']) await rm(join(home, `${name}${ending}`), { force: true });
    await rename(fresh(name), join(home, name));
  }
  await syncPath(home);
  await endUpgrade(home);
}

/** A consistent copy, also of a database whose newest changes are in its write-ahead log. On disk when it resolves. */
export async function snapshotDatabase(from: string, to: string): Promise<void> {
  const draft = `${to}.new`;
  await rm(draft, { force: true });
  try {
    vacuumInto(from, draft);
  } catch (error) {
    // The disk may be full of it.
    await rm(draft, { force: true });
    throw error;
  }
  await syncPath(draft);
  await rename(draft, to);
  await syncPath(join(to, '..'));
}

/** In one turn of the event loop: the mask holds for all of this process. */
function vacuumInto(from: string, draft: string): void {
  const database = new DatabaseSync(from);
  const mask = process.umask(0o177);
  try {
    database.prepare('VACUUM INTO ?').run(draft);
  } finally {
    process.umask(mask);
    database.close();
  }
}

function backupsOf(home: string): string {
  return join(home, 'backups');
}

function unlessThere(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EEXIST') throw error;
}

function none(error: NodeJS.ErrnoException): string[] {
  if (error.code !== 'ENOENT') throw error;
  return [];
}
