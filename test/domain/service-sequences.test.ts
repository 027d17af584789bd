/**
 * Random sequences of creating, binding, unbinding, removing and killing control, on a provider that misbehaves in every way it
 * can: afterwards provider, store and the environments of the apps agree, and meanwhile what is left over is listed.
 */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { FAULTS, type Fault } from '../../src/backends/service-endpoint/memory/faults.ts';
import type { ErrorCode } from '../../src/domain/errors.ts';
import { isPlatformError } from '../../src/domain/errors.ts';
import { parseManifest } from '../../src/domain/services/manifest.ts';
import { ANN, type DomainWorld, startDomain } from '../support/domain-world.ts';
import { expectSound } from '../support/invariants.ts';
import { expectSoundServices, unlisted } from '../support/service-invariants.ts';

const SLOW = process.env['TANCHO_TEST_SLOW'] === '1';
const RUNS = SLOW ? 500 : 60;
const LONGEST = 8;
const say = (): void => {};

type Step =
  | { readonly kind: 'create' | 'remove' | 'force'; readonly instance: string }
  | { readonly kind: 'bind' | 'unbind'; readonly instance: string; readonly app: string }
  | { readonly kind: 'deploy' | 'back' | 'remove app'; readonly app: string };

/** What happens at the same time: the provider's ways of failing, call by call, and whether control is killed. */
type Trouble = { readonly faults: readonly Fault[]; readonly crashAt: number; readonly after: boolean };

const instance = fc.constantFrom('one', 'two');
const app = fc.constantFrom('app', 'other');
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('create' as const), instance }) },
  { weight: 5, arbitrary: fc.record({ kind: fc.constant('bind' as const), instance, app }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('unbind' as const), instance, app }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('remove' as const), instance }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constantFrom('deploy' as const, 'remove app' as const), app }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('back' as const), app }) },
);
const trouble: fc.Arbitrary<Trouble> = fc.record({
  faults: fc.array(fc.constantFrom(...FAULTS), { maxLength: 3 }),
  crashAt: fc.oneof(
    { weight: 2, arbitrary: fc.constant(0) },
    { weight: 1, arbitrary: fc.integer({ min: 1, max: 14 }) },
  ),
  after: fc.boolean(),
});

const REFUSALS: readonly ErrorCode[] = [
  'instance.not_found',
  'instance.name_taken',
  'instance.bound',
  'instance.not_ready',
  'binding.exists',
  'binding.not_found',
  'provider.failed',
  'app.not_found',
  'app.busy',
  'app.not_deployed',
  'release.not_found',
];

/** One that was removed comes back first, under the same name. */
async function deployed(world: DomainWorld, name: string): Promise<void> {
  const known = await world.machine.store.app(name);
  if (known === null) await world.createApp(name);
  if (known?.removing !== true) await world.deploy(name);
}

function operate(world: DomainWorld, one: Step): Promise<unknown> {
  const { instances, bindings } = world.useCases;
  switch (one.kind) {
    case 'create':
      return instances.create(ANN, { name: one.instance, service: 'db' });
    case 'remove':
    case 'force':
      return instances.remove(ANN, one.instance, { force: one.kind === 'force' });
    case 'bind':
      return bindings.bind(ANN, one.instance, one.app, {}, say);
    case 'unbind':
      return bindings.unbind(ANN, one.instance, one.app, {}, say);
    case 'deploy':
      return deployed(world, one.app);
    case 'back':
      return world.useCases.deploys.rollback(ANN, one.app, 'previous', say);
    case 'remove app':
      return one.app === 'other' ? world.remove('other') : Promise.resolve();
  }
}

async function run(world: DomainWorld, one: Step, { faults, crashAt, after }: Trouble): Promise<DomainWorld> {
  const coming = [...faults];
  world.machine.fault = () => coming.shift() ?? 'none';
  world.faults.arm({ call: crashAt, moment: after ? 'after' : 'before' });
  const over = operate(world, one).then(
    () => 'over' as const,
    (error: unknown) => {
      if (REFUSALS.some((code) => isPlatformError(error, code))) return 'over' as const;
      throw error;
    },
  );
  const ended = await Promise.race([over, world.faults.crashed]);
  world.faults.arm({ call: 0, moment: 'before' });
  if (ended === 'over') {
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
    await fc.assert(property, { numRuns: RUNS });
  },
);
