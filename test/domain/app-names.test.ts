/** The name of an app that is gone may be taken by somebody else. */
import { expect, it } from 'vitest';
import { startDomain } from '../support/domain-world.ts';

it('a new app gets nothing of what lies around under its name', async () => {
  const world = await startDomain();
  try {
    const { gitHost } = world.machine;
    await gitHost.create('shop');
    gitHost.commit('shop', 'a'.repeat(40), {});
    await world.createApp('shop');
    expect(await gitHost.exists('shop')).toBe(true);
    const unknown = gitHost.source('shop', 'b'.repeat(40));
    expect(gitHost.source('shop', 'a'.repeat(40))).toEqual(unknown);
    await world.deploy('shop');
    const [deploy] = await world.machine.store.deploys({ apps: ['shop'], limit: 1, skip: 0 });
    await expect(world.createApp('shop')).rejects.toMatchObject({ code: 'app.name_taken' });
    expect(gitHost.source('shop', deploy?.commit ?? '')).not.toEqual(unknown);
  } finally {
    await world.dispose();
  }
});
