import fc from 'fast-check';
import { expect, it } from 'vitest';
import { fitsPattern } from './name-pattern.ts';

const letters = fc.string({ unit: fc.constantFrom('a', 'b', '.'), maxLength: 8 });
const pattern = fc.array(fc.oneof(fc.constant('*'), fc.constantFrom('a', 'b', '.', 'ab')), { maxLength: 5 });

it('a star stands for any characters, none too, as in an expression', () => {
  const one = fc.tuple(
    letters,
    pattern.map((parts) => parts.join('')),
  );
  fc.assert(
    fc.property(one, ([name, text]) => {
      const expression = new RegExp(`^${text.replaceAll('.', '\\.').replaceAll('*', '.*')}$`);
      expect(fitsPattern(name, text), `${name} ${text}`).toBe(expression.test(name));
    }),
    { numRuns: 2_000 },
  );
});
