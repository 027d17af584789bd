/** Everything that is in the files of a home is in the PostgreSQL, as it was; and the move can be undone, for the files stay. */
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createTestDatabase } from '../../test/support/postgres.ts';
import { NO_POSTGRES, skipFor } from '../../test/support/skips.ts';
import { createSqlLogStore } from '../backends/log-store/sql/index.ts';
import { createSqlStore } from '../backends/store/sql/index.ts';
import { AT, app, deploy, event, LATER, populate, release, unit } from '../backends/store/testing/records.ts';
import type { Store } from '../domain/store.ts';
import { SILENT } from '../lib/logger.ts';
import { openSealer } from '../lib/seal.ts';
import { moveState } from './move-state.ts';

const available = await createTestDatabase();
afterAll(() => available?.dispose());

describe('the state of a server', skipFor(available === null && NO_POSTGRES), () => {
  let home: string;
  let database: Awaited<ReturnType<typeof createTestDatabase>>;
  beforeEach(async () => {
    home = await mkdtemp(join(tmpdir(), 'tancho-move-'));
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
    const copied = await moveState({ home, url: url(), onTable: () => {} });
    expect(copied.find(({ table }) => table === 'deploys')).toEqual({ table: 'deploys', rows: 120 });
    expect(await seen(await there())).toEqual(before);
    expect(await seen(await here())).toEqual(before);
  });

  it('goes on there: what is written gets later numbers, and leases larger tokens', async () => {
    await fill();
    const local = await here();
    const token = (await local.lease('app:shop', 'one', 60_000)) ?? 0;
    await local.close();
    await moveState({ home, url: url(), onTable: () => {} });
    const store = await there();
    await store.transact((tx) => tx.insertEvent(event('late', { at: LATER })));
    expect(await store.lease('app:shop', 'two', 60_000)).toBeGreaterThan(token);
    await store.close();
  });

  it('is refused where there is the state of another platform, of which nothing changes', async () => {
    await fill();
    await moveState({ home, url: url(), onTable: () => {} });
    const store = await there();
    await store.transact((tx) => tx.setSetting('any', 'changed there'));
    await store.close();
    const again = moveState({ home, url: url(), onTable: () => {} });
    await expect(again).rejects.toThrow('has the state of a platform already');
    const after = await there();
    expect(await after.setting('any')).toBe('changed there');
    await after.close();
    expect((await readFile(join(home, 'tancho.db'))).length).toBeGreaterThan(0);
  });
});
