import { expect, it } from 'vitest';
import { until } from '../../../test/support/until.ts';
import { Deadlines, type Watched } from './deadlines.ts';

const TICK_MS = 10;

/** Holds up the whole process. */
function standStill(ms: number): void {
  const end = performance.now() + ms;
  while (performance.now() < end);
}

function watched(deadline: number): Watched & { expired: boolean } {
  return {
    deadline,
    expired: false,
    expire() {
      this.expired = true;
    },
  };
}

it('fires once the deadline has passed, and not before', async () => {
  const deadlines = new Deadlines(TICK_MS);
  const first = watched(deadlines.after(30));
  const never = watched(deadlines.after(3_600_000));
  const due = first.deadline;
  for (const one of [first, never]) deadlines.watch(one);
  await until(() => first.expired, { what: 'the deadline' });
  expect(performance.now()).toBeGreaterThanOrEqual(due);
  expect(never.expired).toBe(false);
  for (const one of [first, never]) deadlines.forget(one);
});

it('a deadline that is set right after a standstill is whole', () => {
  const deadlines = new Deadlines(TICK_MS);
  deadlines.watch(watched(deadlines.after(3_600_000)));
  standStill(100);
  const now = performance.now();
  expect(deadlines.after(50)).toBeGreaterThanOrEqual(now + 50);
});

it.for([300, 15])(
  'what arrived during a standstill of %i ms counts before the deadlines that passed meanwhile',
  async (standstillMs) => {
    const deadlines = new Deadlines(TICK_MS);
    const moved = watched(deadlines.after(standstillMs / 5));
    const due = watched(deadlines.after(standstillMs / 5));
    for (const one of [moved, due]) deadlines.watch(one);
    await new Promise<void>((resolve) => {
      setImmediate(() => {
        // Runs in the next turn of the loop, where timers come first, as they come before input.
        setImmediate(() => {
          moved.deadline = deadlines.after(3_600_000);
          resolve();
        });
        standStill(standstillMs);
      });
    });
    await until(() => due.expired, { what: 'the deadline that nothing moved' });
    expect(moved.expired).toBe(false);
    for (const one of [moved, due]) deadlines.forget(one);
  },
);
