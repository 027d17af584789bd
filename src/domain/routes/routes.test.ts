import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type DomainWorld, startDomain } from '../../../test/support/domain-world.ts';
import { expectSound } from '../../../test/support/invariants.ts';
import { until } from '../../../test/support/until.ts';

const DAY_MS = 86_400_000;

let world: DomainWorld;
beforeEach(async () => {
  world = await startDomain();
  await world.createApp('shop');
  await world.deploy('shop');
});
afterEach(() => world.dispose());

describe('the route table', () => {
  it('says why nothing answers', async () => {
    const note = (): string | undefined => world.machine.table().routes[0]?.note;
    expect(note()).toBe('');
    await world.deploy('shop', { processes: { worker: 'stay' } });
    expect(note()).toBe('The app "shop" has no process "web" that would answer requests.');
  });

  it('is taken after a restart with the clock set back, and set forward again', async () => {
    for (const ms of [-DAY_MS, 2 * DAY_MS, -DAY_MS]) {
      world.machine.pass(ms);
      world = await world.next();
      await world.deploy('shop');
      await expectSound(world);
    }
  });

  it('that a call of publish() brings was read after the call', async () => {
    const applying = world.faults.hold('router.apply');
    const first = world.parts.routes.publish();
    await applying.reached;
    await world.machine.store.transact((tx) => tx.updateApp('shop', { cname: ['shop.example.com'] }));
    const others = [world.parts.routes.publish(), world.parts.routes.publish()];
    applying.release();
    await first;
    expect(world.machine.table().routes[0]?.hosts).toEqual(['shop.apps.test']);
    await Promise.all(others);
    expect(world.machine.table().routes[0]?.hosts).toEqual(['shop.apps.test', 'shop.example.com']);
  });

  it('of one app is published without reading the others, and what a failed call was to bring comes with the next', async () => {
    await world.createApp('blog');
    const reads = vi.spyOn(world.machine.store, 'unitsByApp');
    const rename = (app: string, cname: string) =>
      world.machine.store.transact((tx) => tx.updateApp(app, { cname: [cname] }));
    const hosts = () => world.machine.table().routes.map((route) => route.hosts[1]);
    await rename('shop', 'shop.example.com');
    await rename('blog', 'blog.example.com');
    await world.parts.routes.publish('shop');
    expect(hosts()).toEqual(['shop.example.com', undefined]);
    const undo = world.faults.on('router.apply', () => Promise.reject(new Error('the router is away')));
    await expect(world.parts.routes.publish('blog')).rejects.toMatchObject({ code: 'unavailable' });
    undo();
    await world.parts.routes.publish('shop');
    expect(hosts()).toEqual(['shop.example.com', 'blog.example.com']);
    expect(reads).not.toHaveBeenCalled();
  });

  it('has no app that is being removed, whether all are read or that one alone', async () => {
    await world.createApp('blog');
    const { store } = world.machine;
    const apps = () => world.machine.table().routes.map(({ app }) => app);
    await store.transact((tx) => tx.updateApp('shop', { removing: true }));
    await world.parts.routes.publish('shop');
    expect(apps()).toEqual(['blog']);
    await store.transact((tx) => tx.updateApp('blog', { removing: true }));
    await world.parts.routes.publish();
    expect(apps()).toEqual([]);
  });

  it('follows a unit that dies without reading other apps', async () => {
    await world.createApp('blog');
    const reads = vi.spyOn(world.machine.store, 'unitsByApp');
    const [unit] = await world.machine.store.units('shop');
    const back = world.faults.hold('provisioner.ensure');
    await world.machine.units.kill(unit?.id ?? '');
    await back.reached;
    expect(world.machine.table().routes[0]?.targets).toEqual([]);
    back.release();
    await until(() => world.machine.table().routes[0]?.targets.length === 1, { what: 'the unit to be back' });
    expect(reads).not.toHaveBeenCalled();
  });

  it('is offered again to a router that did not take it, and not for ever', async () => {
    let refusals = 0;
    const undo = world.faults.on('router.apply', () => {
      if (++refusals <= 1) throw new Error('the router is away');
    });
    await world.parts.routes.publish();
    expect(refusals).toBe(2);
    undo();
    world.faults.on('router.apply', () => Promise.reject(new Error('the router is away')));
    await expect(world.parts.routes.publish()).rejects.toMatchObject({ code: 'unavailable' });
  });
});
