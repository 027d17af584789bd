/** Runs an operation again and again, each time with a crash one call later, and looks at what the next control makes of it. */
import { expect, it } from 'vitest';
import { ANN, type DomainWorld, startDomain } from './domain-world.ts';
import { type Moment } from './faults.ts';
import { expectSound } from './invariants.ts';

const TOO_MANY_CALLS = 150;

export interface CrashCase {
  readonly name: string;
  /** Brings an app to where the operation begins; absent: it is created. */
  readonly prepare?: (world: DomainWorld, app: string) => Promise<unknown>;
  readonly operation: (world: DomainWorld, app: string) => Promise<unknown>;
  /** What must hold after the recovery. `acknowledged`: the caller had heard of the success. */
  readonly check: (world: DomainWorld, app: string, acknowledged: boolean) => Promise<void>;
}

export function crashAtEveryStep(one: CrashCase): void {
  for (const moment of ['before', 'after'] as const) {
    it(`${one.name}: a crash ${moment} each step`, async () => {
      let world = await startDomain();
      try {
        for (let call = 1; call < TOO_MANY_CALLS; call++) {
          const { next, where } = await crashOnce(world, one, { call, moment });
          world = next;
          if (where !== '') continue;
          expect(call, 'crashes there were').toBeGreaterThan(3);
          return;
        }
        throw new Error(`${one.name} does not end`);
      } finally {
        await world.dispose();
      }
    });
  }
}

/** `where` is empty when the operation ended before the crash was due. */
async function crashOnce(
  world: DomainWorld,
  one: CrashCase,
  at: { call: number; moment: Moment },
): Promise<{ next: DomainWorld; where: string }> {
  const app = `app${at.call}`;
  await (one.prepare ?? ((first, name) => first.createApp(name)))(world, app);
  let acknowledged = false;
  world.faults.arm(at.call, at.moment);
  const over = one.operation(world, app).then(async () => {
    acknowledged = true;
    await world.settled();
    return 'over' as const;
  });
  if ((await Promise.race([over, world.faults.crashed])) === 'over') return { next: world, where: '' };
  const where = `crash ${at.moment} the last of: ${world.faults.calls.join(' ')}`;
  const next = await world.next();
  try {
    await expectSound(next);
    await one.check(next, app, acknowledged);
    await expectUsable(next, app);
  } catch (error) {
    throw new Error(`${where}\n${String(error)}`, { cause: error });
  }
  return { next, where };
}

/** A following deploy works without any repair; what the removal of an app leaves is nothing. */
async function expectUsable(world: DomainWorld, app: string): Promise<void> {
  if ((await world.machine.store.app(app)) === null) {
    expect(await world.machine.logStore.query({ app, lines: 0 })).toEqual([]);
    await world.createApp(app);
  }
  const deploy = await world.deploy(app);
  expect((await world.useCases.apps.info(ANN, app)).app.release).toBe(deploy.release);
  await expectSound(world);
  await world.remove(app);
}
