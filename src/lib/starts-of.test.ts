import fc from 'fast-check';
import { expect, it } from 'vitest';
import { lastStartOf, startsOf } from './starts-of.ts';

const letters = (bounds: { minLength?: number; maxLength: number }) =>
  fc.string({ unit: fc.constantFrom('a', 'a', 'a', 'b'), ...bounds });

it('finds what indexOf() and lastIndexOf() find, also behind many beginnings that are none', () => {
  const long = fc.tuple(
    letters({ minLength: 1, maxLength: 4 }),
    fc.integer({ min: 1, max: 30 }),
    letters({ maxLength: 3 }),
  );
  fc.assert(
    fc.property(
      letters({ maxLength: 400 }),
      long,
      fc.array(fc.nat(400), { maxLength: 5 }),
      (filling, [part, times, end], places) => {
        const wanted = part.repeat(times) + end;
        const text = places.reduce((whole, at) => whole.slice(0, at) + wanted + whole.slice(at), filling);
        const all: number[] = [];
        for (let at = text.indexOf(wanted); at >= 0; at = text.indexOf(wanted, at + wanted.length)) all.push(at);
        expect([...startsOf(text, wanted)]).toEqual(all);
        for (const before of [1, 50, 200, text.length]) {
          expect(lastStartOf(text, wanted, before)).toBe(before === 0 ? -1 : text.lastIndexOf(wanted, before - 1));
        }
      },
    ),
  );
});

it('ends where comparing each place would take as many steps as both lengths multiplied', () => {
  const wanted = `${'a'.repeat(300)}b${'a'.repeat(500_000)}`;
  const text = 'a'.repeat(8_000_000);
  expect([...startsOf(text, wanted)]).toEqual([]);
  expect([...startsOf(text + wanted, wanted)]).toEqual([text.length]);
  expect(lastStartOf(text + wanted, wanted, text.length + 1)).toBe(text.length);
});
