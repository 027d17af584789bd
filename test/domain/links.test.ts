/** Which apps reach the units of others: who may say so, and what is passed to the network. */
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { UserCaller } from '../../src/domain/caller.ts';
import { ANN, type DomainWorld, startDomain } from '../support/domain-world.ts';
import { expectSound } from '../support/invariants.ts';

const EVE: UserCaller = { ...ANN, email: 'eve@example.com', teams: ['other'] };
const lines: string[] = [];
const say = (line: string): void => void lines.push(line);

let world: DomainWorld;
beforeEach(async () => {
  world = await startDomain();
  for (const app of ['shop', 'blog']) {
    await world.createApp(app);
    await world.deploy(app);
  }
});
afterEach(() => world.dispose());

const link = (app = 'blog', to = 'shop', by = ANN) => world.useCases.links.add(by, app, to, say);
const unlink = (app = 'blog', to = 'shop', by = ANN) => world.useCases.links.remove(by, app, to, say);
/** `blog -> shop: <ids of units>` */
const reached = (): string[] =>
  world.machine.units.links.map(({ app, from, targets }) => {
    return `${from.join()} -> ${app}: ${targets.map(({ unit }) => unit).join()}`;
  });
const serving = async (app: string): Promise<string> => {
  const { units } = await world.useCases.apps.info(ANN, app);
  return units.map(({ id }) => id).join();
};

it('follow the units of the app that is reached, and survive a restart of the platform', async () => {
  const before = await serving('blog');
  await link();
  expect(reached()).toEqual([`blog -> shop: ${await serving('shop')}`]);
  // For the name and the variable, which a process has from its start on.
  expect(await serving('blog')).not.toBe(before);
  const first = await serving('shop');
  await world.deploy('shop');
  expect(await serving('shop')).not.toBe(first);
  expect(reached()).toEqual([`blog -> shop: ${await serving('shop')}`]);
  await world.useCases.startStop.stop(ANN, 'shop', '', say);
  expect(reached()).toEqual(['blog -> shop: ']);
  await world.useCases.startStop.start(ANN, 'shop', '', say);
  world = await world.next();
  expect(reached()).toEqual([`blog -> shop: ${await serving('shop')}`]);
  expect((await world.useCases.apps.info(ANN, 'blog')).app.links).toEqual(['shop']);
  expect((await world.useCases.apps.info(ANN, 'shop')).linkedFrom).toEqual(['blog']);
  await unlink();
  expect(reached()).toEqual([]);
  await expectSound(world);
});

it('that a crash kept from units come to them when it is linked once more', async () => {
  world.faults.arm({ call: 1, moment: 'before', only: 'provisioner.ready' });
  await Promise.race([link(), world.faults.crashed]);
  world.crash();
  world = await world.next();
  const before = await serving('blog');
  await link();
  expect(await serving('blog')).not.toBe(before);
  expect(reached()).toEqual([`blog -> shop: ${await serving('shop')}`]);
  await expectSound(world);
});

it('take access to both apps', async () => {
  await world.machine.store.transact(async (tx) => {
    await tx.insertTeam({ name: 'other', createdAt: '', members: [ANN.email] });
    await tx.updateApp('blog', { teams: ['crew', 'other'] });
  });
  await expect(link('blog', 'shop', EVE)).rejects.toMatchObject({ code: 'access.denied' });
  await expect(link('shop', 'blog', EVE)).rejects.toMatchObject({ code: 'access.denied' });
  await expect(link('blog', 'nobody')).rejects.toMatchObject({ code: 'app.not_found' });
  await expect(link('blog', 'blog')).rejects.toMatchObject({ code: 'input.invalid' });
  await expect(unlink()).rejects.toMatchObject({ code: 'input.invalid' });
  expect(reached()).toEqual([]);
});

it('go with either app, so whoever gets its name later is not linked', async () => {
  await link();
  await link('shop', 'blog');
  await world.useCases.apps.remove(ANN, 'shop', say);
  await world.createApp('shop');
  await world.deploy('shop');
  expect((await world.useCases.apps.info(ANN, 'blog')).app.links).toEqual([]);
  expect((await world.useCases.apps.info(ANN, 'shop')).app.links).toEqual([]);
  expect(reached()).toEqual([]);
});

it('that keep the app from starting are taken back', async () => {
  const undo = world.faults.on('provisioner.ready', () => Promise.reject(new Error('it does not start')));
  await expect(link()).rejects.toThrow();
  undo();
  expect((await world.useCases.apps.info(ANN, 'blog')).app.links).toEqual([]);
  expect(reached()).toEqual([]);
});
