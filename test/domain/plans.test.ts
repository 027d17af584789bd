/** Plans where they count: what the units of an app may use, from one release to the next. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Failure } from '../../src/domain/failure.ts';
import type { Caller } from '../../src/domain/caller.ts';
import { crashAtEveryStep } from '../support/crash-at-every-step.ts';
import { ANN, type DomainWorld, startDomain } from '../support/domain-world.ts';
import { expectSound } from '../support/invariants.ts';

const PLATFORM: Caller = { kind: 'platform' };
const MIB = 1024 ** 2;
const SMALL = { memoryBytes: 64 * MIB, cpuMillis: 250, cpuShare: 50 };

async function addPlan(world: DomainWorld, name: string, limits: Partial<typeof SMALL> = {}): Promise<void> {
  const plan = { name, ...SMALL, diskBytes: 0, ...limits, isDefault: false };
  await world.useCases.plans.create(PLATFORM, plan);
}

const limitsOf = (world: DomainWorld) =>
  [...world.machine.units.entries.values()]
    .filter(({ spec, unit }) => spec.app === 'shop' && unit.exit === null)
    .map(({ spec: { limits } }) => ({
      memoryBytes: limits.memoryBytes,
      cpuMillis: limits.cpuMillis,
      cpuShare: limits.cpuShare ?? 0,
    }));

const release = async (world: DomainWorld) => {
  const { app } = await world.useCases.apps.info(ANN, 'shop');
  return { plan: app.plan, number: app.release, served: await world.machine.store.release('shop', app.release ?? 0) };
};

describe('the plan of an app', () => {
  let world: DomainWorld;
  beforeEach(async () => {
    world = await startDomain();
    await world.createApp('shop');
    await addPlan(world, 'small');
  });
  afterEach(() => world.dispose());

  const change = (plan: unknown) => world.useCases.appChanges.change(ANN, 'shop', { plan });

  it('is that of the units from the rollout on that its change makes', async () => {
    await world.deploy('shop', { processes: { web: 'serve', worker: 'stay' } });
    expect(limitsOf(world)).toEqual([
      { memoryBytes: 0, cpuMillis: 0, cpuShare: 0 },
      { memoryBytes: 0, cpuMillis: 0, cpuShare: 0 },
    ]);
    await change('small');
    await world.settled();
    expect(limitsOf(world)).toEqual([SMALL, SMALL]);
    expect(await release(world)).toMatchObject({ plan: 'small', number: 2, served: { reason: 'plan', limits: SMALL } });
    await world.setEnv('shop', { A: 'b' });
    await world.deploy('shop');
    await world.settled();
    expect(limitsOf(world)).toEqual([SMALL]);
    await change('default');
    expect((await release(world)).served?.limits).toBeNull();
    await expectSound(world);
  });

  it('changes nothing that runs when the limits stay the same', async () => {
    await addPlan(world, 'same');
    await world.deploy('shop');
    await change('small');
    const before = (await release(world)).number;
    await change('same');
    expect(await release(world)).toMatchObject({ plan: 'same', number: before });
  });

  it('waits for the first deploy, and for the start of an app that rests', async () => {
    await change('small');
    await world.deploy('shop');
    expect(limitsOf(world)).toEqual([SMALL]);
    await world.useCases.startStop.stop(ANN, 'shop', '', () => {});
    await change('default');
    await world.useCases.startStop.start(ANN, 'shop', '', () => {});
    expect(limitsOf(world)).toEqual([{ memoryBytes: 0, cpuMillis: 0, cpuShare: 0 }]);
  });

  it('stays over a rollback, which brings no old limits back', async () => {
    await world.deploy('shop');
    await world.deploy('shop');
    await change('small');
    await world.useCases.deploys.rollback(ANN, 'shop', 'v1', () => {});
    expect((await release(world)).served?.limits).toEqual(SMALL);
  });

  it('is as before when the app does not start with it, or there is no such plan', async () => {
    await world.deploy('shop');
    const undo = world.faults.on('provisioner.ready', () => {
      throw new Failure('out_of_memory', 'The unit used more than it may.');
    });
    await expect(change('small')).rejects.toMatchObject({ code: 'unit.failed' });
    undo();
    await expect(change('no-such')).rejects.toMatchObject({ code: 'plan.not_found' });
    expect(await release(world)).toMatchObject({ plan: 'default', number: 1 });
    expect(limitsOf(world)).toEqual([{ memoryBytes: 0, cpuMillis: 0, cpuShare: 0 }]);
  });

  it('stays as long as an app has it', async () => {
    await change('small');
    await expect(world.useCases.plans.remove(PLATFORM, 'small')).rejects.toMatchObject({
      code: 'plan.in_use',
      details: { apps: ['shop'] },
    });
    await change('default');
    await world.useCases.plans.remove(PLATFORM, 'small');
  });

  it('is no more than the machine has', async () => {
    for (const limits of [{ memoryBytes: 9 * 1024 ** 3 }, { cpuMillis: 5_000 }, { memoryBytes: MIB }]) {
      await expect(addPlan(world, 'other', limits)).rejects.toMatchObject({ code: 'plan.invalid' });
    }
    await expect(
      world.useCases.plans.create(ANN, { ...SMALL, diskBytes: 0, name: 'mine', isDefault: false }),
    ).rejects.toMatchObject({
      code: 'access.denied',
    });
  });
});

crashAtEveryStep({
  name: 'a change of the plan',
  isFresh: true,
  async prepare(world, app) {
    if ((await world.useCases.plans.list(ANN)).length === 1) await addPlan(world, 'small');
    await world.createApp(app);
    await world.deploy(app);
  },
  operation: (world, app) => world.useCases.appChanges.change(ANN, app, { plan: 'small' }),
  async check(world, app, { acknowledged }) {
    const { plan, release } = (await world.machine.store.app(app)) ?? {};
    const served = await world.machine.store.release(app, release ?? 0);
    expect([plan, served?.limits]).toEqual(plan === 'small' ? ['small', SMALL] : ['default', null]);
    if (acknowledged) expect(plan).toBe('small');
  },
});
