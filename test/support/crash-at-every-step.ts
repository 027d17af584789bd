/** Runs an operation again and again, each time with a crash some calls later, and looks at what the next control makes of it. */
import { randomInt } from 'node:crypto';
import { expect, it } from 'vitest';
import type { App } from '../../src/domain/apps/app.ts';
import { type DomainWorld, startDomain } from './domain-world.ts';
import type { Moment } from './faults.ts';
import { expectSound } from './invariants.ts';
import { SLOW } from './slow.ts';

const TOO_MANY_CALLS = 150;

export interface CrashCase {
  readonly name: string;
  /** Brings an app to where the operation begins. */
  readonly prepare: (world: DomainWorld, app: string) => Promise<unknown>;
  /** With another app each time; otherwise one app goes through all the crashes. */
  readonly isFresh?: boolean;
  readonly operation: (world: DomainWorld, app: string, run: number) => Promise<unknown>;
  /** What must hold after the recovery, besides the invariants. */
  readonly check: (world: DomainWorld, app: string, facts: CrashFacts) => Promise<void>;
}

export interface CrashFacts {
  /** Grows with each run of the operation: the number of the call that is the last. */
  readonly run: number;
  /** The caller had heard of the success. */
  readonly acknowledged: boolean;
  readonly before: App | null;
}

/** How many calls later. Where there is little time every third step is tried, each run others. */
export const STRIDE = SLOW ? 1 : 3;

/** Before a step is much the same as after the one before it. */
const MOMENTS = SLOW ? (['before', 'after'] as const) : (['after'] as const);

export function crashAtEveryStep(one: CrashCase): void {
  for (const moment of MOMENTS) {
    it(`${one.name}: a crash ${moment} each step`, async () => {
      let world = await startDomain();
      try {
        if (one.isFresh !== true) await one.prepare(world, 'app');
        for (let run = 1 + randomInt(STRIDE); run < TOO_MANY_CALLS; run += STRIDE) {
          const { next, hasCrashed } = await crashOnce(world, one, { run, moment });
          world = next;
          if (hasCrashed) continue;
          expect(run, 'calls with a crash').toBeGreaterThan(3);
          return;
        }
        throw new Error(`${one.name} does not end`);
      } finally {
        await world.dispose();
      }
    });
  }
}

async function crashOnce(
  world: DomainWorld,
  one: CrashCase,
  at: { readonly run: number; readonly moment: Moment },
): Promise<{ next: DomainWorld; hasCrashed: boolean }> {
  const app = one.isFresh === true ? `app${at.run}` : 'app';
  if (one.isFresh === true) await one.prepare(world, app);
  const before = await world.machine.store.app(app);
  let acknowledged = false;
  world.faults.arm({ call: at.run, moment: at.moment });
  const over = one.operation(world, app, at.run).then(async () => {
    acknowledged = true;
    await world.settled();
    return 'over' as const;
  });
  if ((await Promise.race([over, world.faults.crashed])) === 'over') return { next: world, hasCrashed: false };
  const next = await world.next();
  try {
    await expectSound(next);
    await one.check(next, app, { acknowledged, before, run: at.run });
    // Once is enough for this.
    if (at.moment === 'after') await expectUsable(next, app);
    if (one.isFresh === true && (await next.machine.store.app(app)) !== null) await next.remove(app);
  } catch (error) {
    const where = `crash ${at.moment} the last of: ${world.faults.calls.join(' ')}`;
    throw new Error(`${where}\n${String(error)}`, { cause: error });
  }
  return { next, hasCrashed: true };
}

/** A following deploy works without any repair; what a removed app left is nothing. */
async function expectUsable(world: DomainWorld, app: string): Promise<void> {
  const { store, logStore } = world.machine;
  if ((await store.app(app)) === null) {
    expect(await logStore.query({ app, lines: 0 })).toEqual([]);
    await world.createApp(app);
  }
  const before = (await store.app(app))?.release ?? 0;
  const deploy = await world.deploy(app);
  expect(deploy.release).toBe(before + 1);
  await expectSound(world);
}
