/** A name that was free again: what was there before under it is not for those who have it now. */
import { afterEach, beforeEach, expect, it } from 'vitest';
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
