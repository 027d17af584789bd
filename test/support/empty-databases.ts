/**
 * Empty SQLite databases of the newest schema. One of each is made by all migrations, once in a process; whoever needs one gets a copy, which
 * costs a hundredth of that. That migrations lead there is the subject of tests of their own.
 */
import { copyFile, mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createSqlLogStore } from '../../src/backends/log-store/sql/index.ts';
import { createSqlStore } from '../../src/backends/store/sql/index.ts';
import type { LogStore } from '../../src/domain/logs/log-store.ts';
import type { Store } from '../../src/domain/store.ts';
import { SILENT } from '../../src/lib/logger.ts';
import { newSealKey, Sealer } from '../../src/lib/seal.ts';

/** Of the state in all copies of this process. */
export const COPY_SEALER = new Sealer([newSealKey()]);

let made: Promise<string> | null = null;

/** Resolves with the path of the copy in `directory`. */
export async function copyOfEmpty(name: 'tancho.db' | 'logs.db', directory: string): Promise<string> {
  made ??= makeBoth();
  const file = join(directory, name);
  await copyFile(join(await made, name), file);
  return file;
}

/** A store on a copy in `directory`. */
export async function openEmptyStore(directory: string): Promise<Store> {
  const deps = { sealer: COPY_SEALER, logger: SILENT };
  return createSqlStore({ kind: 'sqlite', file: await copyOfEmpty('tancho.db', directory) }, deps);
}

/** A log store on a copy in `directory`. */
export async function openEmptyLogStore(directory: string): Promise<LogStore> {
  return createSqlLogStore({ kind: 'sqlite', file: await copyOfEmpty('logs.db', directory) }, { logger: SILENT });
}

async function makeBoth(): Promise<string> {
  const directory = await mkdtemp(join(process.env['TANCHO_TEST_RUN'] ?? tmpdir(), 'tancho-empty-'));
  const at = (name: string) => ({ kind: 'sqlite', file: join(directory, name) }) as const;
  const stores = [
    await createSqlStore(at('tancho.db'), { sealer: COPY_SEALER, logger: SILENT }),
    await createSqlLogStore(at('logs.db'), { logger: SILENT }),
  ];
  for (const store of stores) await store.close();
  return directory;
}
