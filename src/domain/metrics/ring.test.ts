import fc from 'fast-check';
import { expect, it } from 'vitest';
import { Ring } from './ring.ts';

const SHAPE = { stepMs: 10, slots: 4 };
const at = (step: number): number => step * SHAPE.stepMs;

it('has the newest rows, whether their values stay as they were or change', () => {
  const row = fc.record({ still: fc.constant(7), rare: fc.constantFrom(0, 0, 0, 1), busy: fc.nat(1_000) });
  fc.assert(
    fc.property(fc.array(row, { maxLength: 12 }), (rows) => {
      const ring = new Ring(['still', 'rare', 'busy'], SHAPE);
      rows.forEach((values, index) => ring.put(at(index + 1), values));
      const all = rows.map((values, index) => ({ atMs: at(index + 1), values }));
      expect(ring.read(0, at(rows.length))).toEqual(all.slice(-SHAPE.slots));
    }),
  );
});

it('leaves out steps of which nothing is known, and takes the last word of a step', () => {
  const ring = new Ring(['busy'], SHAPE);
  for (const [step, busy] of [
    [1, 5],
    [3, 5],
    [3, 6],
  ] as const)
    ring.put(at(step), { busy });
  expect(ring.read(0, at(4))).toEqual([
    { atMs: at(1), values: { busy: 5 } },
    { atMs: at(3), values: { busy: 6 } },
  ]);
});

it('has the last word of each of the newest steps, in whatever order they came and whatever is missing; what came before a clock was set back far is forgotten', () => {
  const puts = fc.array(fc.tuple(fc.integer({ min: 1, max: 24 }), fc.nat(9)), { maxLength: 24 });
  fc.assert(
    fc.property(puts, (all) => {
      const ring = new Ring(['busy'], SHAPE);
      const known = new Map<number, number>();
      let newest = 0;
      for (const [step, busy] of all) {
        ring.put(at(step), { busy });
        const isSetBack = step <= newest - SHAPE.slots;
        if (isSetBack) known.clear();
        known.set(step, busy);
        newest = isSetBack ? step : Math.max(newest, step);
      }
      const last = Array.from({ length: SHAPE.slots }, (_, index) => newest - SHAPE.slots + 1 + index);
      const wanted = last.flatMap((step) => {
        const busy = known.get(step);
        return busy === undefined ? [] : [{ atMs: at(step), values: { busy } }];
      });
      expect(ring.read(0, at(24))).toEqual(wanted);
    }),
  );
});
