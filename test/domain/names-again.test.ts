/** A name that was free again: what was there before under it is not for those who have it now. */
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { Caller } from '../../src/domain/caller.ts';
import { ANN, type DomainWorld, startDomain } from '../support/domain-world.ts';

let world: DomainWorld;
beforeEach(async () => {
  world = await startDomain();
});
afterEach(() => world.dispose());

it('shows the deploys of an app that is gone to admins only, also when there is another of its name', async () => {
  const { apps, deploys } = world.useCases;
  await world.createApp('shop');
  await world.deploy('shop');
  const [first] = await deploys.list(ANN, { app: 'shop' });
  const id = first?.deploy.id ?? '';
  expect((await deploys.info(ANN, id)).deploy.id).toBe(id);
  await apps.remove(ANN, 'shop', () => {});
  await expect(deploys.info(ANN, id)).rejects.toMatchObject({ code: 'deploy.not_found' });
  await world.createApp('shop');
  expect(await deploys.list(ANN, { app: 'shop' })).toEqual([]);
  await expect(deploys.info(ANN, id)).rejects.toMatchObject({ code: 'deploy.not_found' });
  expect(await deploys.info({ ...ANN, isAdmin: true }, id)).toMatchObject({
    deploy: { id },
    diff: '',
    canRollback: false,
  });
});

it('shows the events of an app that is gone to admins and to who made them only', async () => {
  const { apps, events, cnames } = world.useCases;
  const eve: Caller = { ...ANN, email: 'eve@example.com', teams: ['others'] };
  const seen = async (caller: Caller) =>
    (await events.list(caller, { target: 'app:shop' })).map(({ action }) => action);
  await world.createApp('shop');
  await cnames.add(ANN, 'shop', ['www.example.com']);
  const [added] = await events.list(ANN, { target: 'app:shop' });
  await apps.remove(ANN, 'shop', () => {});
  await world.machine.store.transact(async (tx) => {
    await tx.insertUser({ email: eve.email, passwordHash: '', isAdmin: false, createdAt: '' });
    await tx.insertTeam({ name: 'others', createdAt: '', members: [eve.email] });
  });
  world.machine.pass(1_000);
  await apps.create(eve, { name: 'shop', platform: 'any', teamOwner: 'others' });
  expect(await seen(eve)).toEqual(['app.create']);
  await expect(events.info(eve, added?.id ?? '')).rejects.toMatchObject({ code: 'event.not_found' });
  expect(await seen(ANN)).toEqual(['app.remove', 'app.cname_add', 'app.create']);
  expect(await seen({ ...eve, isAdmin: true })).toHaveLength(4);
});
