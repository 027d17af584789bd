/**
 * Writes a backup beside those that are there, whole or not at all, and removes the oldest. The state is copied first, then everything that it names,
 * while the platform goes on.
 */
import { createWriteStream } from 'node:fs';
import { mkdir, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { constants, createZstdCompress } from 'node:zlib';
import { snapshotDatabase } from '../backup-sets.ts';
import { isThere } from '../is-there.ts';
import { syncPath } from '../sync-path.ts';
import { linkRepositories } from './link-repositories.ts';
import { startTar } from './start-tar.ts';
import { ARCHIVE, backupName, type BackupManifest, digestOf, listBackups, MANIFEST } from './manifest.ts';

export interface BackupJob {
  readonly home: string;
  /** Made where it is not there. */
  readonly directory: string;
  /** ISO 8601 UTC. */
  readonly at: string;
  readonly version: string;
  /** File names of databases in the home; the first has the state. None: they are elsewhere. */
  readonly databases: readonly string[];
  /** So many of the newest stay. */
  readonly keep: number;
}

/** What only its reader knows of the state. Each gets the file with the copy, null where there is none, and may have it open until it resolves. */
export interface StateReader {
  /** Paths below the home of what the state names, files and directories; what is not there is left out. */
  paths(copy: string | null): Promise<readonly string[]>;
  /** Once they have been read: may change the copy. */
  contents(copy: string | null): Promise<BackupManifest['contents']>;
}

/** Below the home, while one is made: the copy of the state, and second names of what git may remove any moment. */
const STAGE = /^\.tancho-\d{8}T\d{9}Z$/;
const REPOSITORIES = 'repos';
/** What vanishes meanwhile is read once more. */
const ATTEMPTS = 3;
/** Of files that others write, tar takes what there is. */
const CHANGED_MEANWHILE = 1;
const DRAFT = /^\.tancho-\d{8}T\d{9}Z\.new$/;
const QUICK = { params: { [constants.ZSTD_c_compressionLevel]: 3 } };

/** One at a time for each home, and each directory. */
export async function writeBackup(job: BackupJob, reader: StateReader): Promise<BackupManifest> {
  const { home, directory, databases, version, at } = job;
  const name = backupName(new Date(at));
  const draft = join(directory, `.${name}.new`);
  const stage = join(home, `.${name}`);
  await mkdir(directory, { recursive: true, mode: 0o700 });
  for (const left of (await readdir(directory)).filter((one) => DRAFT.test(one))) await remove(join(directory, left));
  for (const left of (await readdir(home)).filter((one) => STAGE.test(one))) await remove(join(home, left));
  try {
    await mkdir(draft, { mode: 0o700 });
    await mkdir(stage, { mode: 0o700 });
    const contents = await fill(draft, { ...job, stage }, reader);
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
  } finally {
    await remove(stage);
  }
}

async function fill(
  draft: string,
  { home, stage, databases: [state, ...others] }: Pick<BackupJob, 'home' | 'databases'> & { readonly stage: string },
  reader: StateReader,
): Promise<BackupManifest['contents']> {
  const copy = state === undefined ? null : join(stage, state);
  if (state !== undefined) await snapshotDatabase(join(home, state), join(stage, state));
  await linkRepositories(join(home, REPOSITORIES), join(stage, REPOSITORIES));
  const paths = await reader.paths(copy);
  for (const other of others) await snapshotDatabase(join(home, other), join(draft, other));
  await archive({ home, stage, paths }, join(draft, ARCHIVE));
  const contents = await reader.contents(copy);
  if (state !== undefined) await snapshotDatabase(join(stage, state), join(draft, state));
  return contents;
}

async function existing(home: string, paths: readonly string[]): Promise<string[]> {
  const found: string[] = [];
  for (const path of paths) if (await isThere(join(home, path))) found.push(path);
  return found;
}

/** By the system's program, which names can be no text to it, nor paths too long, and which reads no holes. */
async function archive(
  { home, stage, paths }: { readonly home: string; readonly stage: string; readonly paths: readonly string[] },
  file: string,
): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    const named = ['-C', home, '--null', '-T', '-', '-C', stage, REPOSITORIES];
    const tar = startTar(['-c', '--format=posix', '--sparse', ...named]);
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
