import { expect, it } from 'vitest';
import { startDomain } from '../../../test/support/domain-world.ts';

it('takes no environment with which no process could be started', async () => {
  const world = await startDomain();
  try {
    await world.createApp('shop');
    const large = (names: string[]): Record<string, string> =>
      Object.fromEntries(names.map((name) => [name, 'x'.repeat(60_000)]));
    const names = Array.from({ length: 17 }, (_, n) => `V${n}`);
    await world.setEnv('shop', large(names));
    await expect(world.setEnv('shop', large(['ONE_MORE']))).rejects.toMatchObject({ code: 'env.invalid' });
    await world.setEnv('shop', { V0: 'small' });
    await world.setEnv('shop', large(['ONE_MORE']));
  } finally {
    await world.dispose();
  }
});
