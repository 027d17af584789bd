import fc from 'fast-check';
import { expect, it } from 'vitest';
import { Occurrences, withReplaced } from './occurrences.ts';

/** Which characters of the text belong to one of the texts. */
function covered(text: string, of: readonly string[]): boolean[] {
  const is = Array.from(text, () => false);
  for (const one of of) {
    for (let at = text.indexOf(one); at >= 0; at = text.indexOf(one, at + 1)) is.fill(true, at, at + one.length);
  }
  return is;
}

function longestFirst(texts: readonly string[]): string[] {
  return [...new Set(texts)].sort((a, b) => b.length - a.length);
}

it('finds all that is of any of them, also of those that overlap or begin alike', () => {
  const text = fc.string({ unit: fc.constantFrom('a', 'b'), maxLength: 40 });
  const one = fc.string({ unit: fc.constantFrom('a', 'b'), minLength: 6, maxLength: 9 });
  fc.assert(
    fc.property(text, fc.array(one, { maxLength: 30 }), (whole, texts) => {
      // Those that begin as many others do need only be found where they do not overlap themselves.
      const few = longestFirst(texts).filter((_, at) => at % 2 === 0);
      const found = covered(whole, []);
      for (const [from, to] of new Occurrences(few, 0).in(whole)) found.fill(true, from, to);
      expect(found).toEqual(covered(whole, few));
      const oneByOne = withReplaced(whole, new Occurrences(few).in(whole), '');
      if (!found.includes(true)) expect(oneByOne).toBe(whole);
    }),
  );
});

it('finds those of which many begin alike, and long ones', () => {
  const alike = Array.from({ length: 500 }, (_, at) => `begins-alike-${at}-`);
  const long = 'long '.repeat(1_000);
  const occurrences = new Occurrences(longestFirst([...alike, long, 'another one']));
  const text = `is begins-alike-499- or ${long}or another one?`;
  expect(withReplaced(text, occurrences.in(text), '***')).toBe('is *** or ***or ***?');
  for (const one of [long, 'begins-alike-499-', 'another one']) {
    for (const cut of [1, one.length - 1]) {
      expect(occurrences.across(`before ${one.slice(0, cut)}`, `${one.slice(cut)} after`)).toBe(one.length - cut);
    }
  }
  expect(occurrences.across('before another one', 'another one after')).toBe(0);
});
