/** A crash at any moment of a change other than a deploy: it is wholly there or wholly absent, and there when acknowledged. */
import { expect } from 'vitest';
import { envRecord } from '../../src/domain/apps/unit-spec.ts';
import { crashAtEveryStep } from '../support/crash-at-every-step.ts';
import type { DomainWorld } from '../support/domain-world.ts';

async function deployed(world: DomainWorld, app: string): Promise<void> {
  await world.createApp(app);
  await world.setEnv(app, { COLOR: 'green', SIZE: 'large' });
  await world.deploy(app, { processes: { web: 'serve', worker: 'stay' } });
}

/** That the release and the units agree with it is one of the invariants. */
async function envOf(world: DomainWorld, app: string): Promise<Record<string, string>> {
  return envRecord(await world.machine.store.env(app));
}

const BEFORE = { COLOR: 'green', SIZE: 'large' };

crashAtEveryStep({
  name: 'setting variables',
  prepare: deployed,
  operation: (world, app) => world.setEnv(app, { COLOR: 'blue', SHAPE: 'round' }),
  async check(world, app, acknowledged) {
    const after = { COLOR: 'blue', SHAPE: 'round', SIZE: 'large' };
    expect(acknowledged ? [after] : [BEFORE, after]).toContainEqual(await envOf(world, app));
  },
});

crashAtEveryStep({
  name: 'unsetting variables',
  prepare: deployed,
  operation: (world, app) => world.unsetEnv(app, 'COLOR', 'SIZE', 'NOWHERE'),
  async check(world, app, acknowledged) {
    expect(acknowledged ? [{}] : [BEFORE, {}]).toContainEqual(await envOf(world, app));
  },
});

crashAtEveryStep({
  name: 'a restart',
  prepare: deployed,
  operation: (world, app) => world.restart(app),
  async check(world, app) {
    expect((await world.machine.store.app(app))?.release).toBe(1);
  },
});

crashAtEveryStep({
  name: 'creating an app',
  prepare: async () => {},
  operation: (world, app) => world.createApp(app),
  async check(world, app, acknowledged) {
    if (acknowledged) expect(await world.machine.store.app(app)).not.toBeNull();
  },
});

crashAtEveryStep({
  name: 'removing an app',
  prepare: deployed,
  operation: (world, app) => world.remove(app),
  async check(world, app, acknowledged) {
    if (acknowledged) expect(await world.machine.store.app(app)).toBeNull();
  },
});
