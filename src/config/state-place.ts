/**
 * Where the state of a home is once it has been moved (`tancho migrate`). One file, written at once: it is what puts a move in force. The setting
 * `database.url` says where a state begins that was never moved, or has got another address since.
 */
import { open, readFile, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { isRecord } from '../lib/is-record.ts';
import { syncPath } from '../lib/sync-path.ts';
import { ConfigError } from './config-error.ts';

interface StatePlace {
  /** Address of the PostgreSQL; null: the files in the home. */
  readonly url: string | null;
  /** Where it was before; null: in the files. */
  readonly left: string | null;
}

const FILE = 'state.json';

/** Null: it was never moved. */
export async function readStatePlace(home: string): Promise<StatePlace | null> {
  const path = join(home, FILE);
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return null;
    throw new ConfigError(`${path} cannot be read (${error.code ?? 'unknown'}).`, 'Check its owner and permissions.');
  });
  if (text === null) return null;
  try {
    const { url, left }: Record<string, unknown> = asRecord(JSON.parse(text));
    return { url: addressOrNull(url), left: addressOrNull(left) };
  } catch (error) {
    throw new ConfigError(
      `${path} does not say where the state is.`,
      'Remove it, and say it by the setting database.url (none: the files in the home).',
      error,
    );
  }
}

/** On disk when it resolves. */
export async function writeStatePlace(home: string, place: StatePlace): Promise<void> {
  const draft = join(home, `${FILE}.new`);
  const handle = await open(draft, 'w', 0o600);
  try {
    await handle.writeFile(`${JSON.stringify(place)}\n`);
    await handle.sync();
  } finally {
    await handle.close();
  }
  await rename(draft, join(home, FILE));
  await syncPath(home);
}

/** A setting that still names what the state has left is ignored: a server that started with it would go on from old data. */
export function databaseInForce(setting: string | null, place: StatePlace | null): string | null {
  if (place === null) return setting;
  const isLeft = setting === null ? place.left === null : place.left !== null && isSameDatabase(setting, place.left);
  return isLeft ? place.url : (setting ?? place.url);
}

export function isSameDatabase(one: string, other: string): boolean {
  const [a, b] = [new URL(one), new URL(other)];
  const portOf = (url: URL): string => (url.port === '' ? '5432' : url.port);
  return a.hostname === b.hostname && portOf(a) === portOf(b) && a.pathname === b.pathname;
}

function asRecord(value: unknown): Record<string, unknown> {
  if (!isRecord(value)) throw new Error('not an object');
  return value;
}

function addressOrNull(value: unknown): string | null {
  if (value === null) return null;
  if (typeof value !== 'string' || !URL.canParse(value)) throw new Error('not an address');
  return value;
}
