/**
 * Random sequences of creating, binding, unbinding, removing and killing control, on a provider that misbehaves in every way it
 * can: afterwards provider, store and the environments of the apps agree, and meanwhile what is left over is listed.
 */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { FAULTS, type Fault } from '../../src/backends/service-endpoint/memory/faults.ts';
import { parseManifest } from '../../src/domain/services/manifest.ts';
import { ANN, type DomainWorld, startDomain } from '../support/domain-world.ts';
import { expectSound } from '../support/invariants.ts';
import { rounds } from '../support/rounds.ts';
import { expectSoundServices, unlisted } from '../support/service-invariants.ts';
import { operate, isRefusal, type Step, step } from '../support/service-steps.ts';
import { SEQUENCE_LIMIT, SLOW } from '../support/slow.ts';

const RUNS = SLOW ? rounds(40, 200) : 20;
const LONGEST = 8;
/** What happens at the same time: the provider's ways of failing, call by call, and whether control is killed. */
type Trouble = { readonly faults: readonly Fault[]; readonly crashAt: number; readonly after: boolean };

const trouble: fc.Arbitrary<Trouble> = fc.record({
  faults: fc.array(fc.constantFrom(...FAULTS), { maxLength: 3 }),
  crashAt: fc.oneof(
    { weight: 2, arbitrary: fc.constant(0) },
    { weight: 1, arbitrary: fc.integer({ min: 1, max: 14 }) },
  ),
  after: fc.boolean(),
});

async function run(world: DomainWorld, one: Step, { faults, crashAt, after }: Trouble): Promise<DomainWorld> {
  const coming = [...faults];
  world.machine.fault = () => coming.shift() ?? 'none';
  world.faults.arm({ call: crashAt, moment: after ? 'after' : 'before' });
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
  if (ended === 'over' && !world.faults.isCrashed) {
    expect(await unlisted(world)).toEqual([]);
    return world;
  }
  return world.next();
}

it(
  `of ${RUNS} random sequences every one leaves provider, store and apps agreeing`,
  { timeout: RUNS * 6_000 },
  async () => {
    const steps = fc.array(fc.tuple(step, trouble), { minLength: 2, maxLength: LONGEST });
    const property = fc.asyncProperty(steps, async (sequence) => {
      let world = await startDomain();
      try {
        world.machine.deadlines = { createMs: 40, changeMs: 40, lookMs: 40 };
        world = await world.next();
        const manifest = parseManifest('id: db\npassword: s\nendpoint:\n  production: http://x\n');
        await world.useCases.services.create(ANN, manifest);
        for (const name of ['app', 'other']) await world.createApp(name);
        await world.deploy('app');
        await world.useCases.instances.create(ANN, { name: 'one', service: 'db' });
        for (const [one, what] of sequence) world = await run(world, one, what);
        world.machine.fault = () => 'none';
        await expectSoundServices(world);
        // A build that was under way in memory ends even when its control is dead; only a start looks for what it left.
        world = await world.next();
        await expectSound(world);
        await expectSoundServices(world);
      } finally {
        await world.dispose();
      }
    });
    await fc.assert(property, { numRuns: RUNS, ...SEQUENCE_LIMIT });
  },
);
