/** A crash at any moment of a change other than a deploy: it is wholly there or wholly absent, and there when acknowledged. */
import { expect } from 'vitest';
import { envRecord } from '../../src/domain/units/unit-spec.ts';
import { crashAtEveryStep } from '../support/crash-at-every-step.ts';
import type { DomainWorld } from '../support/domain-world.ts';

const NAMES = Array.from({ length: 45 }, (_, n) => `V${n}`);

async function deployed(world: DomainWorld, app: string): Promise<void> {
  await world.createApp(app);
  await world.setEnv(app, Object.fromEntries(NAMES.map((name) => [name, 'at first'])));
  await world.deploy(app);
}

/** That the release and the units agree with it is one of the invariants. */
async function envOf(world: DomainWorld, app: string): Promise<Record<string, string>> {
  return envRecord(await world.machine.store.env(app));
}

crashAtEveryStep({
  name: 'setting variables',
  prepare: deployed,
  operation: (world, app, run) => world.setEnv(app, { V0: `run ${run}`, [`NEW${run}`]: 'new' }),
  async check(world, app, { acknowledged, run }) {
    const env = await envOf(world, app);
    const isThere = env[`NEW${run}`] === 'new';
    expect(env['V0'] === `run ${run}`).toBe(isThere);
    expect(env['V1']).toBe('at first');
    if (acknowledged) expect(isThere).toBe(true);
  },
});

crashAtEveryStep({
  name: 'unsetting variables',
  prepare: deployed,
  operation: (world, app, run) => world.unsetEnv(app, `V${run}`, `V${run + 1}`, 'NOWHERE'),
  async check(world, app, { acknowledged, run }) {
    const env = await envOf(world, app);
    const isDone = !(`V${run}` in env) && !(`V${run + 1}` in env);
    if (!isDone) expect(env[`V${run + 1}`]).toBe('at first');
    if (acknowledged) expect(isDone).toBe(true);
  },
});

crashAtEveryStep({
  name: 'a restart',
  prepare: deployed,
  operation: (world, app) => world.restart(app),
  async check(world, app, { before, acknowledged }) {
    const now = await world.machine.store.app(app);
    expect(now?.release).toBe(before?.release);
    if (acknowledged) expect(now?.rollout).not.toBe(before?.rollout);
  },
});

crashAtEveryStep({
  name: 'creating an app',
  isFresh: true,
  prepare: async () => {},
  operation: (world, app) => world.createApp(app),
  async check(world, app, { acknowledged }) {
    if (acknowledged) expect(await world.machine.store.app(app)).not.toBeNull();
  },
});

crashAtEveryStep({
  name: 'removing an app',
  isFresh: true,
  prepare: deployed,
  operation: (world, app) => world.remove(app),
  async check(world, app, { acknowledged }) {
    if (acknowledged) expect(await world.machine.store.app(app)).toBeNull();
  },
});
