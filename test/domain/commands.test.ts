/** Commands beside the units: how many there may be at a time. */
import { afterEach, beforeEach, expect, it } from 'vitest';
import { ANN, type DomainWorld, startDomain } from '../support/domain-world.ts';

let world: DomainWorld;
beforeEach(async () => {
  world = await startDomain();
  await world.createApp('shop');
  await world.deploy('shop');
});
afterEach(() => world.dispose());

it('runs twenty of an app at most, and as many again when they have ended', async () => {
  const { signal } = new AbortController();
  const run = () => world.useCases.run.run(ANN, 'shop', { command: 'true', once: true, output: () => {}, signal });
  let open = (): void => {};
  const gate = new Promise<void>((resolve) => (open = resolve));
  let begun = 0;
  world.faults.on('provisioner.exec', async () => {
    begun += 1;
    await gate;
  });
  const running = Array.from({ length: 20 }, run);
  await expect.poll(() => begun).toBe(20);
  await expect(run()).rejects.toMatchObject({ code: 'unavailable' });
  open();
  await Promise.all(running);
  await run();
});
