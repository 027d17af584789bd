import { execFile } from 'node:child_process';
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { promisify } from 'node:util';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { randomHex } from '../../../lib/ids.ts';
import { SILENT } from '../../../lib/logger.ts';
import { openDatabase } from '../../../sql/database.ts';
import { migrate } from '../../../sql/migrate.ts';
import { bounds, entry, messages } from '../testing/case.ts';
import { createSqlLogStore } from './index.ts';
import { migrations } from './migrations/index.ts';

const run = promisify(execFile);
let folder = '';
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'freed-room-'));
});
afterEach(() => rm(folder, { recursive: true }));

const KIB = 1024;
const noise = (count: number) => Array.from({ length: count }, () => entry(randomHex(8 * KIB)));

it('what is removed is given back to the disk', async () => {
  const file = join(folder, 'logs.db');
  const store = await createSqlLogStore({ kind: 'sqlite', file }, { logger: SILENT });
  for (let batch = 0; batch < 4; batch++) await store.append(noise(1_000));
  await store.prune(bounds({ entriesPerApp: 10 }));
  expect(await messages(store)).toHaveLength(10);
  await store.close();
  expect((await stat(file)).size).toBeLessThan(12 * KIB * KIB);
});

it('a full disk refuses lines, loses none it has taken, and makes room by the oldest of the largest', async ({
  skip,
}) => {
  try {
    await run('mount', ['-t', 'tmpfs', '-o', 'size=40m', 'tmpfs', folder]);
  } catch (error) {
    skip(`no file system can be made here: ${String(error)}`);
  }
  const store = await createSqlLogStore({ kind: 'sqlite', file: join(folder, 'logs.db') }, { logger: SILENT });
  try {
    await store.append([entry('of a quiet app', { app: 'blog' })]);
    await store.prune(bounds({}));
    let taken = 0;
    const fill = async (): Promise<void> => {
      for (; taken < 100; taken += 1)
        await store.append(noise(100), { unitId: 'aaaaaaaaaaaa', cursor: String(taken + 1) });
    };
    await expect(fill()).rejects.toMatchObject({ code: 'unavailable' });
    expect(await store.cursor('aaaaaaaaaaaa')).toBe(String(taken));
    expect(await messages(store)).toHaveLength(taken * 100);
    const removed = await store.prune(bounds({ giveBackBytes: 8 * KIB * KIB }));
    expect(removed).toBeGreaterThan(0);
    await store.append(noise(100), { unitId: 'aaaaaaaaaaaa', cursor: String(taken + 1) });
    expect(await messages(store)).toHaveLength((taken + 1) * 100 - removed);
    expect(await messages(store, 'blog')).toEqual(['of a quiet app']);
    expect((await store.removed('shop'))?.entries).toBe(removed);
  } finally {
    await store.close();
    await run('umount', ['--lazy', folder]);
  }
});

it('a file of an earlier version becomes one that shrinks, with every line in its place', async () => {
  const file = join(folder, 'logs.db');
  const old = await openDatabase({ kind: 'sqlite', file, synchronous: 'NORMAL' }, SILENT);
  const { migrations: all, table } = migrations('sqlite');
  const before = Object.fromEntries(Object.entries(all).filter(([name]) => name < '0003'));
  await migrate(old, { table, migrations: before });
  await old.close();
  const raw = new DatabaseSync(file);
  raw.exec(`insert into log_apps (app, entries, bytes) values ('blog', 1, 4), ('shop', 2500, 20000)`);
  const insert = raw.prepare(
    `insert into log_entries values (?, ?, '2026-03-04T05:06:07.089Z', 'web', 'shop/0', 'aa', 3, ?)`,
  );
  raw.exec('begin');
  for (let seq = 1; seq <= 2_500; seq++) insert.run('shop', seq * 2, `line ${seq}`);
  insert.run('blog', 3, 'line');
  raw.exec(`update log_counter set last_seq = 5000; commit`);
  raw.close();
  const store = await createSqlLogStore({ kind: 'sqlite', file }, { logger: SILENT });
  try {
    const found = await store.query({ app: 'shop', lines: 0 });
    expect(found).toHaveLength(2_500);
    const expected = {
      seq: 2_468,
      app: 'shop',
      source: 'web',
      unit: 'shop/0',
      unitId: 'aa',
      release: 3,
      message: 'line 1234',
    };
    expect(found[1_233]).toMatchObject(expected);
    expect(await messages(store, 'blog')).toEqual(['line']);
    const [next] = await store.append([entry('next')]);
    expect(next?.seq).toBe(5_001);
    expect(await store.prune(bounds({ entriesPerApp: 100 }))).toBe(2_401);
  } finally {
    await store.close();
  }
  const now = new DatabaseSync(file);
  expect(now.prepare('pragma auto_vacuum').all()[0]?.['auto_vacuum']).toBe(2);
  now.close();
});
