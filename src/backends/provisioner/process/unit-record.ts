/** What is kept on disk about one unit, so that a new control finds it again. No environment: that may hold secrets. */
import { mkdir, open, readdir, readFile, rename, rmdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Comeback, UnitExited } from '../../../domain/units/provisioner.ts';
import { randomHex } from '../../../lib/ids.ts';
import { removeTree } from '../../../lib/remove-tree.ts';

const LEFT = 'left-';

export interface UnitRecord {
  readonly format: 1;
  readonly id: string;
  readonly app: string;
  readonly process: string;
  readonly artifact: string;
  readonly port: number | null;
  /** Of its own network; null or absent where it shares the machine's. */
  readonly address?: string | null;
  /** Port of `address` that leads to one of the unit's; null or absent where its ports are those of the address. */
  readonly door?: number | null;
  readonly memoryBytes: number;
  /** Names of volumes that this life of it may read only; none while it starts. */
  readonly readOnly?: readonly string[];
  /** The main process is the app itself, with no shell before it. */
  readonly isSimple: boolean;
  /** TCP ports that the unit's image says it listens on; absent where it runs none. */
  readonly exposed?: readonly number[];
  /** `starting`: written before the process exists, so its pids are not known yet. */
  readonly state: 'starting' | 'running' | 'dead';
  readonly bootId: string;
  readonly rootPid: number;
  readonly rootStart: string;
  readonly mainPid: number;
  readonly mainStart: string;
  readonly exit: Omit<UnitExited, 'id'> | null;
  /** The exit was handed to the listener. */
  readonly isReported: boolean;
  /** Deaths while control was away, after which it was started again. */
  readonly comebacks?: Comeback['exits'];
  /** Where it was seen ready while control was away. */
  readonly readyAt?: Comeback['address'];
  /** Output before this offset may be a hole. */
  readonly freed: number;
  /** Output that will not be read: it could not be stored. */
  readonly givenUp?: { readonly from: number; readonly upTo: number; readonly lines: number };
  /** Milliseconds since 1970 when remove() came while output was still to be read; else null. */
  readonly removedAt: number | null;
}

export interface UnitPaths {
  readonly directory: string;
  readonly record: string;
  readonly output: string;
  readonly home: string;
  readonly tmp: string;
}

export function unitPaths(units: string, id: string): UnitPaths {
  const directory = join(units, id);
  return {
    directory,
    record: join(directory, 'unit.json'),
    output: join(directory, 'output'),
    home: join(directory, 'home'),
    tmp: join(directory, 'tmp'),
  };
}

export async function makeUnitDirectories(paths: UnitPaths): Promise<void> {
  await mkdir(paths.home, { recursive: true, mode: 0o711 });
  await mkdir(paths.tmp, { recursive: true, mode: 0o711 });
}

/**
 * Removes what a life of the unit has left. Under other names: when this process is killed meanwhile the program that removes them goes on, and is not to
 * come upon those of the next life.
 */
export async function removeUnitDirectories({ directory, home, tmp }: UnitPaths): Promise<void> {
  for (const path of [home, tmp]) {
    // Most are empty, or not there.
    const isGone = await rmdir(path).then(
      () => true,
      (error: unknown) => (error as NodeJS.ErrnoException).code === 'ENOENT',
    );
    if (!isGone) await rename(path, join(directory, `${LEFT}${randomHex(8)}`));
  }
  const names = await readdir(directory).catch(() => []);
  await removeTree(...names.filter((name) => name.startsWith(LEFT)).map((name) => join(directory, name)));
}

/** Whole or not at all, also when the machine loses power. */
export async function saveRecord(paths: UnitPaths, record: UnitRecord): Promise<void> {
  const draft = `${paths.record}.new`;
  const file = await open(draft, 'w', 0o600);
  try {
    await file.writeFile(JSON.stringify(record));
    await file.datasync();
  } finally {
    await file.close();
  }
  await rename(draft, paths.record);
}

/** Null when the directory holds no unit (an interrupted start or removal). */
export async function loadRecord(paths: UnitPaths): Promise<UnitRecord | null> {
  try {
    const parsed = JSON.parse(await readFile(paths.record, 'utf8')) as Partial<UnitRecord>;
    return parsed.format === 1 ? (parsed as UnitRecord) : null;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT' || error instanceof SyntaxError) return null;
    throw error;
  }
}
