/** Random sequences of operations, deaths and crashes against a simple model of what an app is afterwards. */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { envRecord } from '../../src/domain/units/unit-spec.ts';
import { isPlatformError } from '../../src/domain/errors.ts';
import { type DomainWorld, startDomain } from '../support/domain-world.ts';
import { expectSound } from '../support/invariants.ts';
import type { Recipe } from '../support/memory-builds.ts';
import { SEQUENCE_LIMIT } from '../support/slow.ts';

const RUNS = 12;
const LONGEST = 7;

interface Model {
  release: number;
  processes: readonly string[];
  env: Record<string, string>;
  deploys: number;
}

type Step = { readonly what: string } & (
  | { readonly kind: 'deploy'; readonly processes: readonly string[] }
  | { readonly kind: 'bad deploy'; readonly recipe: Recipe }
  | { readonly kind: 'set'; readonly name: string; readonly value: string }
  | { readonly kind: 'unset'; readonly name: string }
  | { readonly kind: 'restart' | 'death' | 'crash' }
);

const names = fc.constantFrom('A', 'B', 'C');

function described<T extends { kind: string }>(steps: fc.Arbitrary<T>): fc.Arbitrary<T & { what: string }> {
  return steps.map((step) => ({ ...step, what: JSON.stringify(step) }));
}

const steps: fc.Arbitrary<Step> = described(
  fc.oneof(
    fc.record({
      kind: fc.constant('deploy' as const),
      processes: fc.constantFrom(['web'], ['web', 'worker'], ['web']),
    }),
    fc.record({
      kind: fc.constant('bad deploy' as const),
      recipe: fc.constantFrom<Recipe>(
        { failure: 'build_failed' },
        { processes: { web: 'exit 3' } },
        { hooks: { restartBefore: ['exit 1'] } },
        { hooks: { restartAfter: ['exit 1'] } },
        { healthCheck: { path: '/broken' } },
      ),
    }),
    fc.record({ kind: fc.constant('set' as const), name: names, value: fc.constantFrom('1', 'two', 'three words') }),
    fc.record({ kind: fc.constant('unset' as const), name: names }),
    fc.record({ kind: fc.constantFrom('restart' as const, 'death' as const, 'crash' as const) }),
  ),
);

const COMMANDS: Record<string, string> = { web: 'serve', worker: 'stay' };

/** True when the platform did it. */
async function tried(work: Promise<unknown>): Promise<boolean> {
  try {
    await work;
    return true;
  } catch (error) {
    if (isPlatformError(error, 'deploy.failed') || isPlatformError(error, 'app.not_deployed')) return false;
    // A unit may be killed just when its release is being replaced; that is no failure of these recipes.
    throw error;
  }
}

async function apply(world: DomainWorld, model: Model, step: Step): Promise<DomainWorld> {
  const isDeployed = model.release > 0;
  switch (step.kind) {
    case 'deploy': {
      const processes = Object.fromEntries(step.processes.map((name) => [name, COMMANDS[name] ?? '']));
      expect(await tried(world.deploy('app', { processes }))).toBe(true);
      Object.assign(model, { release: model.release + 1, deploys: model.deploys + 1, processes: step.processes });
      return world;
    }
    case 'bad deploy':
      expect(await tried(world.deploy('app', step.recipe))).toBe(false);
      return world;
    case 'set':
      await world.setEnv('app', { [step.name]: step.value });
      model.env[step.name] = step.value;
      if (isDeployed) model.release += 1;
      return world;
    case 'unset':
      await world.unsetEnv('app', step.name);
      if (isDeployed && step.name in model.env) model.release += 1;
      delete model.env[step.name];
      return world;
    case 'restart':
      expect(await tried(world.restart('app'))).toBe(true);
      return world;
    case 'death': {
      const [unit] = await world.machine.store.units('app');
      await world.machine.units.kill(unit?.id ?? '');
      return world;
    }
    case 'crash':
      return world.next();
  }
}

async function expectModel(world: DomainWorld, model: Model): Promise<void> {
  await expectSound(world);
  const { store } = world.machine;
  const app = await store.app('app');
  expect(app).toMatchObject({ release: model.release === 0 ? null : model.release, deploys: model.deploys });
  expect(envRecord(await store.env('app'))).toEqual(model.env);
  const units = (await store.units('app')).map((unit) => unit.process).sort();
  expect(units).toEqual([...model.processes].sort());
}

it('end as the model says', async () => {
  const property = fc.asyncProperty(fc.array(steps, { minLength: 2, maxLength: LONGEST }), async (sequence) => {
    let world = await startDomain();
    try {
      await world.createApp('app');
      const model: Model = { release: 0, processes: [], env: {}, deploys: 0 };
      for (const step of sequence) world = await apply(world, model, step);
      await expectModel(world, model);
    } finally {
      await world.dispose();
    }
  });
  await fc.assert(property, { numRuns: RUNS, ...SEQUENCE_LIMIT });
});

it('of operations that come at the same time are done one after the other, and apps do not wait for each other', async () => {
  const world = await startDomain();
  try {
    await Promise.all(['app', 'other'].map((name) => world.createApp(name)));
    await world.deploy('app');
    let building = 0;
    world.faults.on('builder.build', async ([request]) => {
      if ((request as { app: string }).app !== 'app') return;
      expect(++building).toBe(1);
      await new Promise((resolve) => setImmediate(resolve));
      building -= 1;
    });
    const held = world.faults.hold('provisioner.exec');
    const blocked = world.deploy('other', { hooks: { restartBefore: ['exit 0'] } });
    await held.reached;
    const bad = world.deploy('app', { processes: { web: 'exit 3' } }).catch((error: unknown) => error);
    await Promise.all([
      world.deploy('app'),
      world.setEnv('app', { A: '1' }),
      world.deploy('app'),
      world.setEnv('app', { B: '2' }),
      world.restart('app'),
      world.unsetEnv('app', 'A'),
      world.deploy('app'),
    ]);
    expect(isPlatformError(await bad, 'deploy.failed')).toBe(true);
    held.release();
    await blocked;
    await expectModel(world, { release: 7, processes: ['web'], env: { B: '2' }, deploys: 4 });
  } finally {
    await world.dispose();
  }
});
