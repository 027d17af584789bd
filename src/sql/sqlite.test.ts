import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Kysely, sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { SILENT } from '../lib/logger.ts';
import { openDatabase, withoutSecrets } from './database.ts';
import { patiently } from './patiently.ts';
import { sqlFault, UnstorableValue } from './sql-error.ts';
import { sqliteDialect } from './sqlite-dialect.ts';
import { openSqliteConnections, openSqliteFile } from './sqlite-file.ts';
import { Mutex } from './mutex.ts';

interface Tables {
  t: { id: string; n: number | null; flag: number | null };
}

let folder = '';
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tancho-sqlite-'));
});
afterAll(() => rm(folder, { recursive: true }));

describe('SQLite', () => {
  const file = () => join(folder, 'file.db');
  const create = 'CREATE TABLE IF NOT EXISTS t (id TEXT NOT NULL PRIMARY KEY, n INTEGER, flag INTEGER)';

  test.each(['FULL', 'NORMAL'] as const)('opens with the pragmas wanted, synchronous %s', async (synchronous) => {
    const handle = await openSqliteFile({ file: file(), synchronous });
    const pragma = (name: string) => Object.values(handle.prepare(`PRAGMA ${name}`).all()[0] ?? {})[0];
    expect(['journal_mode', 'foreign_keys', 'synchronous'].map(pragma)).toEqual([
      'wal',
      1,
      synchronous === 'FULL' ? 2 : 1,
    ]);
    handle.exec(create);
    handle.close();
    expect(() => handle.prepare('SELECT 1')).toThrow();
  });

  test('binds booleans as numbers and refuses what cannot be kept', async () => {
    const db = new Kysely<Tables>({
      dialect: sqliteDialect(await openSqliteConnections({ file: file(), synchronous: 'FULL' })),
    });
    const [row] = (await sql<{ a: number; b: number; c: null }>`select ${true} a, ${false} b, ${null} c`.execute(db))
      .rows;
    expect({ ...row }).toEqual({ a: 1, b: 0, c: null });
    for (const value of ['a\0b', undefined, Number.NaN, Infinity, {}, new Date()]) {
      await expect(sql`select ${value}`.execute(db)).rejects.toThrow(UnstorableValue);
    }
    await db.destroy();
  });

  test('reports changes, answers RETURNING, and names what was violated', async () => {
    const db = new Kysely<Tables>({
      dialect: sqliteDialect(await openSqliteConnections({ file: file(), synchronous: 'FULL' })),
    });
    await sql.raw(create).execute(db);
    await db.deleteFrom('t').execute();
    const rows = ['a', 'b', 'c'].map((id) => ({ id, n: 1, flag: null }));
    expect(await db.insertInto('t').values(rows).returning('id').execute()).toHaveLength(3);
    expect((await db.updateTable('t').set({ n: 2 }).executeTakeFirst()).numUpdatedRows).toBe(3n);
    for (const attempt of [1, 2]) {
      const again = await db.insertInto('t').values({ id: 'a', n: attempt, flag: null }).execute().catch(sqlFault);
      expect(again).toBe('unique');
    }
    expect((await db.deleteFrom('t').where('id', '=', 'a').executeTakeFirst()).numDeletedRows).toBe(1n);
    await db.destroy();
  });

  test('lets nothing in between the statements of a transaction', async () => {
    const db = new Kysely<Tables>({
      dialect: sqliteDialect(await openSqliteConnections({ file: file(), synchronous: 'FULL' })),
    });
    await sql.raw(create).execute(db);
    const order: string[] = [];
    const transactions = Array.from({ length: 5 }, (_, number) =>
      db.transaction().execute(async (tx) => {
        for (let step = 0; step < 3; step++) {
          await sql`select ${step}`.execute(tx);
          await new Promise((resolve) => setImmediate(resolve));
          order.push(`t${number}`);
        }
      }),
    );
    const reads = Array.from({ length: 5 }, async (_, number) => {
      await sql`select 1`.execute(db);
      order.push(`r${number}`);
    });
    await Promise.all([...transactions, ...reads]);
    for (const name of ['t0', 't1', 't2', 't3', 't4']) {
      const first = order.indexOf(name);
      expect(order.slice(first, first + 3)).toEqual([name, name, name]);
    }
    expect(order).toHaveLength(20);
    await db.destroy();
  });

  test('reads what is committed, and nothing else, while somebody writes and others wait to', async () => {
    const { db, close } = await openDatabase<Tables>({ kind: 'sqlite', file: file(), synchronous: 'FULL' }, SILENT);
    await sql.raw(create).execute(db);
    await db.deleteFrom('t').execute();
    const count = async (): Promise<number> => (await db.selectFrom('t').selectAll().execute()).length;
    let goOn = (): void => {};
    const going = new Promise<void>((resolve) => (goOn = resolve));
    const row = (id: string) => ({ id, n: 1, flag: null });
    let writing: Promise<unknown> | null = null;
    const begun = new Promise<void>((resolve) => {
      writing = db.transaction().execute(async (tx) => {
        await tx.insertInto('t').values(row('first')).execute();
        resolve();
        await going;
      });
    });
    await begun;
    const order: string[] = [];
    const waiting = ['a', 'b'].map(async (id) => {
      await db.insertInto('t').values(row(id)).execute();
      order.push(id);
      expect(await count()).toBeGreaterThanOrEqual(1 + order.length);
    });
    expect(await count()).toBe(0);
    expect(order).toEqual([]);
    goOn();
    await writing;
    await Promise.all(waiting);
    expect(order).toEqual(['a', 'b']);
    await close();
  });

  test('has one connection read what it changes itself, and nobody change anything in between', async () => {
    const { db, close } = await openDatabase<Tables>({ kind: 'sqlite', file: file(), synchronous: 'FULL' }, SILENT);
    await sql.raw('create temp table noted (name text)').execute(db);
    const note = (name: string, by = db) => sql`insert into noted values (${name})`.execute(by);
    await db.connection().execute(async (own) => {
      await note('own', own);
      void note('other');
      await new Promise((resolve) => setImmediate(resolve));
      expect((await sql`select name from noted`.execute(own)).rows).toHaveLength(1);
    });
    await close();
  });

  test('lets the event loop go on between the transactions of a long line', async () => {
    const { db, close } = await openDatabase<Tables>({ kind: 'sqlite', file: file(), synchronous: 'FULL' }, SILENT);
    await sql.raw(create).execute(db);
    let done = 0;
    const writing = Array.from({ length: 20 }, async () => {
      await db.transaction().execute((tx) => sql`update t set n = 1`.execute(tx));
      done += 1;
    });
    const doneAtTurn = await new Promise<number>((resolve) => setImmediate(() => setImmediate(() => resolve(done))));
    expect(doneAtTurn).toBeLessThan(10);
    await Promise.all(writing);
    await close();
  });

  test('waits for what runs before it closes, and turns later comers away', async () => {
    const database = await openDatabase<Tables>({ kind: 'sqlite', file: file(), synchronous: 'FULL' }, SILENT);
    await sql.raw(create).execute(database.db);
    const writing = database.db.transaction().execute(async (tx) => {
      await new Promise((resolve) => setTimeout(resolve, 30));
      return sql`select 1`.execute(tx);
    });
    const closing = database.close();
    await expect(writing).resolves.toBeDefined();
    await closing;
    const fault = await sql`select 1`.execute(database.db).catch(sqlFault);
    expect(fault).toBe('unreachable');
  });
});

