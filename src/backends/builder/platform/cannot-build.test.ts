/** A server that may not run builds on an image says so before it brings one, and what to do where it is. */
import { expect, it } from 'vitest';
import { builderWorld } from '../../../../test/support/builder-world.ts';
import { nodeApp } from '../../../../test/support/git.ts';
import { treeOf } from '../../../../test/support/source-trees.ts';

const never = async (): Promise<never> => {
  throw new Error('it was asked for an image');
};

it.each([
  [{}, 'install the package "bubblewrap"'],
  [{ KUBERNETES_SERVICE_HOST: '10.96.0.1' }, 'with --builds (tancho install kubernetes)'],
])('in %j', async (environment, hint) => {
  const world = await builderWorld(undefined, {
    bases: new Map([['*', 'registry.test/base:1']]),
    more: { environment, images: { copy: never, unpack: never } },
  });
  try {
    const failed = world.build({ platform: 'nodejs', source: treeOf(nodeApp('hello')) });
    await expect(failed).rejects.toMatchObject({
      code: 'toolchain_missing',
      message: 'Code of nodejs is built on an image here, and this server cannot: it has for tests.',
      hint: expect.stringContaining(hint) as unknown,
    });
  } finally {
    await world.dispose();
  }
});
