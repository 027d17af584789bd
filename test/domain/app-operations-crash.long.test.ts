/** Kills the platform at every single step of the operations on apps; it never needs help to be in order again. */
import { expect, it } from 'vitest';
import { ANN, type DomainWorld, startDomain } from '../support/domain-world.ts';
import { crashAtEveryStep } from '../support/crash-at-every-step.ts';
import { expectSound } from '../support/invariants.ts';

const TOO_MANY = 60;
const say = (): void => {};

async function deployed(world: DomainWorld, app: string): Promise<void> {
  await world.createApp(app);
  await world.deploy(app, { processes: { web: 'serve', worker: 'stay' } });
  await world.settled();
}

/** Process name -> number of units, as the app shows them. */
async function counts(world: DomainWorld, app: string): Promise<Record<string, number>> {
  const { units } = await world.useCases.apps.info(ANN, app);
  const found: Record<string, number> = {};
  for (const { process } of units) found[process] = (found[process] ?? 0) + 1;
  return found;
}

interface Case {
  readonly prepare?: (world: DomainWorld, app: string) => Promise<unknown>;
  readonly operation: (world: DomainWorld, app: string) => Promise<unknown>;
  readonly before: Readonly<Record<string, number>>;
  readonly after: Readonly<Record<string, number>>;
}

const CASES: Readonly<Record<string, Case>> = {
  'more units': {
    operation: (world, app) => world.useCases.scale.add(ANN, app, { units: 2, process: '' }, say),
    before: { web: 1, worker: 1 },
    after: { web: 3, worker: 1 },
  },
  'fewer units': {
    prepare: (world, app) => world.useCases.scale.add(ANN, app, { units: 2, process: '' }, say),
    operation: (world, app) => world.useCases.scale.remove(ANN, app, { units: 1, process: '' }, say),
    before: { web: 3, worker: 1 },
    after: { web: 2, worker: 1 },
  },
  'a stop': {
    operation: (world, app) => world.useCases.startStop.stop(ANN, app, '', say),
    before: { web: 1, worker: 1 },
    after: {},
  },
  'a stop of one process': {
    operation: (world, app) => world.useCases.startStop.stop(ANN, app, 'worker', say),
    before: { web: 1, worker: 1 },
    after: { web: 1 },
  },
  'a start': {
    prepare: (world, app) => world.useCases.startStop.stop(ANN, app, '', say),
    operation: (world, app) => world.useCases.startStop.start(ANN, app, '', say),
    before: {},
    after: { web: 1, worker: 1 },
  },
  'a restart of one process': {
    operation: (world, app) => world.useCases.apps.restart(ANN, app, say, 'web'),
    before: { web: 1, worker: 1 },
    after: { web: 1, worker: 1 },
  },
};

for (const [name, { prepare, operation, before, after }] of Object.entries(CASES)) {
  crashAtEveryStep({
    name,
    isFresh: true,
    async prepare(world, app) {
      await deployed(world, app);
      await prepare?.(world, app);
      await world.settled();
    },
    operation,
    async check(world, app, { acknowledged }) {
      const found = await counts(world, app);
      expect(acknowledged ? [after] : [before, after]).toContainEqual(found);
      await operation(world, app);
      await expectSound(world);
    },
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
      world.faults.arm({ call: n, moment });
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