test('SQLite says nothing on standard error', async () => {
  const script = `
    import { openSqliteFile } from ${JSON.stringify(new URL('./sqlite-file.ts', import.meta.url).href)};
    (await openSqliteFile({ file: ${JSON.stringify(join(folder, 'quiet.db'))}, synchronous: 'FULL' })).close();`;
  const { stdout, stderr } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', script]);
  expect([stdout, stderr]).toEqual(['', '']);
});

describe('Mutex', () => {
  test('lets through one at a time, in order', async () => {
    const mutex = new Mutex(1_000);
    const order: number[] = [];
    await Promise.all(
      [1, 2, 3, 4].map(async (number) => {
        await mutex.acquire();
        order.push(number);
        await new Promise((resolve) => setImmediate(resolve));
        order.push(number);
        mutex.release();
      }),
    );
    expect(order).toEqual([1, 1, 2, 2, 3, 3, 4, 4]);
  });

  test('lets a statement wait for one transaction only, and neither line for ever', async () => {
    const mutex = new Mutex(1_000);
    const order: string[] = [];
    await mutex.acquire();
    const lines = ['t1', 't2', 't3', 's1', 's2', 's3', 's4'].map(async (name) => {
      await mutex.acquire(name.startsWith('s') ? 'statements' : 'transactions');
      order.push(name);
      mutex.release();
    });
    mutex.release();
    await Promise.all(lines);
    expect(order).toEqual(['s1', 't1', 's2', 't2', 's3', 't3', 's4']);
  });

  test('lets nobody wait for ever', async () => {
    const mutex = new Mutex(20);
    await mutex.acquire();
    await expect(mutex.acquire()).rejects.toThrow('busy for 20 ms');
    mutex.release();
    await mutex.acquire();
  });
});

test('patience ends, and is for busy databases only', async () => {
  const busy = Object.assign(new Error('database is locked'), { errcode: 5 });
  let attempts = 0;
  const failing = patiently(() => {
    attempts += 1;
    throw busy;
  }, 40);
  await expect(failing).rejects.toBe(busy);
  expect(attempts).toBeGreaterThan(1);
  const other = new Error('other');
  attempts = 0;
  await expect(
    patiently(() => {
      attempts += 1;
      throw other;
    }),
  ).rejects.toBe(other);
  expect(attempts).toBe(1);
});

test.each([
  ['postgres://u:secret@db.example.com:5433/tancho?sslmode=require', 'postgres://db.example.com:5433/tancho'],
  ['postgres:///tancho?host=/run/postgresql&password=secret', 'postgres://localhost/tancho'],
  ['not a url with secret', 'the configured PostgreSQL'],
])('%s is shown without its secrets', (url, shown) => {
  expect(withoutSecrets(url)).toBe(shown);
});
