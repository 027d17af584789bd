/**
 * Random sequences on a real provider over HTTP that misbehaves in all the ways that the mock knows: afterwards there is nothing at the
 * provider that nobody knows of, and where it has not forgotten anything itself, provider, store and apps agree.
 */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { createServiceEndpoints } from '../../src/backends/service-endpoint/index.ts';
import { SILENT } from '../../src/lib/logger.ts';
import { type MockProvider, startMockProvider } from '../../src/providers/mock/mock.ts';
import { type Misdeed, MISDEEDS, type Rule } from '../../src/providers/mock/rules.ts';
import { ANN, type DomainWorld, startDomain } from '../support/domain-world.ts';
import { expectSound } from '../support/invariants.ts';
import { rounds } from '../support/rounds.ts';
import { serviceViolations } from '../support/service-invariants.ts';
import { isRefusal, operate, type Step, step } from '../support/service-steps.ts';
import { until } from '../support/until.ts';
import { parseManifest } from '../../src/domain/services/manifest.ts';
import { SEQUENCE_LIMIT, SLOW } from '../support/slow.ts';

const RUNS = SLOW ? rounds(60, 500) : 10;
const LONGEST = 8;
const DEADLINE_MS = 150;
/** Longer than anybody waits, and shorter than a test. */
const LATE_MS = 300;

const misdeeds = (Object.keys(MISDEEDS) as Misdeed[]).filter((one) => !['exit', 'huge', 'drip'].includes(one));
const anyRule: fc.Arbitrary<Rule> = fc.record({
  on: fc.constantFrom('create', 'bind', 'unbind', 'remove', 'bindUnit', 'unbindUnit', 'all' as const),
  do: fc.constantFrom(...misdeeds),
  times: fc.integer({ min: 1, max: 2 }),
  ms: fc.constant(LATE_MS),
});
/** A provider that says that something is gone and keeps it is believed: nobody can know better. */
const rule = anyRule.filter((one) => one.do !== 'lie' || one.on === 'create' || one.on === 'bind');
const crashAt = fc.oneof(
  { weight: 3, arbitrary: fc.constant(0) },
  { weight: 1, arbitrary: fc.integer({ min: 1, max: 14 }) },
);
type Trouble = { readonly rules: readonly Rule[]; readonly crashAt: number };
const trouble: fc.Arbitrary<Trouble> = fc.record({ rules: fc.array(rule, { maxLength: 2 }), crashAt });

/** Names that meet those of the other instance and of the app itself, and values with everything that text may have. */
function variables(instance: string, app: string): Record<string, string> {
  const value = `${instance} of ${app}\n"quoted" \\ \u2603 \u{1f600} \t ${Math.random()}`;
  return { [`${instance.toUpperCase()}_URL`]: value, SHARED: value, __proto__x: value, toString: value };
}

async function run(world: DomainWorld, mock: MockProvider, one: Step, what: Trouble): Promise<DomainWorld> {
  mock.behave();
  for (const each of what.rules) mock.addRule(each);
  world.faults.arm({ call: what.crashAt, moment: 'before' });
  const over = operate(world, one).then(
    () => 'over' as const,
    (error: unknown) => {
      if (isRefusal(error)) return 'over' as const;
      throw error;
    },
  );
  const ended = await Promise.race([over, world.faults.crashed]);
  world.faults.arm({ call: 0, moment: 'before' });
  // Something in the background may have come to the moment of the crash just then.
  return ended === 'over' && !world.faults.isCrashed ? world : world.next();
}

