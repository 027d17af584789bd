/** Backups are made when they are due and when somebody asks, one at a time, and how that went is known after a restart, too. */
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createSqlStore } from '../../src/backends/store/sql/index.ts';
import { BackupMaker } from '../../src/domain/backups/backup-maker.ts';
import type { BackupContents } from '../../src/domain/backups/backup-store.ts';
import type { UserCaller } from '../../src/domain/caller.ts';
import { PlatformError } from '../../src/domain/errors.ts';
import { snapshotDatabase } from '../../src/lib/backup-sets.ts';
import { SILENT } from '../../src/lib/logger.ts';
import { ANN, type DomainWorld, startDomain } from '../support/domain-world.ts';
import { COPY_SEALER } from '../support/empty-databases.ts';

const ADMIN: UserCaller = { ...ANN, email: 'admin@example.com', isAdmin: true, teams: [] };
const HOUR_MS = 3_600_000;

let world: DomainWorld;
let at: number;
beforeEach(async () => {
  world = await startDomain();
  const createdAt = new Date().toISOString();
  await world.machine.store.transact((tx) =>
    tx.insertUser({ email: ADMIN.email, passwordHash: '', isAdmin: true, createdAt }),
  );
  at = Date.parse('2026-03-04T05:06:07.089Z');
});
afterEach(() => world.dispose());

/** As the next control makes it. */
function maker(): BackupMaker {
  const { store, artifacts, backupStore } = world.machine;
  const settings = { backupEveryMs: 24 * HOUR_MS };
  return new BackupMaker({ store, artifacts, backupStore, settings, logger: SILENT, now: () => new Date(at) });
}

const refused = (): Promise<never> => Promise.reject(new PlatformError('unavailable', 'The backup failed: no room.'));

it('one is due at first, then after the time of the settings, and sooner where the last one failed', async () => {
  const { backupStore } = world.machine;
  expect(await maker().isDue()).toBe(true);
  await maker().make(backupStore);
  at += 23 * HOUR_MS;
  expect(await maker().isDue()).toBe(false);
  at += HOUR_MS;
  expect(await maker().isDue()).toBe(true);
  // The clock was ahead.
  at -= 240 * HOUR_MS;
  expect(await maker().isDue()).toBe(true);
  at += 240 * HOUR_MS;
  const { answer } = backupStore;
  backupStore.answer = refused;
  await expect(maker().make(backupStore)).rejects.toMatchObject({ code: 'unavailable' });
  expect(await maker().isDue()).toBe(false);
  at += HOUR_MS / 4;
  expect(await maker().isDue()).toBe(true);
  backupStore.answer = answer;
});

it('has the artifacts that apps run, and the names of apps and volumes', async () => {
  await world.createApp('shop');
  await world.createApp('blog');
  await world.deploy('shop');
  await world.deploy('shop');
  await world.useCases.volumes.create(ANN, 'shop', { name: 'data' });
  const asked: BackupContents[] = [];
  const { backupStore, store } = world.machine;
  const { answer } = backupStore;
  backupStore.answer = async (source, ...rest) => {
    asked.push(await source.contents(null));
    return answer(source, ...rest);
  };
  await maker().make(backupStore);
  const serving = await store.release('shop', 2);
  expect(asked).toMatchObject([{ artifacts: [serving?.artifact], apps: ['blog', 'shop'], volumes: ['shop/data'] }]);
});

it('has what the copied state names: no code that came later, and no app that was removed meanwhile', async () => {
  for (const name of ['shop', 'blog', 'wiki']) {
    await world.createApp(name);
    await world.deploy(name);
  }
  const { backupStore, store } = world.machine;
  const copy = join(world.machine.directory, 'copy.db');
  const seen: BackupContents[] = [];
  const removing: string[] = [];
  backupStore.answer = async (source, at) => {
    await snapshotDatabase(join(world.machine.directory, 'tancho.db'), copy);
    await world.deploy('shop');
    await world.useCases.apps.remove(ANN, 'blog', () => undefined, true);
    await world.useCases.apps.remove(ANN, 'wiki', () => undefined, true);
    await world.createApp('wiki');
    const copied = await createSqlStore({ kind: 'sqlite', file: copy }, { sealer: COPY_SEALER, logger: SILENT });
    try {
      seen.push(await source.contents(copied), await source.settled(copied, await source.contents(copied)));
      removing.push(...(await copied.apps()).filter((app) => app.removing).map(({ name }) => name));
    } finally {
      await copied.close();
    }
    return { name: 'one', madeAt: at.toISOString(), bytes: 1, version: '0.1.0' };
  };
  await maker().make(backupStore);
  const first = (await store.release('shop', 1))?.artifact;
  expect(seen).toMatchObject([
    { artifacts: [first], apps: ['blog', 'shop', 'wiki'] },
    { artifacts: [first], apps: ['shop'] },
  ]);
  expect(removing).toEqual(['blog', 'wiki']);
});

it('none is kept whose code was removed while it was read', async () => {
  await world.createApp('shop');
  await world.deploy('shop');
  const { artifacts, backupStore, store } = world.machine;
  backupStore.answer = async (source) => {
    const contents = await source.contents(store);
    for (const id of contents.artifacts) await artifacts.remove(id);
    await source.settled(store, contents);
    throw new Error('it was kept');
  };
  await expect(maker().make(backupStore)).rejects.toThrow(/The backup failed: the code shop\/\w+ was replaced/);
});

it('who asks while one is being made gets that one', async () => {
  const { backupStore } = world.machine;
  const { answer } = backupStore;
  let made = 0;
  backupStore.answer = async (...given) => {
    made += 1;
    return answer(...given);
  };
  const one = maker();
  const [first, second] = await Promise.all([one.make(backupStore), one.make(backupStore)]);
  expect(second).toBe(first);
  expect(made).toBe(1);
});

it('admins see how the last one went, and that one was asked for is an event', async () => {
  const said: string[] = [];
  await world.useCases.backups.make(ADMIN, (line) => said.push(line));
  expect(said).toEqual(['Making a backup in /srv/backups', 'one: 1 MiB']);
  const first = await world.useCases.backups.list(ADMIN);
  expect(Date.parse(first.nextAt) - Date.parse(first.state.triedAt)).toBe(24 * HOUR_MS);
  expect(first).toMatchObject({ place: '/srv/backups', keep: 7, everySeconds: 86_400, state: { problem: '' } });
  world.machine.backupStore.answer = refused;
  await expect(world.useCases.backups.make(ADMIN, () => undefined)).rejects.toMatchObject({ code: 'unavailable' });
  const { state, nextAt } = await world.useCases.backups.list(ADMIN);
  expect(Date.parse(nextAt) - Date.parse(state.triedAt)).toBe(HOUR_MS / 4);
  expect(state).toMatchObject({ problem: 'The backup failed: no room.', succeededAt: first.state.succeededAt });
  await expect(world.useCases.backups.list(ANN)).rejects.toMatchObject({ code: 'access.denied' });
  await expect(world.useCases.backups.make(ANN, () => undefined)).rejects.toMatchObject({ code: 'access.denied' });
  const errors = async (): Promise<string[]> => {
    const events = await world.machine.store.events(20);
    return events.filter(({ action }) => action === 'backup.create').map(({ error }) => error);
  };
  // Who is refused does not wait for the event of it.
  await expect.poll(errors).toEqual(expect.arrayContaining(['', 'unavailable', 'access.denied']));
});
