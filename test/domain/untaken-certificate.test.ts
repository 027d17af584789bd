/** A certificate that the router does not take is there all the same. */
import { expect, it } from 'vitest';
import { certificateWorld } from '../support/certificate-world.ts';

it('is issued, presented later, and not ordered again', async () => {
  const dns = { set: async () => {}, remove: async () => {} };
  const world = await certificateWorld({ dns });
  try {
    await world.addApps('shop');
    const { fault } = world.authority;
    world.authority.fault = (request) => {
      world.routerTakes(false);
      return fault(request);
    };
    await world.upkeep.round();
    expect(await world.store.certificates()).toMatchObject([{ state: 'issued', cause: null, failures: 0 }]);
    expect(world.set().certificates).toEqual([]);
    world.routerTakes(true);
    await world.upkeep.round();
    expect(world.set().certificates).toHaveLength(1);
    expect(world.authority.issued).toBe(1);
  } finally {
    await world.dispose();
  }
});
