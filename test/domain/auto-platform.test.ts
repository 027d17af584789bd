/** An app without a platform of its own is of the one that its first push turns out to be. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { PLATFORM } from '../../src/domain/caller.ts';
import { PLATFORM_NAME } from '../support/memory-builds.ts';
import { ANN, type DomainWorld, startDomain } from '../support/domain-world.ts';
import { expectSound } from '../support/invariants.ts';

describe('an app of the platform auto', () => {
  let world: DomainWorld;
  beforeEach(async () => {
    world = await startDomain();
    await world.useCases.apps.create(ANN, { name: 'shop', platform: 'auto' });
  });
  afterEach(() => world.dispose());

  const platform = async () => (await world.machine.store.app('shop'))?.platform;

  it('becomes what its first push is, once that serves', async () => {
    await expect(world.deploy('shop', { processes: { web: 'exit 3' } })).rejects.toMatchObject({
      code: 'deploy.failed',
    });
    expect(await platform()).toBe('auto');
    await world.deploy('shop');
    expect(await platform()).toBe(PLATFORM_NAME);
    await expectSound(world);
  });

  it('can be made so again', async () => {
    await world.deploy('shop');
    await world.useCases.appChanges.change(ANN, 'shop', { platform: 'auto' });
    expect(await platform()).toBe('auto');
    await world.deploy('shop');
    expect(await platform()).toBe(PLATFORM_NAME);
  });

  it('keeps anybody from adding a platform of that name', async () => {
    const added = world.useCases.platforms.add(PLATFORM, { name: 'auto', definition: 'text' });
    await expect(added).rejects.toMatchObject({ code: 'platform.invalid_name' });
  });
});
