/** A crash before every step of the recovery from a crash: the recovery after it gets there. */
import { randomInt } from 'node:crypto';
import { expect, it } from 'vitest';
import { STRIDE } from '../support/crash-at-every-step.ts';
import { type DomainWorld, startDomain } from '../support/domain-world.ts';
import { expectSound } from '../support/invariants.ts';

const TOO_MANY_CALLS = 60;

/** Crashes a second deploy when it is about to call `method` for the `call`-th time. */
async function crashDuringDeploy(world: DomainWorld, app: string, method: string, call: number): Promise<void> {
  world.faults.arm({ call, moment: 'before', only: method });
  const deploying = world.deploy(app, { processes: { web: 'serve', worker: 'stay' } });
  await Promise.race([deploying, world.faults.crashed]);
  world.crash();
}

const SITUATIONS: Record<string, (world: DomainWorld) => Promise<void>> = {
  'before the commit': (world) => crashDuringDeploy(world, 'app', 'provisioner.ready', 1),
  'after the commit, with a serving unit dead': async (world) => {
    await crashDuringDeploy(world, 'app', 'router.drained', 1);
    const app = await world.machine.store.app('app');
    const serving = (await world.machine.store.units('app')).filter((unit) => unit.rollout === app?.rollout);
    await world.machine.units.kill(serving[0]?.id ?? '');
  },
  'in the middle of a removal': async (world) => {
    world.faults.arm({ call: 1, moment: 'after', only: 'router.drained' });
    await Promise.race([world.remove('app'), world.faults.crashed]);
  },
};

for (const [situation, crash] of Object.entries(SITUATIONS)) {
  it(situation, async () => {
    let world = await startDomain();
    try {
      for (let call = 1 + randomInt(STRIDE); ; call += STRIDE) {
        expect(call).toBeLessThan(TOO_MANY_CALLS);
        if ((await world.machine.store.app('app')) === null) await world.createApp('app');
        await world.deploy('app');
        await crash(world);
        const middle = await world.machine.start({ prepare: (faults) => faults.arm({ call, moment: 'before' }) });
        await Promise.race([middle.settled(), middle.faults.crashed]);
        const hasCrashed = middle.faults.isCrashed;
        world = await middle.next();
        await expectSound(world);
        if (!hasCrashed) break;
      }
    } finally {
      await world.dispose();
    }
  });
}
