/** Writes a backup beside those that are there, whole or not at all, and removes the oldest. */
import { createWriteStream } from 'node:fs';
import { access, mkdir, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { constants, createZstdCompress } from 'node:zlib';
import { snapshotDatabase } from '../backup-sets.ts';
import { syncPath } from '../sync-path.ts';
import { startTar } from './start-tar.ts';
import { ARCHIVE, backupName, type BackupManifest, digestOf, listBackups, MANIFEST } from './manifest.ts';

export interface BackupJob {
  readonly home: string;
  /** Made where it is not there. */
  readonly directory: string;
  /** ISO 8601 UTC. */
  readonly at: string;
  readonly version: string;
  /** File names of databases in the home. */
  readonly databases: readonly string[];
  /** Paths below the home, of files and directories; what is not there is left out. */
  readonly paths: readonly string[];
  readonly contents: BackupManifest['contents'];
  /** So many of the newest stay. */
  readonly keep: number;
}

/** Repositories are packed anew now and then, and what vanishes meanwhile is read once more. */
const ATTEMPTS = 3;
/** Of files that others write, tar takes what there is. */
const CHANGED_MEANWHILE = 1;
const DRAFT = /^\.tancho-\d{8}T\d{9}Z\.new$/;
const QUICK = { params: { [constants.ZSTD_c_compressionLevel]: 3 } };

/** One at a time for each directory. */
export async function writeBackup(job: BackupJob): Promise<BackupManifest> {
  const { home, directory, databases, version, contents, at } = job;
  const name = backupName(new Date(at));
  const draft = join(directory, `.${name}.new`);
  await mkdir(directory, { recursive: true, mode: 0o700 });
  for (const left of (await readdir(directory)).filter((one) => DRAFT.test(one))) await remove(join(directory, left));
  await mkdir(draft, { mode: 0o700 });
  try {
    // The databases first: whatever they name is in the files that are read after them.
    for (const database of databases) await snapshotDatabase(join(home, database), join(draft, database));
    await archive(home, job.paths, join(draft, ARCHIVE));
    const files = [];
    for (const file of [...databases, ARCHIVE]) files.push({ name: file, ...(await digestOf(join(draft, file))) });
    const manifest: BackupManifest = { form: 1, name, madeAt: at, version, home, files, contents };
    await writeFile(join(draft, MANIFEST), `${JSON.stringify(manifest, null, 2)}\n`, { mode: 0o600, flush: true });
    await syncPath(draft);
    await rename(draft, join(directory, name));
    await syncPath(directory);
    for (const old of (await listBackups(directory)).slice(job.keep)) await remove(join(directory, old.name));
    return manifest;
  } catch (error) {
    // The disk may be full of it.
    await remove(draft);
    throw error;
  }
}

async function existing(home: string, paths: readonly string[]): Promise<string[]> {
  const found: string[] = [];
  for (const path of paths) {
    const isThere = await access(join(home, path)).then(
      () => true,
      () => false,
    );
    if (isThere) found.push(path);
  }
  return found;
}

/** By the system's program, which names can be no text to it, nor paths too long, and which reads no holes. */
async function archive(home: string, paths: readonly string[], file: string): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    const tar = startTar(['-c', '--format=posix', '--sparse', '-C', home, '--null', '-T', '-']);
    tar.child.stdin.end((await existing(home, paths)).map((path) => `${path}\0`).join(''));
    const output = createWriteStream(file, { mode: 0o600, flush: true });
    const written = pipeline(tar.child.stdout, createZstdCompress(QUICK), output);
    written.catch(() => tar.child.kill('SIGKILL'));
    const { code, errors } = await tar.ended;
    if (code === 0 || code === CHANGED_MEANWHILE) return await written;
    if (attempt >= ATTEMPTS || !errors.includes('No such file')) {
      if (errors === '') await written;
      throw new Error(errors === '' ? `tar ended with ${code}` : errors);
    }
  }
}

function remove(path: string): Promise<void> {
  return rm(path, { recursive: true, force: true });
}
