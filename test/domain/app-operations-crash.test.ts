/** Kills the platform at every single step of the operations on apps; it never needs help to be in order again. */
import { expect, it } from 'vitest';
import { ANN, type DomainWorld, startDomain } from '../support/domain-world.ts';
import { expectSound } from '../support/invariants.ts';

const TOO_MANY = 120;
const PROCESSES = { web: 'serve', worker: 'stay' };
const say = (): void => {};

interface Case {
  prepare?(world: DomainWorld, app: string): Promise<unknown>;
  operation(world: DomainWorld, app: string): Promise<unknown>;
}

const CASES: Record<string, Case> = {
  'more units': { operation: (world, app) => world.useCases.scale.add(ANN, app, { units: 2, process: '' }, say) },
  'fewer units': {
    prepare: (world, app) => world.useCases.scale.add(ANN, app, { units: 2, process: '' }, say),
    operation: (world, app) => world.useCases.scale.remove(ANN, app, { units: 1, process: '' }, say),
  },
  'a stop': { operation: (world, app) => world.useCases.startStop.stop(ANN, app, '', say) },
  'a stop of one process': { operation: (world, app) => world.useCases.startStop.stop(ANN, app, 'worker', say) },
  'a start': {
    prepare: (world, app) => world.useCases.startStop.stop(ANN, app, '', say),
    operation: (world, app) => world.useCases.startStop.start(ANN, app, '', say),
  },
  'a restart of one process': { operation: (world, app) => world.useCases.apps.restart(ANN, app, say, 'web') },
};

for (const [name, one] of Object.entries(CASES)) {
  it.each(['before', 'after'] as const)(`${name}, killed %s each step`, async (moment) => {
    let world = await startDomain();
    try {
      for (let n = 1; ; n++) {
        expect(n).toBeLessThan(TOO_MANY);
        const app = `app${n}`;
        await world.createApp(app);
        await world.deploy(app, { processes: PROCESSES });
        await one.prepare?.(world, app);
        await world.settled();
        world.faults.arm(n, moment);
        const done = one.operation(world, app).then(() => world.settled());
        if ((await Promise.race([done, world.faults.crashed])) !== 'crashed') break;
        const where = `killed ${moment} ${world.faults.calls.join(' ')}`;
        world = await world.next();
        await expectSound(world).catch((error: unknown) => expect.fail(`${where}: ${String(error)}`));
        await one.operation(world, app).catch((error: unknown) => expect.fail(`${where}, again: ${String(error)}`));
        await expectSound(world);
        await world.remove(app);
      }
      await expectSound(world);
    } finally {
      await world.dispose();
    }
  });
}

it.each(['before', 'after'] as const)('a swap, killed %s each step, is done or not done', async (moment) => {
  let world = await startDomain();
  try {
    await world.createApp('blue');
    await world.createApp('green');
    await world.useCases.cnames.add(ANN, 'blue', ['www.example.com']);
    for (let n = 1; ; n++) {
      expect(n).toBeLessThan(TOO_MANY);
      world.faults.arm(n, moment);
      const options = { force: false, cnameOnly: false };
      const how = await Promise.race([world.useCases.swap.swap(ANN, 'blue', 'green', options), world.faults.crashed]);
      if (how !== 'crashed') break;
      world = await world.next();
      const [blue, green] = [await world.machine.store.app('blue'), await world.machine.store.app('green')];
      const facts = [blue?.swappedWith, blue?.cname, green?.swappedWith, green?.cname];
      expect([
        [null, ['www.example.com'], null, []],
        ['green', [], 'blue', ['www.example.com']],
      ]).toContainEqual(facts);
      const routes = world.machine.table().routes.map(({ app, hosts }) => [app, ...hosts]);
      expect(routes).toEqual(
        blue?.swappedWith === null
          ? [
              ['blue', 'blue.apps.test', 'www.example.com'],
              ['green', 'green.apps.test'],
            ]
          : [
              ['blue', 'green.apps.test'],
              ['green', 'blue.apps.test', 'www.example.com'],
            ],
      );
    }
    await expectSound(world);
  } finally {
    await world.dispose();
  }
});
