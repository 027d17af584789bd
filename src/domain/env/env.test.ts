import { expect, it } from 'vitest';
import { ANN, startDomain } from '../../../test/support/domain-world.ts';

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
    const many = Array.from({ length: 1_001 }, (_, n) => `V${n}`);
    const { env } = world.useCases;
    await expect(env.get(ANN, 'shop', many)).rejects.toMatchObject({ code: 'env.invalid' });
    const unset = env.unset(ANN, 'shop', many, { noRestart: true }, () => {});
    await expect(unset).rejects.toMatchObject({ code: 'env.invalid' });
    expect(await env.get(ANN, 'shop')).toHaveLength(18);
  } finally {
    await world.dispose();
  }
});