/** What does not agree, one sentence each. */
async function disagreements(world: DomainWorld, mock: MockProvider, hasForgotten: boolean): Promise<string[]> {
  const { store } = world.machine;
  const wrong: string[] = [];
  const instances = await store.instances();
  for (const [name, { id, bindings }] of mock.instances) {
    const known = instances.find((instance) => instance.id === id);
    if (known === undefined) wrong.push(`nobody knows of ${name}`);
    const bound = known === undefined ? [] : await store.bindings({ instance: known.id });
    for (const [app, binding] of bindings) {
      const mine = bound.find(({ appHost }) => appHost === app);
      if (mine === undefined) wrong.push(`nobody knows of ${name} bound to ${app}`);
      else if (
        JSON.stringify(Object.entries(mine.vars).sort()) !== JSON.stringify(Object.entries(binding.variables).sort())
      )
        wrong.push(`${app} has other variables of ${name} than it was given`);
    }
  }
  if (hasForgotten) return wrong;
  for (const { id, name } of instances) {
    const there = mock.instances.get(name);
    if (there === undefined) wrong.push(`${name} is missing`);
    for (const { appHost } of await store.bindings({ instance: id }))
      if (there?.bindings.has(appHost) !== true) wrong.push(`${name} is not bound to ${appHost}`);
  }
  return wrong;
}

/** Of the protocol; people wait for less. */
const deadlines = { connect: 1_000, short: 1_000, long: 1_000, asynchronous: 1_000, poll: 5 };

/** `isHasty`: gives up on a provider much sooner than people do. */
async function startOn(mock: MockProvider, isHasty: boolean): Promise<DomainWorld> {
  const first = await startDomain();
  first.machine.remote = createServiceEndpoints({
    allow: [],
    allowLoopback: true,
    ownPorts: () => [],
    logger: SILENT,
    ...(isHasty && { deadlines }),
  });
  const world = await first.next();
  const manifest = `id: db\nusername: mock\npassword: ${mock.password}\nendpoint:\n  production: ${mock.url}\n`;
  await world.useCases.services.create(ANN, parseManifest(manifest));
  for (const name of ['app', 'other']) await world.createApp(name);
  await world.deploy('app');
  await world.useCases.instances.create(ANN, { name: 'one', service: 'db' });
  if (isHasty) world.machine.deadlines = { createMs: DEADLINE_MS, changeMs: DEADLINE_MS, lookMs: DEADLINE_MS };
  return world.next();
}

it.each([{ do: 'redirect' }, { do: 'fail', status: 403 }] as const)(
  'a removal that was done and cut off is not taken back by what its repetition is answered ($do)',
  async (answer) => {
    const mock = await startMockProvider({ variables });
    const world = await startOn(mock, false);
    try {
      mock.addRule({ on: 'remove', times: 1, ...answer });
      mock.addRule({ on: 'remove', do: 'die-after', times: 1 });
      await world.useCases.instances.remove(ANN, 'one');
      expect(mock.asked.flatMap(({ did }) => (did === '' ? [] : [did]))).toEqual(['die-after', answer.do]);
      await until(async () => (await world.machine.store.instances()).length === 0, {
        what: 'the instance to be gone',
      });
      expect([...mock.instances]).toEqual([]);
    } finally {
      await world.dispose();
      await mock.stop();
    }
  },
);

it(`of ${RUNS} random sequences none leaves anything that nobody knows of`, { timeout: RUNS * 8_000 }, async () => {
  const steps = fc.array(fc.tuple(step, trouble), { minLength: 2, maxLength: LONGEST });
  const property = fc.asyncProperty(steps, async (sequence) => {
    const mock = await startMockProvider({ variables });
    let world = await startOn(mock, true);
    try {
      for (const [one, what] of sequence) world = await run(world, mock, one, what);
      // A lie is a provider that forgets at once.
      const unsaid = mock.asked.filter(({ did }) => did === 'forget' || did === 'lie');
      mock.behave();
      world = await world.next();
      let wrong: string[] = [];
      await until(
        async () => {
          const orphans = (await world.parts.orphans.find()).map(
            ({ instance, app, problem }) => `${instance} ${app}: ${problem}`,
          );
          return (wrong = [...orphans, ...(await disagreements(world, mock, unsaid.length > 0))]).length === 0;
        },
        { timeoutMs: 60_000, everyMs: 10, what: 'all to agree', detail: () => wrong.join('\n') },
      );
      await expectSound(world);
      const apart = (await serviceViolations(world)).filter((text) => text.startsWith('the environment'));
      expect(apart).toEqual([]);
    } finally {
      await world.dispose();
      await mock.stop();
    }
  });
  await fc.assert(property, { numRuns: RUNS, ...SEQUENCE_LIMIT });
});
