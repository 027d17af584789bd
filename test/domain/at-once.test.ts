/**
 * Everything that people do to apps and services, at the same time and at random, with and without a crash in the middle: each is done or
 * refused for a reason, what is left is sound, and what was acknowledged is there.
 */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { FAULTS, type Fault } from '../../src/backends/service-endpoint/memory/faults.ts';
import { isPlatformError } from '../../src/domain/errors.ts';
import { parseManifest } from '../../src/domain/services/manifest.ts';
import { ANN, type DomainWorld, startDomain } from '../support/domain-world.ts';
import { expectSound } from '../support/invariants.ts';
import { rounds } from '../support/rounds.ts';
import { expectSoundServices } from '../support/service-invariants.ts';
import { SEQUENCE_LIMIT, SLOW } from '../support/slow.ts';

const RUNS = SLOW ? rounds(25, 100) : 15;
const MOST = 10;
const say = (): void => {};

const KINDS = [
  ...[
    'deploy',
    'bad deploy',
    'set',
    'set',
    'restart',
    'more',
    'less',
    'bind',
    'bind',
    'unbind',
    'back',
    'swap',
    'plan',
  ],
  ...['cname', 'remove', 'create', 'instance', 'remove instance', 'heal'],
] as const;

interface Doing {
  readonly kind: (typeof KINDS)[number];
  readonly app: string;
  readonly instance: string;
  readonly afterMs: number;
}

const doing: fc.Arbitrary<Doing> = fc.record({
  kind: fc.constantFrom(...KINDS),
  app: fc.constantFrom('app', 'other'),
  instance: fc.constantFrom('one', 'two'),
  afterMs: fc.integer({ min: 0, max: 30 }),
});

const burst = fc.record({
  doings: fc.array(doing, { minLength: 3, maxLength: MOST }),
  faults: fc.array(fc.constantFrom(...FAULTS), { maxLength: 4 }),
  crashAt: fc.oneof(fc.constant(0), fc.integer({ min: 1, max: 60 })),
});

/** Faults of the platform itself, and nothing that people could have done about. */
const NEVER = ['internal', 'unavailable'];

function isReason(error: unknown): boolean {
  if (isPlatformError(error)) return !NEVER.includes(error.code);
  // Of the repositories in memory, before the platform is asked.
  return error instanceof Error && error.message.startsWith('there is no repository of ');
}

async function operate(world: DomainWorld, { kind, app, instance }: Doing, name: string): Promise<unknown> {
  const { useCases } = world;
  switch (kind) {
    case 'deploy':
      return world.deploy(app);
    case 'bad deploy':
      return world.deploy(app, { processes: { web: 'exit 3' } });
    case 'set':
      return world.setEnv(app, { [name]: 'x' });
    case 'restart':
      return world.restart(app);
    case 'more':
      return useCases.scale.add(ANN, app, { process: 'web', units: 1 }, say);
    case 'less':
      return useCases.scale.remove(ANN, app, { process: 'web', units: 1 }, say);
    case 'bind':
      return useCases.bindings.bind(ANN, instance, app, {}, say);
    case 'unbind':
      return useCases.bindings.unbind(ANN, instance, app, {}, say);
    case 'back':
      return useCases.deploys.rollback(ANN, app, 'previous', say);
    case 'swap':
      return useCases.swap.swap(ANN, 'app', 'other', { force: true, cnameOnly: false });
    case 'plan':
      return useCases.appChanges.change(ANN, app, { description: name });
    case 'cname':
      return useCases.cnames.add(ANN, app, [`${name.toLowerCase()}.example.org`]);
    case 'remove':
      return useCases.apps.remove(ANN, app, say, true);
    case 'create':
      return world.createApp(app);
    case 'instance':
      return useCases.instances.create(ANN, { name: instance, service: 'db' });
    case 'remove instance':
      return useCases.instances.remove(ANN, instance);
    case 'heal':
      return world.parts.orphans.heal();
  }
}

interface Outcome {
  readonly name: string;
  readonly doing: Doing;
  readonly isDone: boolean;
}

async function all(
  world: DomainWorld,
  doings: readonly Doing[],
): Promise<{ outcomes: Outcome[]; over: Promise<void> }> {
  const outcomes: Outcome[] = [];
  const works = doings.map(async (one, n) => {
    await new Promise((resolve) => setTimeout(resolve, one.afterMs));
    const name = `V${n}`;
    try {
      await operate(world, one, name);
      outcomes.push({ name, doing: one, isDone: true });
    } catch (error) {
      if (!isReason(error)) throw error;
      outcomes.push({ name, doing: one, isDone: false });
    }
  });
  return { outcomes, over: Promise.all(works).then(() => undefined) };
}

async function prepared(): Promise<DomainWorld> {
  const first = await startDomain();
  first.machine.deadlines = { createMs: 60, changeMs: 60, lookMs: 60 };
  const world = await first.next();
  const manifest = parseManifest('id: db\npassword: s\nendpoint:\n  production: http://x\n');
  await world.useCases.services.create(ANN, manifest);
  for (const name of ['app', 'other']) {
    await world.createApp(name);
    await world.deploy(name);
  }
  await world.useCases.instances.create(ANN, { name: 'one', service: 'db' });
  return world;
}

it(`${RUNS} bursts leave a sound platform with all that was acknowledged`, { timeout: RUNS * 10_000 }, async () => {
  const property = fc.asyncProperty(burst, async ({ doings, faults, crashAt }) => {
    let world = await prepared();
    try {
      const coming: Fault[] = [...faults];
      world.machine.fault = () => coming.shift() ?? 'none';
      world.faults.arm({ call: crashAt, moment: 'after' });
      const { outcomes, over } = await all(world, doings);
      await Promise.race([over, world.faults.crashed]);
      world.faults.arm({ call: 0, moment: 'before' });
      const { isCrashed } = world.faults;
      world.machine.fault = () => 'none';
      if (isCrashed) world = await world.next();
      await expectSoundServices(world);
      // A build that was under way in memory ends even when its control is dead; only a start looks for what it left.
      if (isCrashed) world = await world.next();
      await expectSound(world);
      await expectKept(world, doings, outcomes);
    } finally {
      await world.dispose();
    }
  });
  await fc.assert(property, { numRuns: RUNS, ...SEQUENCE_LIMIT });
});

/** Variables that were set are there, unless the app went back or away in the same burst. */
async function expectKept(world: DomainWorld, doings: readonly Doing[], outcomes: readonly Outcome[]): Promise<void> {
  for (const app of ['app', 'other']) {
    if (doings.some((one) => one.app === app && (one.kind === 'back' || one.kind === 'remove'))) continue;
    const names = (await world.machine.store.env(app)).map(({ name }) => name);
    const set = outcomes.filter(({ doing: one, isDone }) => isDone && one.kind === 'set' && one.app === app);
    expect(names).toEqual(expect.arrayContaining(set.map(({ name }) => name)));
  }
}
