/** Everything that is in the files of a home is in the PostgreSQL, as it was; and what has changed there comes back. */
import { access, mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createTestDatabase } from '../../test/support/postgres.ts';
import { NO_POSTGRES, skipFor } from '../../test/support/skips.ts';
import { createSqlLogStore } from '../backends/log-store/sql/index.ts';
import { createSqlStore } from '../backends/store/sql/index.ts';
import { AT, app, deploy, event, LATER, populate, release, unit } from '../backends/store/testing/records.ts';
import type { LogStore } from '../domain/logs/log-store.ts';
import type { Store } from '../domain/store.ts';
import { SILENT } from '../lib/logger.ts';
import { openSealer } from '../lib/seal.ts';
import { readStatePlace, writeStatePlace } from '../config/state-place.ts';
import { copiedFrom, demandNotMoved, STATE_MOVE } from '../domain/controls/moved-state.ts';
import type { CopiedTable } from '../sql/copy-database.ts';
import { homeName } from './home-name.ts';
import { bringAhead, checkMove, moveState } from './move-state.ts';

const available = await createTestDatabase();
afterAll(() => available?.dispose());

describe('the state of a server', skipFor(available === null && NO_POSTGRES), () => {
  let home: string;
  let database: Awaited<ReturnType<typeof createTestDatabase>>;
  beforeEach(async () => {
    home = await mkdtemp(join(tmpdir(), 'tancho-move-'));
    await mkdir(join(home, 'run'));
    database = await createTestDatabase();
  });
  afterEach(async () => {
    await database?.dispose();
    await rm(home, { recursive: true });
  });

  const url = (): string => database?.url ?? '';
  const opened = async (place: { kind: 'sqlite'; file: string } | { kind: 'postgres'; url: string }): Promise<Store> =>
    createSqlStore(place, { sealer: await openSealer(join(home, 'secret.key')), logger: SILENT });
  const here = (): Promise<Store> => opened({ kind: 'sqlite', file: join(home, 'tancho.db') });
  const there = (): Promise<Store> => opened({ kind: 'postgres', url: url() });

  const move = (to: 'postgres' | 'sqlite'): Promise<CopiedTable[]> =>
    moveState({ home, url: url(), to, onTable: () => {} });

  async function fill(): Promise<void> {
    const store = await here();
    await populate(store, 'blog');
    await store.transact(async (tx) => {
      await tx.insertApp(app('shop', { description: 'Ü "quoted"\n', cname: ['a.example.com'] }));
      await tx.insertRelease(release('shop', 1));
      await tx.updateApp('shop', { release: 1, deploys: 7 });
      for (let n = 0; n < 3; n++) await tx.insertUnit(unit('shop', n));
      for (let n = 0; n < 120; n++) await tx.insertDeploy(deploy(String(n).padStart(24, '0'), 'shop'));
      for (let n = 0; n < 5; n++) await tx.insertEvent(event(`event-${n}`));
      await tx.setSetting('any', 'thing');
      const pack = { id: 'p', digest: 'd', bytes: 3, parts: 1 };
      const refs = { 'refs/heads/main': 'a'.repeat(40) };
      await tx.putRepository({
        app: 'shop',
        id: 'r',
        version: 2,
        head: 'refs/heads/main',
        refs,
        packs: [pack],
        shallow: [],
      });
      await tx.putPackPart({ app: 'shop', pack: 'p', part: 0, data: Uint8Array.of(0, 255, 10), at: AT });
    });
    await store.lease('app:shop', 'one', 60_000);
    await store.close();
    const logs = await createSqlLogStore({ kind: 'sqlite', file: join(home, 'logs.db') }, { logger: SILENT });
    await logs.close();
  }

  async function seen(store: Store): Promise<object> {
    const all = {
      apps: await store.apps(),
      release: await store.release('shop', 1),
      units: await store.units('shop'),
      deploys: await store.deploys({ limit: 1_000, skip: 0 }),
      users: [await store.user('ann@example.com'), await store.user('bob@example.com')],
      setting: await store.setting('any'),
      repository: await store.repository('shop'),
      pack: [...((await store.packPart('shop', 'p', 0)) ?? [])],
    };
    await store.close();
    return all;
  }

  it('is there as it was, and stays here', async () => {
    await fill();
    const before = await seen(await here());
    const copied = await move('postgres');
    expect(copied.find(({ table }) => table === 'deploys')).toEqual({ table: 'deploys', rows: 120 });
    expect(await seen(await there())).toEqual(before);
    expect(await seen(await here())).toEqual(before);
  });

  it('goes on there: what is written gets later numbers, and leases larger tokens', async () => {
    await fill();
    const local = await here();
    const token = (await local.lease('app:shop', 'one', 60_000)) ?? 0;
    await local.close();
    await move('postgres');
    const store = await there();
    await store.transact((tx) => tx.insertEvent(event('late', { at: LATER })));
    expect(await store.lease('app:shop', 'two', 60_000)).toBeGreaterThan(token);
    await store.close();
  });

  it('is refused where there is the state of another platform, of which nothing changes', async () => {
    await fill();
    await move('postgres');
    const store = await there();
    await started(store);
    await store.transact((tx) => tx.setSetting('any', 'changed there'));
    await store.close();
    const again = move('postgres');
    await expect(again).rejects.toThrow('has the state of a platform already');
    const after = await there();
    expect(await after.setting('any')).toBe('changed there');
    await after.close();
    expect((await readFile(join(home, 'tancho.db'))).length).toBeGreaterThan(0);
  });

  it('is refused where another home has put its own, also before a server has started there', async () => {
    await fill();
    await move('postgres');
    const store = await there();
    await store.transact((tx) => tx.setSetting(STATE_MOVE, copiedFrom('other:/home')));
    await store.close();
    await expect(checkMove({ home, url: url(), to: 'postgres' }, false)).rejects.toThrow('of a platform already');
    await expect(move('postgres')).rejects.toThrow('of a platform already');
  });

  /** As a server of this home does when it starts. */
  const started = (store: Store): Promise<void> =>
    demandNotMoved(store, {
      home: homeName(home),
      hasState: async () => (await readStatePlace(home))?.url === null,
    });

  it('is in force with a file that is written last; before that a copy is made again', async () => {
    await fill();
    expect(await readStatePlace(home)).toBeNull();
    await move('postgres');
    expect(await readStatePlace(home)).toEqual({ url: url(), left: null });
    // As if it had been cut off before that: somebody goes on with the files, and tries again.
    await rm(join(home, 'state.json'));
    const local = await here();
    await local.transact((tx) => tx.setSetting('any', 'later'));
    await local.close();
    await checkMove({ home, url: url(), to: 'postgres' }, false);
    await move('postgres');
    const store = await there();
    expect(await store.setting('any')).toBe('later');
    await started(store);
    expect(await store.setting(STATE_MOVE)).toBe('');
    await store.close();
    await expect(checkMove({ home, url: url(), to: 'postgres' }, false)).rejects.toThrow('of a platform already');
  });

  it('comes back with what has changed, and what is left is started on by nobody', async () => {
    await fill();
    await move('postgres');
    const store = await there();
    await started(store);
    await store.transact(async (tx) => {
      await tx.updateApp('shop', { deploys: 8 });
      await tx.insertEvent(event('meanwhile', { at: LATER }));
      await tx.deleteRepository('shop');
    });
    const token = (await store.lease('app:shop', 'two', 60_000)) ?? 0;
    await store.close();
    const before = await seen(await there());
    const copied = await move('sqlite');
    expect(copied.find(({ table }) => table === 'deploys')).toEqual({ table: 'deploys', rows: 120 });
    expect(await readStatePlace(home)).toEqual({ url: null, left: url() });
    expect(await seen(await here())).toEqual(before);
    const back = await here();
    await started(back);
    await back.transact((tx) => tx.insertEvent(event('at home', { at: LATER })));
    expect(await back.lease('app:shop', 'three', 60_000)).toBeGreaterThan(token);
    await back.close();
    const left = await there();
    await expect(started(left)).rejects.toMatchObject({ code: 'unavailable', hint: /Remove TANCHO_DATABASE_URL/ });
    const elsewhere = { home: 'other:/home', hasState: async () => false };
    await expect(demandNotMoved(left, elsewhere)).rejects.toThrow(`was moved to the files of ${homeName(home)}`);
    await left.close();
    // What is left there is old, and this home's own.
    await move('postgres');
    expect(await readStatePlace(home)).toEqual({ url: url(), left: null });
  });

  it('stays where it is when the way back is cut off before the end', async () => {
    await fill();
    await move('postgres');
    const first = await there();
    await first.transact((tx) => tx.deleteRepository('shop'));
    await first.close();
    await move('sqlite');
    // All but the last step.
    await writeStatePlace(home, { url: url(), left: null });
    const store = await there();
    await started(store);
    await store.transact((tx) => tx.setSetting('any', 'went on'));
    await store.close();
    await mkdir(join(home, 'moving'));
    await move('sqlite');
    const back = await here();
    expect(await back.setting('any')).toBe('went on');
    await back.close();
    await expect(access(join(home, 'moving'))).rejects.toThrow();
    expect((await readFile(join(home, 'backups', 'replaced', 'tancho.db'))).length).toBeGreaterThan(0);
  });

  const LINES_AT_ONCE = 100;
  const UNBOUNDED = { bytesPerApp: 1e9, keptSince: '', storedBytes: 1e9, giveBackBytes: 0 };

  async function withLogs<T>(place: 'here' | 'there', work: (logs: LogStore) => Promise<T>): Promise<T> {
    const at = place === 'there' ? { kind: 'postgres', url: url() } : { kind: 'sqlite', file: join(home, 'logs.db') };
    const logs = await createSqlLogStore(at as Parameters<typeof createSqlLogStore>[0], { logger: SILENT });
    try {
      return await work(logs);
    } finally {
      await logs.close();
    }
  }

  /** So many that most of it is in blocks that never change again. */
  const print = (logs: LogStore, app: string, from: number, count: number): Promise<void> =>
    Array.from({ length: count / LINES_AT_ONCE }, (_, at) => from + at * LINES_AT_ONCE).reduce(
      async (before, first) => {
        await before;
        const lines = Array.from({ length: LINES_AT_ONCE }, (_, at) => `${app} ${first + at} ${'x'.repeat(200)}`);
        const about = { app, at: AT, source: 'web', unit: 'web.1', unitId: 'u', release: 1 };
        await logs.append(lines.map((message) => ({ ...about, seq: 0, message })));
      },
      Promise.resolve(),
    );

  const logged = async (logs: LogStore): Promise<string[]> =>
    (await Promise.all(['shop', 'blog'].map((name) => logs.query({ app: name, lines: 100_000 }))))
      .flat()
      .map(({ seq, message }) => `${seq} ${message}`);

  it.each(['postgres', 'sqlite'] as const)(
    'brings complete logs to %s while they go on, and only the rest once nobody writes',
    async (to) => {
      await fill();
      const [from, target] = to === 'postgres' ? (['here', 'there'] as const) : (['there', 'here'] as const);
      if (to === 'sqlite') {
        await move('postgres');
        const store = await there();
        await store.transact((tx) => tx.deleteRepository('shop'));
        await store.close();
      }
      await withLogs(from, async (logs) => {
        await print(logs, 'shop', 0, 10_000);
        await print(logs, 'blog', 0, 5_000);
      });
      if (to === 'postgres') await checkMove({ home, url: url(), to }, false);
      const ahead = await bringAhead({ home, url: url(), to });
      const before = await withLogs(from, async (logs) => {
        await print(logs, 'shop', 10_000, 3_000);
        await logs.prune({ ...UNBOUNDED, entriesPerApp: 9_000 });
        return logged(logs);
      });
      expect(before).toHaveLength(14_000);
      const copied = await moveState({ home, url: url(), to, isAhead: true, onTable: () => {} });
      const blocks = copied.find(({ table }) => table === 'log_blocks');
      expect(ahead).toBeGreaterThan(8);
      // Without those that were removed, or begin later, meanwhile.
      expect(blocks?.ahead).toBeGreaterThan(5);
      expect(blocks?.ahead).toBeLessThan(ahead);
      expect(await withLogs(target, logged)).toEqual(before);
    },
  );

  it('does not take for copied what was not: whatever was left there by an earlier attempt goes', async () => {
    await fill();
    await checkMove({ home, url: url(), to: 'postgres' }, false);
    await withLogs('there', (logs) => print(logs, 'shop', 0, 4_000));
    await withLogs('here', (logs) => print(logs, 'shop', 50_000, 4_000));
    expect(await bringAhead({ home, url: url(), to: 'postgres' })).toBeGreaterThan(1);
    const before = await withLogs('here', logged);
    await moveState({ home, url: url(), to: 'postgres', isAhead: true, onTable: () => {} });
    expect(await withLogs('there', logged)).toEqual(before);
  });

  it('is not moved from under another server than this home has', async () => {
    await fill();
    const local = await here();
    await local.lease('control', 'somebody-else', 60_000);
    await local.close();
    await expect(checkMove({ home, url: url(), to: 'postgres' }, false)).rejects.toThrow('Other servers work with');
    await rm(join(home, 'tancho.db'));
    await fill();
    await expect(checkMove({ home, url: url(), to: 'postgres' }, true)).rejects.toThrow('does not work with the state');
  });
});
