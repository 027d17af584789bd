/** Kills the platform at every single step of every operation; what it finds afterwards it puts right by itself. */
import { describe, expect, it } from 'vitest';
import { type DomainWorld, startDomain } from '../support/domain-world.ts';
import type { Moment } from '../support/faults.ts';
import { expectSound } from '../support/invariants.ts';

const TOO_MANY = 200;

interface Case {
  /** Brings a fresh app to where the operation begins; the app is there. */
  prepare?(world: DomainWorld, app: string): Promise<unknown>;
  operation(world: DomainWorld, app: string): Promise<unknown>;
}

const PROCESSES = { web: 'serve', worker: 'stay' };

const CASES: Record<string, Case> = {
  'first deploy': { operation: (world, app) => world.deploy(app, { processes: PROCESSES }) },
  'second deploy': {
    prepare: (world, app) => world.deploy(app, {}),
    operation: (world, app) => world.deploy(app, { processes: PROCESSES }),
  },
};

for (const [name, one] of Object.entries(CASES)) {
  for (const moment of ['before', 'after'] as const) {
    it(`${name}, ${moment} each step`, async () => {
      let world = await startDomain();
      const t = performance.now();
      try {
        for (let n = 1; ; n++) {
          expect(n).toBeLessThan(TOO_MANY);
          const app = `app${n}`;
          await world.createApp(app);
          await one.prepare?.(world, app);
          world.faults.arm(n, moment);
          const done = one
            .operation(world, app)
            .then(() => world.settled())
            .then(
              () => 'done',
              (e) => {
                throw e;
              },
            );
          const how = await Promise.race([done, world.faults.crashed]);
          const where = `crash ${moment} call ${n} (${world.faults.calls.join(' ')})`;
          if (how === 'done') break;
          world = await world.next();
          try {
            await expectSound(world);
            await world.deploy(app);
            await expectSound(world);
            await world.remove(app);
          } catch (e) {
            console.log(where, String(e));
            await world.remove(app).catch(() => 0);
          }
        }
        console.log(name, moment, performance.now() - t);
      } finally {
        await world.dispose();
      }
    });
  }
}
