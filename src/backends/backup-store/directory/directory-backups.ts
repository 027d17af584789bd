/** Backups in a directory of this machine, made by a process of its own, so that neither reading nor packing holds up control. */
import { spawn } from 'node:child_process';
import { extname, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Backup, BackupStore } from '../../../domain/backups/backup-store.ts';
import { PlatformError } from '../../../domain/errors.ts';
import { type BackupManifest, listBackups } from '../../../lib/backups/manifest.ts';
import { demandSpawned } from '../../../lib/demand-spawned.ts';
import { demandGnuTar } from '../../../lib/backups/start-tar.ts';
import type { BackupJob } from '../../../lib/backups/write-backup.ts';

export interface DirectoryBackupsOptions {
  readonly home: string;
  readonly directory: string;
  readonly keep: number;
  readonly version: string;
  /** File names in the home; none where they are kept elsewhere. */
  readonly databases: readonly string[];
}

/** What cannot be made again, or would be another one. */
const PATHS = ['secret.key', 'ssh_host_ed25519_key', 'config.yaml', 'state.json', 'mail', 'repos'];
const MOST_MS = 6 * 3_600_000;
const MOST_TEXT = 16 * 1024;
const MOST_REPORT = 1024 * 1024;

export function createDirectoryBackups(options: DirectoryBackupsOptions): BackupStore {
  const { home, directory, keep, version, databases } = options;
  /** Of the home, with what says that a tool or a layer is whole; elsewhere are those of the machine. */
  const below = (path: string): string[] => {
    const parts = relative(home, path).split(sep);
    if (parts[0] === '' || parts[0] === '..' || parts.includes('..')) return [];
    return [(parts[0] === 'toolchains' ? parts.slice(0, 2) : parts).join('/')];
  };
  return {
    place: directory,
    async make({ artifacts, needed, apps, volumes }, at, signal) {
      await demandGnuTar().catch(noGnuTar);
      const left = databases.length === 0 ? ['the database, which is kept elsewhere'] : [];
      const paths = [...PATHS, ...artifacts.map((name) => `slugs/${name}`), ...new Set(needed.flatMap(below))];
      const contents = { apps, volumes, 'not in it': [...left, 'files of volumes', 'data of services'] };
      const job = { home, directory, at: at.toISOString(), version, databases, paths, contents, keep };
      return toBackup(await written(job, signal));
    },
    async list() {
      try {
        return (await listBackups(directory)).map(toBackup);
      } catch (error) {
        throw unavailable(`The backups in ${directory} cannot be read`, error);
      }
    },
  };
}

function toBackup({ name, madeAt, version, files }: BackupManifest): Backup {
  return { name, madeAt, version, bytes: files.reduce((sum, { bytes }) => sum + bytes, 0) };
}

function written(job: BackupJob, signal: AbortSignal): Promise<BackupManifest> {
  const program = fileURLToPath(new URL(`./write-main${extname(import.meta.url)}`, import.meta.url));
  return new Promise((resolve, reject) => {
    const child = demandSpawned(
      spawn(process.execPath, [program], {
        stdio: ['pipe', 'pipe', 'pipe'],
        signal,
        timeout: MOST_MS,
        killSignal: 'SIGKILL',
      }),
    );
    let [report, problem] = ['', ''];
    child.stdout.setEncoding('utf8').on('data', (text: string) => (report = (report + text).slice(0, MOST_REPORT)));
    child.stderr.setEncoding('utf8').on('data', (text: string) => (problem = (problem + text).slice(-MOST_TEXT)));
    child.stdin.on('error', () => undefined).end(JSON.stringify(job));
    child.once('error', (error) =>
      reject(signal.aborted ? error : unavailable('The backup could not be begun', error)),
    );
    child.once('close', (code, killed) => {
      if (code === 0) return resolve(JSON.parse(report) as BackupManifest);
      const why = problem.trim().split('\n').at(-1) ?? '';
      reject(unavailable('The backup failed', new Error(why === '' ? `it was ended by ${killed ?? code}` : why)));
    });
  });
}

function noGnuTar(error: Error): never {
  throw new PlatformError('unavailable', `No backup can be made: ${error.message}`, {
    hint: 'Install GNU tar (package tar) and see that it comes first in the PATH of the server, then: tancho server backup',
    cause: error,
  });
}

function unavailable(what: string, cause: unknown): PlatformError {
  const why = cause instanceof Error ? cause.message : String(cause);
  return new PlatformError('unavailable', `${what}: ${why.replace(/\.$/, '')}.`, {
    hint: 'Look whether backup.directory can be written and its disk has room, then: tancho server backup',
    cause,
  });
}
