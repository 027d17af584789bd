/** What is being started when everything is to stop is not left behind. */
import { expect, it } from 'vitest';
import { startDomain } from '../support/domain-world.ts';
import { until } from '../support/until.ts';

it('waits for a unit that an engine is just starting, and lets nothing start after it', async () => {
  const world = await startDomain();
  const { machine } = world;
  let release = (): void => {};
  try {
    let begun = 0;
    const gate = new Promise<void>((resolve) => (release = resolve));
    const whole = machine.provisioner.bind(machine);
    Object.assign(machine, {
      provisioner: () => {
        const provisioner = whole();
        const ensure = provisioner.ensure.bind(provisioner);
        provisioner.ensure = async (spec) => {
          begun += 1;
          await gate;
          return ensure(spec);
        };
        return provisioner;
      },
    });
    const next = await world.next();
    await next.createApp('shop');
    const deployed = next.deploy('shop').then(
      () => 'done',
      (error: unknown) => error,
    );
    await until(() => begun === 1, { what: 'the engine to be asked for a unit' });
    let isClosed = false;
    const closing = next.parts.units.close().then(() => (isClosed = true));
    await new Promise((resolve) => setImmediate(resolve));
    expect(isClosed).toBe(false);
    release();
    await closing;
    expect(await deployed).not.toBe('done');
    await next.createApp('other');
    await expect(next.deploy('other')).rejects.toMatchObject({ details: { cause: 'interrupted' } });
    expect(begun).toBe(1);
  } finally {
    release();
    await world.dispose();
  }
});
