/** Quotas where they bite: the creation of apps, deploys and restarts. The stores' own suites have them on every database. */
import { afterEach, describe, expect, it } from 'vitest';
import { ANN, type DomainWorld, startDomain } from '../support/domain-world.ts';

let world: DomainWorld | null = null;
afterEach(async () => {
  await world?.dispose();
  world = null;
});

const limits = (appsPerUser: number | null, unitsPerApp: number | null) => ({
  defaultLimits: { appsPerUser, unitsPerApp },
});

describe('the apps of a user', () => {
  it('of 50 created at once with 3 left are exactly 3, each whole', async () => {
    const here = (world = await startDomain(limits(3, null)));
    const done = await Promise.allSettled(Array.from({ length: 50 }, (_, n) => here.createApp(`app-${n}`)));
    const reasons = done.flatMap((one) => (one.status === 'rejected' ? [one.reason as unknown] : []));
    expect(reasons).toHaveLength(47);
    for (const reason of reasons) expect(reason).toMatchObject({ code: 'quota.exceeded' });
    expect(await here.useCases.apps.list(ANN)).toHaveLength(3);
  });

  it('that are removed make room', async () => {
    const here = (world = await startDomain(limits(1, null)));
    await here.createApp('first');
    await expect(here.createApp('second')).rejects.toMatchObject({ details: { available: 0, requested: 1 } });
    await here.remove('first');
    await here.createApp('second');
  });

  it('that are more than a lowered limit leave none, not fewer than none', async () => {
    const here = (world = await startDomain(limits(3, null)));
    for (const name of ['first', 'second', 'third']) await here.createApp(name);
    const { store } = here.machine;
    const createdAt = new Date().toISOString();
    await store.transact(async (tx) => {
      if ((await tx.user(ANN.email)) === null)
        await tx.insertUser({ email: ANN.email, passwordHash: '', isAdmin: false, createdAt });
      await tx.setUserLimit(ANN.email, 1);
    });
    await expect(here.createApp('fourth')).rejects.toMatchObject({ details: { available: 0, requested: 1 } });
  });
});

describe('the units of an app', () => {
  const two = { processes: { web: 'serve', worker: 'stay' } };

  it('that are too many make a deploy fail, and what served serves', async () => {
    const here = (world = await startDomain(limits(null, 1)));
    await here.createApp('shop');
    await here.deploy('shop', {});
    await expect(here.deploy('shop', two)).rejects.toMatchObject({
      code: 'deploy.failed',
      details: { cause: 'quota_exceeded' },
    });
    const { state, units } = await here.useCases.apps.info(ANN, 'shop');
    expect([state, units.length]).toEqual(['started', 1]);
  });

  it('may stay and be replaced when the limit is lowered', async () => {
    const here = (world = await startDomain());
    await here.createApp('shop');
    await here.deploy('shop', two);
    await here.machine.store.transact((tx) => tx.setAppLimit('shop', 1));
    await here.restart('shop');
    await here.setEnv('shop', { A: 'b' });
    expect((await here.useCases.apps.info(ANN, 'shop')).units).toHaveLength(2);
  });
});
