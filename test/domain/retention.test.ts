/** What grows is kept within bounds, and nothing that somebody may still want is taken. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { OWN_EVENT } from '../../src/domain/audit/events.ts';
import { createRetention } from '../../src/domain/retention.ts';
import { randomHex } from '../../src/lib/ids.ts';
import { SILENT } from '../../src/lib/logger.ts';
import { ANN, type DomainWorld, startDomain } from '../support/domain-world.ts';
import { expectSound } from '../support/invariants.ts';

const DAY_MS = 86_400_000;
const unstopped = (): AbortSignal => new AbortController().signal;

describe('retention', () => {
  let world: DomainWorld;
  beforeEach(async () => {
    world = await startDomain({
      keptReleases: 2,
      retention: { eventDays: 30, events: 1_000, deployLogsPerApp: 2, deploysPerApp: 3, unusedDays: 30, toolBytes: 0 },
    });
    await world.createApp('shop');
  });
  afterEach(() => world.dispose());

  const retention = (store = world.machine.store) => {
    const { artifacts, imageRegistry, builder, settings, now } = world.machine;
    return createRetention({
      store,
      auditLog: world.parts.auditLog,
      artifacts,
      imageRegistry,
      builder,
      leases: world.parts.leases,
      order: world.parts.order,
      settings,
      logger: SILENT,
      now,
    });
  };
  const releases = async () => (await world.machine.store.releases('shop', 500)).map(({ number }) => number);
  const setEnv = async (times: number): Promise<void> => {
    for (let n = 0; n < times; n++) await world.setEnv('shop', { N: String(n) });
    await world.settled();
  };

  it('removes releases that differ only in environment, but the newest, and what serves', async () => {
    await world.deploy('shop');
    await setEnv(14);
    await world.useCases.deploys.rollback(ANN, 'shop', 'v3', () => {});
    await world.settled();
    await retention().run(unstopped());
    // Of the one code there is: ten, which begin with the one that serves.
    expect(await releases()).toEqual([16, 15, 14, 13, 12, 11, 10, 9, 8, 7]);
    await world.useCases.deploys.rollback(ANN, 'shop', 'previous', () => {});
    await expectSound(world);
  });

  it('keeps of each code that is kept what can be gone back to', async () => {
    const first = await world.deploy('shop');
    await setEnv(12);
    const second = await world.deploy('shop');
    await setEnv(12);
    await retention().run(unstopped());
    expect(await releases()).toHaveLength(20);
    const { artifacts } = world.machine;
    expect((await artifacts.list()).map(({ id }) => id).sort()).toEqual([first.artifact, second.artifact].sort());
    await world.useCases.deploys.rollback(ANN, 'shop', first.artifact, () => {});
    await world.deploy('shop');
    await world.settled();
    expect((await artifacts.list()).map(({ id }) => id)).not.toContain(second.artifact);
  });

  it('leaves an app alone that somebody works on', async () => {
    await world.deploy('shop');
    await setEnv(12);
    const { leases } = world.parts;
    await leases.hold('app:shop', { waitMs: 0, holder: 'test' }, () => retention().run(unstopped()));
    expect(await releases()).toHaveLength(13);
    await retention().run(unstopped());
    expect(await releases()).toHaveLength(10);
  });

  it('leaves an app alone of which a deploy goes on, for it may be about to use old code', async () => {
    await world.deploy('shop');
    await setEnv(12);
    const { signal } = new AbortController();
    const queued = world.parts.queue.enter({ id: randomHex(24), app: 'shop', by: ANN.email, ref: '', signal });
    queued.stage = 'switching';
    await retention().run(unstopped());
    expect(await releases()).toHaveLength(13);
    queued.leave();
    await retention().run(unstopped());
    expect(await releases()).toHaveLength(10);
  });

  it('lets what was refused take a fifth of all events at most, the newest', async () => {
    const { store } = world.machine;
    await store.transact(async (tx) => {
      for (let n = 0; n < 260; n += 1) {
        const at = new Date(world.machine.now().getTime() + n).toISOString();
        const about = { ...OWN_EVENT, action: 'app.remove', target: `app:shop-${n}`, detail: '' };
        await tx.insertEvent({ ...about, error: 'access.denied', id: randomHex(24), at, endedAt: at, isRefusal: true });
      }
    });
    const done = (await store.events(1_000)).filter(({ isRefusal }) => !isRefusal);
    await retention().run(unstopped());
    const left = await store.events(1_000);
    const refused = left.filter(({ isRefusal }) => isRefusal).map(({ target }) => target);
    expect([refused.length, refused[0], refused.at(-1)]).toEqual([200, 'app:shop-259', 'app:shop-60']);
    expect(left.filter(({ isRefusal, action }) => !isRefusal && action !== 'event.forget')).toEqual(done);
  });

  it('removes the packs of pushes that were cut off, and none that a repository has got meanwhile', async () => {
    const { store } = world.machine;
    const at = world.machine.now().toISOString();
    const part = { app: 'shop', part: 0, data: Uint8Array.of(1), at };
    const isThere = async (pack: string): Promise<boolean> => (await store.packPart('shop', pack, 0)) !== null;
    await store.transact(async (tx) => {
      for (const pack of ['stray', 'late']) await tx.putPackPart({ ...part, pack });
    });
    await retention().run(unstopped());
    expect([await isThere('stray'), await isThere('late')]).toEqual([true, true]);
    world.machine.pass(2 * DAY_MS);
    const late = { id: 'late', digest: 'd', bytes: 1, parts: 1 };
    const record = { app: 'shop', id: 'r', version: 1, head: 'refs/heads/main', refs: {}, packs: [late], shallow: [] };
    const racing: typeof store = {
      ...store,
      async strayPacks(before) {
        const found = await store.strayPacks(before);
        await store.transact((tx) => tx.putRepository(record));
        return found;
      },
    };
    await retention(racing).run(unstopped());
    expect([await isThere('stray'), await isThere('late')]).toEqual([false, true]);
  });

  it('forgets old events, old deploys and what they printed', async () => {
    const deploys = [];
    for (let n = 0; n < 4; n++) deploys.push(await world.deploy('shop'));
    const { store } = world.machine;
    const before = (await store.events(100)).length;
    await retention().run(unstopped());
    expect((await store.events(100)).length).toBe(before);
    const logs = await Promise.all(deploys.map(async ({ id }) => (await store.deployLog(id)).length > 0));
    expect(logs).toEqual([false, false, true, true]);
    // The three newest; the release of the first is gone.
    const listed = await world.useCases.deploys.list(ANN, { app: 'shop' });
    expect(listed.map(({ deploy }) => deploy.id).sort()).toEqual(
      deploys
        .slice(1)
        .map(({ id }) => id)
        .sort(),
    );
    world.machine.pass(31 * DAY_MS);
    await retention().run(unstopped());
    expect((await store.events(100)).map(({ action }) => action)).toEqual(['event.forget']);
  });

  it('goes on with the rest when one part fails, and ends when it is stopped', async () => {
    await world.deploy('shop');
    await setEnv(12);
    const { store, artifacts, imageRegistry, builder, settings, now } = world.machine;
    const away = () => Promise.reject(new Error('away'));
    const broken = { ...store, transact: away, appsOfManyDeploys: away };
    const parts = {
      auditLog: world.parts.auditLog,
      leases: world.parts.leases,
      order: world.parts.order,
      artifacts,
      imageRegistry,
      builder,
      settings,
      now,
    };
    const warnings: string[] = [];
    const logger = { ...SILENT, warn: (_fields: object, message: string) => void warnings.push(message) };
    await createRetention({ ...parts, store: broken, logger }).run(unstopped());
    expect(warnings).toHaveLength(6);
    await retention().run(AbortSignal.abort());
    expect(await releases()).toHaveLength(13);
  });
});
