/** Bounds of what the apps of one user get of an authority whose limits are for the whole platform. */
import { afterEach, describe, expect, it } from 'vitest';
import { app } from '../../src/backends/store/testing/records.ts';
import { NewOrders } from '../../src/domain/certificates/new-orders.ts';
import {
  type CertificateWorld,
  certificateWorld,
  DAY_MS,
  HOUR_MS,
  type WorldOptions,
} from '../support/certificate-world.ts';

const worlds: CertificateWorld[] = [];
afterEach(() => Promise.all(worlds.splice(0).map((world) => world.dispose())));

async function start(options: WorldOptions = {}): Promise<CertificateWorld> {
  const world = await certificateWorld(options);
  worlds.push(world);
  return world;
}

const presented = (world: CertificateWorld): string[] => world.set().certificates.flatMap(({ names }) => names);
const addName = (world: CertificateWorld, name: string, ...cname: string[]) =>
  world.store.transact((tx) => tx.updateApp(name, { cname }));

describe('new certificates of one user', () => {
  const addAppsOf = (world: CertificateWorld, owner: string, ...names: string[]) =>
    world.store.transact(async (tx) => {
      for (const name of names) await tx.insertApp({ ...app(name), owner });
    });

  it('have a bound for each week below the domain, which is said, and which others do not feel', async () => {
    const world = await start({ wildcard: false, newCertificatesPerUser: 2 });
    await addAppsOf(world, 'eve@example.com', 'bad0', 'bad1', 'bad2');
    await world.upkeep.round();
    const refused = (await world.store.certificates()).filter(({ cause }) => cause === 'user_limit');
    expect(refused).toMatchObject([
      {
        state: 'failed',
        problem: 'The apps of eve@example.com get at most 2 new certificates a week below apps.example.com.',
        nextAttemptAt: new Date(world.now().getTime() + 7 * DAY_MS).toISOString(),
      },
    ]);
    expect(world.authority.issued).toBe(2);
    await addAppsOf(world, 'bob@example.com', 'calm');
    await addName(world, 'bad0', 'www.example.com');
    await world.upkeep.round();
    expect(presented(world)).toEqual(expect.arrayContaining(['calm.apps.example.com', 'www.example.com']));
    world.pass(7 * DAY_MS);
    await world.upkeep.round();
    expect(presented(world)).toHaveLength(5);
  });

  it('have none for admins, nor where it is set to 0', async () => {
    const world = await start({ wildcard: false, newCertificatesPerUser: 1 });
    await addAppsOf(world, 'ann@example.com', 'one', 'two');
    await world.upkeep.round();
    expect(presented(world)).toHaveLength(2);
    const unbounded = world.again({ newCertificatesPerUser: 0 });
    await addAppsOf(world, 'eve@example.com', 'three', 'four');
    await unbounded.upkeep.round();
    expect(presented(world)).toHaveLength(4);
  });

  it('count where they came to nothing for three hours, and not at all where nothing was ordered', async () => {
    const world = await start();
    const orders = new NewOrders({ ...world, domain: 'apps.example.com', mostPerWeek: 1 });
    await addAppsOf(world, 'eve@example.com', 'bad');
    const count = () => orders.count({ app: 'bad', names: ['bad.apps.example.com'] });
    for (let n = 0; n < 3; n++) await (await count())(false);
    for (let n = 0; n < 100; n++) await (await count())(true);
    await expect(count()).rejects.toMatchObject({
      code: 'user_limit',
      message: expect.stringContaining('100') as string,
    });
    world.pass(3 * HOUR_MS);
    await count();
    // Another server, or this one started again.
    const others = new NewOrders({ ...world, domain: 'apps.example.com', mostPerWeek: 1 });
    await expect(others.count({ app: 'bad', names: ['other.apps.example.com'] })).rejects.toMatchObject({
      code: 'user_limit',
    });
    await expect(count()).rejects.toMatchObject({ message: expect.stringContaining('1 new') as string });
  });

  it('are a hundred in three hours, whatever their names', async () => {
    const world = await start();
    const orders = new NewOrders({ ...world, domain: 'apps.example.com', mostPerWeek: 0 });
    await addAppsOf(world, 'eve@example.com', 'bad');
    const count = (n: number) => orders.count({ app: 'bad', names: [`h${n}.example.org`] });
    for (let n = 0; n < 100; n++) await count(n);
    await expect(count(100)).rejects.toMatchObject({ code: 'user_limit' });
    await orders.count({ app: '', names: ['*.apps.example.com'] });
    world.pass(3 * HOUR_MS);
    await count(100);
  });
});
