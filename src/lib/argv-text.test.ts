import fc from 'fast-check';
import { expect, it } from 'vitest';
import { argvOf, argvText } from './argv-text.ts';

it('is readable where nothing needs quotes', () => {
  expect(argvText(['/bin/app', '--port=80', 'a b', "it's", ''])).toBe(`/bin/app --port=80 'a b' 'it'\\''s' ''`);
});

it('gives back every list', () => {
  const word = fc.oneof(fc.string(), fc.stringMatching(/^['"\\\s$]*$/));
  fc.assert(fc.property(fc.array(word), (argv) => void expect(argvOf(argvText(argv))).toEqual(argv)));
});

it('reads what people write', () => {
  expect(argvOf(`  run  "a \\"b\\" $c" d\\ e 'f'g `)).toEqual(['run', 'a "b" $c', 'd e', 'fg']);
  expect(argvOf('')).toEqual([]);
});

it('knows an open quote', () => {
  for (const text of ["a 'b", 'a "b', 'a \\']) expect(argvOf(text), text).toBeNull();
});
