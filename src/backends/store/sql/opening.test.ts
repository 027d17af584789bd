import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createTestDatabase } from '../../../../test/support/postgres.ts';
import { NO_POSTGRES, skipFor } from '../../../../test/support/skips.ts';
import { SILENT } from '../../../lib/logger.ts';
import { newSealKey, Sealer } from '../../../lib/seal.ts';
import { openSqliteFile } from '../../../sql/sqlite-file.ts';
import { expectError } from '../testing/case.ts';
import { app, populate, team, unit, user } from '../testing/records.ts';
import { createSqlStore } from './index.ts';
import type { SqlStoreOptions } from './index.ts';

const deps = { sealer: new Sealer([newSealKey()]), logger: SILENT };
let folder = '';
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tancho-opening-'));
});
afterAll(() => rm(folder, { recursive: true }));

function sqlite(name: string): SqlStoreOptions {
  return { kind: 'sqlite', file: join(folder, name) };
}

async function openAndClose(options: SqlStoreOptions): Promise<void> {
  await (await createSqlStore(options, deps)).close();
}

describe('a SQLite file', () => {
  test('is made in a new folder, for its owner only', async () => {
    const file = join(folder, 'new', 'home', 'tancho.db');
    const store = await createSqlStore({ kind: 'sqlite', file }, deps);
    await populate(store);
    for (const name of [file, `${file}-wal`, `${file}-shm`]) expect((await stat(name)).mode & 0o777).toBe(0o600);
    await store.close();
  });

  test('is migrated once by several at the same time', async () => {
    await Promise.all(Array.from({ length: 4 }, () => openAndClose(sqlite('race.db'))));
    await openAndClose(sqlite('race.db'));
  });

  test('is refused when a newer version made it', async () => {
    await openAndClose(sqlite('newer.db'));
    const handle = await openSqliteFile({ file: join(folder, 'newer.db'), synchronous: 'FULL' });
    handle.exec(`INSERT INTO migrations (name, timestamp) VALUES ('9999_future', '')`);
    handle.close();
    await expect(createSqlStore(sqlite('newer.db'), deps)).rejects.toMatchObject({
      code: 'unavailable',
      message: /newer\.db was made by a newer version of Tancho \(schema 9999_future, this one knows up to \d{4}_\w+\)/,
    });
  });

  test('is refused when it is something else', async () => {
    await writeFile(join(folder, 'text.db'), 'This is certainly no database. '.repeat(100));
    await expect(createSqlStore(sqlite('text.db'), deps)).rejects.toMatchObject({
      message: /is not a SQLite database/,
    });
    const other = await openSqliteFile({ file: join(folder, 'other.db'), synchronous: 'FULL' });
    other.exec('PRAGMA application_id = 7; CREATE TABLE songs (title text)');
    other.close();
    await expect(createSqlStore(sqlite('other.db'), deps)).rejects.toMatchObject({ message: /of another program/ });
    await expectError(createSqlStore({ kind: 'sqlite', file: folder }, deps), 'unavailable');
  });

  test('is waited for when another process keeps it, without holding up the thread', async () => {
    const store = await createSqlStore(sqlite('busy.db'), deps);
    await populate(store, 'shop');
    const other = await openSqliteFile({ file: join(folder, 'busy.db'), synchronous: 'FULL' });
    other.exec('BEGIN IMMEDIATE');
    const writing = store.transact((tx) => tx.setSetting('a', '1'));
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect(other.prepare(`SELECT * FROM settings WHERE key = 'a'`).all()).toEqual([]);
    other.exec('COMMIT');
    await writing;
    expect(await store.setting('a')).toBe('1');
    other.close();
    await store.close();
  });

  test('lists a thousand apps with their teams, and their units', async () => {
    const store = await createSqlStore(sqlite('many.db'), deps);
    await store.transact(async (tx) => {
      await tx.insertUser(user('ann@example.com'));
      await tx.insertTeam(team('red'));
      await tx.insertTeam(team('blue'));
      for (let number = 0; number < 1_000; number++) {
        const name = `app-${number}`;
        await tx.insertApp(app(name, { teams: ['blue', 'red'], cname: [`${name}.example.com`] }));
        await tx.insertUnit(unit(name, 0, { address: { host: '127.0.0.1', port: number + 1 } }));
      }
    });
    const [apps, units] = await Promise.all([store.apps(['red']), store.allUnits()]);
    expect([apps.length, units.length]).toEqual([1_000, 1_000]);
    expect(apps.every(({ teams }) => teams.length === 2)).toBe(true);
    await store.close();
  });
});

const database = await createTestDatabase();
describe('a PostgreSQL', () => {
  afterAll(() => database?.dispose());

  test('out of reach is unavailable, and the password stays secret', async () => {
    const opening = createSqlStore({ kind: 'postgres', url: 'postgres://u:s3cret@127.0.0.1:1/db' }, deps);
    const error = await opening.then(
      () => null,
      (thrown: unknown) => thrown,
    );
    expect(error).toMatchObject({ code: 'unavailable', message: /postgres:\/\/127\.0\.0\.1:1\/db/ });
    expect(JSON.stringify([String(error), error])).not.toContain('s3cret');
  });

  test(
    'is migrated once by several at the same time, and refused when newer',
    skipFor(database === null && NO_POSTGRES),
    async () => {
      const options = { kind: 'postgres', url: database?.url ?? '' } as const;
      await Promise.all(Array.from({ length: 4 }, () => openAndClose(options)));
      const client = new pg.Client({ connectionString: options.url });
      await client.connect();
      await client.query(`INSERT INTO migrations (name, timestamp) VALUES ('9999_future', '')`);
      await expect(createSqlStore(options, deps)).rejects.toMatchObject({ message: /newer version of Tancho/ });
      await client.query(`DELETE FROM migrations WHERE name = '9999_future'`);
      await client.end();
    },
  );

  test(
    'that drops its connections is unavailable, then used again',
    skipFor(database === null && NO_POSTGRES),
    async () => {
      const url = database?.url ?? '';
      const store = await createSqlStore({ kind: 'postgres', url }, deps);
      const client = new pg.Client({ connectionString: url });
      await client.connect();
      const dropAll = () =>
        client.query(
          `select pg_terminate_backend(pid) from pg_stat_activity
         where datname = current_database() and pid <> pg_backend_pid()`,
        );
      await expectError(
        store.transact(async (tx) => {
          await tx.setSetting('a', '1');
          await dropAll();
          await tx.setSetting('b', '1');
        }),
        'unavailable',
      );
      expect(await store.setting('a')).toBeNull();
      await store.transact((tx) => tx.setSetting('a', '2'));
      expect(await store.setting('a')).toBe('2');
      await client.end();
      await store.close();
    },
  );

  test('does not pretend to have stored what it rolled back', skipFor(database === null && NO_POSTGRES), async () => {
    const store = await createSqlStore({ kind: 'postgres', url: database?.url ?? '' }, deps);
    const swallowing = store.transact(async (tx) => {
      await tx.setSetting('c', '1');
      await tx.addMember('gone', 'nobody').catch(() => {});
      await tx.insertSession({ tokenHash: 't', email: 'nobody', createdAt: '', expiresAt: '' }).catch(() => {});
    });
    await expect(swallowing).rejects.toThrow('one of its statements had failed');
    expect(await store.setting('c')).toBeNull();
    await store.close();
  });
});
