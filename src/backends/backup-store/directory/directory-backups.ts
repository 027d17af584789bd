/** Backups in a directory of this machine, made by a process of its own, so that neither reading nor packing holds up control. */
import { spawn } from 'node:child_process';
import { extname, relative, sep } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type {
  Backup,
  BackupContents,
  BackupSource,
  BackupStore,
  CopiedState,
} from '../../../domain/backups/backup-store.ts';
import { PlatformError } from '../../../domain/errors.ts';
import { type BackupManifest, listBackups } from '../../../lib/backups/manifest.ts';
import { demandSpawned } from '../../../lib/demand-spawned.ts';
import { demandGnuTar } from '../../../lib/backups/start-tar.ts';
import type { BackupJob, StateReader } from '../../../lib/backups/write-backup.ts';
import type { Said } from './dialogue.ts';

export interface DirectoryBackupsOptions {
  readonly home: string;
  readonly directory: string;
  readonly keep: number;
  readonly version: string;
  /** File names in the home, that of the state first; none where they are kept elsewhere. */
  readonly databases: readonly string[];
  /** That of a copy, which nobody else has open. */
  readonly openState: (file: string) => Promise<CopiedState & { close(): Promise<void> }>;
}

/** What cannot be made again, or would be another one. */
const PATHS = ['secret.key', 'ssh_host_ed25519_key', 'config.yaml', 'state.json', 'mail', 'sandbox/tenants.json'];
const MOST_MS = 6 * 3_600_000;
const MOST_TEXT = 16 * 1024;

export function createDirectoryBackups(options: DirectoryBackupsOptions): BackupStore {
  const { home, directory, keep, version, databases, openState } = options;
  /** Of the home, with what says that a tool or a layer is whole; elsewhere are those of the machine. */
  const below = (path: string): string[] => {
    const parts = relative(home, path).split(sep);
    if (parts[0] === '' || parts[0] === '..' || parts.includes('..')) return [];
    return [(parts[0] === 'toolchains' ? parts.slice(0, 2) : parts).join('/')];
  };
  const pathsOf = ({ artifacts, needed }: BackupContents): string[] => [
    ...PATHS,
    ...artifacts.map((name) => `slugs/${name}`),
    ...new Set(needed.flatMap(below)),
  ];
  const withState = async <T>(copy: string | null, work: (copied: CopiedState | null) => Promise<T>): Promise<T> => {
    if (copy === null) return work(null);
    const copied = await openState(copy);
    return work(copied).finally(() => copied.close());
  };
  const readerOf = (source: BackupSource): StateReader => {
    let wanted: BackupContents = { artifacts: [], needed: [], apps: [], volumes: [] };
    return {
      async paths(copy) {
        wanted = await withState(copy, (copied) => source.contents(copied));
        return pathsOf(wanted);
      },
      async contents(copy) {
        const { apps, volumes } = await withState(copy, (copied) => source.settled(copied, wanted));
        const left = databases.length === 0 ? ['the database, which is kept elsewhere'] : [];
        return { apps, volumes, 'not in it': [...left, 'files of volumes', 'data of services'] };
      },
    };
  };
  return {
    place: directory,
    async make(source, at, signal) {
      await demandGnuTar().catch(noGnuTar);
      const job = { home, directory, at: at.toISOString(), version, databases, keep };
      return toBackup(await written(job, readerOf(source), signal));
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

/** Null: half a line, of one that was killed. */
function whole(line: string): Said | null {
  try {
    return JSON.parse(line) as Said;
  } catch {
    return null;
  }
}

function written(job: BackupJob, reader: StateReader, signal: AbortSignal): Promise<BackupManifest> {
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
    let manifest: BackupManifest | null = null;
    let [problem, failure]: [string, unknown] = ['', null];
    const send = (message: unknown): void => void child.stdin.write(`${JSON.stringify(message)}\n`);
    const answer = async (line: string): Promise<void> => {
      const said = whole(line);
      if (said === null) return;
      if ('manifest' in said) manifest = said.manifest;
      else send(await reader[said.asks](said.copy));
    };
    createInterface({ input: child.stdout }).on('line', (line) => {
      answer(line).catch((error: unknown) => {
        failure = error;
        child.stdin.end();
      });
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => (problem = (problem + text).slice(-MOST_TEXT)));
    child.stdin.on('error', () => undefined);
    send(job);
    child.once('error', (error) =>
      reject(signal.aborted ? error : unavailable('The backup could not be begun', error)),
    );
    child.once('close', (code, killed) => {
      if (code === 0 && manifest !== null) return resolve(manifest);
      if (failure !== null) return reject(failure);
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
