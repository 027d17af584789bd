import { describe, expect, it } from 'vitest';
import { cursorOf, seqOf } from './cursor.ts';
import { createMatcher, searchedText } from './matcher.ts';
import { moment } from '../moment.ts';

const NOW = new Date('2026-03-04T05:06:07.089Z');
const invalid = expect.objectContaining({ code: 'input.invalid' }) as unknown;

function thrown(work: () => unknown): unknown {
  try {
    return work();
  } catch (error) {
    return error;
  }
}

describe('a moment', () => {
  it.each([
    ['10m', '2026-03-04T04:56:07.089Z'],
    ['0s', '2026-03-04T05:06:07.089Z'],
    ['2h', '2026-03-04T03:06:07.089Z'],
    ['7d', '2026-02-25T05:06:07.089Z'],
    ['999999d', '1970-01-01T00:00:00.000Z'],
    ['2026-03-04T05:06:07Z', '2026-03-04T05:06:07.000Z'],
    ['2026-03-04t07:06:07.5+02:00', '2026-03-04T05:06:07.500Z'],
    ['2026-03-04 05:06:07Z', '2026-03-04T05:06:07.000Z'],
  ])('%s is %s', (text, expected) => {
    expect(moment('since', text, NOW)).toBe(expected);
  });

  it.each(['10', 'm', '10w', '-1m', '1.5h', 'yesterday', '2026-03-04', '2026-03-04T05:06:07', '2026-13-04T05:06:07Z'])(
    '%s is none',
    (text) => expect(thrown(() => moment('since', text, NOW))).toEqual(invalid),
  );
});

describe('a cursor', () => {
  it('leads back to the entry', () => {
    for (const seq of [0, 1, 35, 36, 123_456_789, Number.MAX_SAFE_INTEGER])
      expect(seqOf('after', cursorOf(seq))).toBe(seq);
  });

  it.each(['', 'c', '12', 'c-1', 'cA', 'c1 ', 'czzzzzzzzzzz', 'c1\n'])('is not %j', (text) => {
    expect(thrown(() => seqOf('after', text))).toEqual(invalid);
  });
});

describe('a search', () => {
  it('finds what a regular expression matches', async () => {
    const matches = await createMatcher('^(?:GET|POST) /orders/\\d+$');
    expect(['GET /orders/17', 'POST /orders/1', 'xGET /orders/1', 'GET /orders/'].map(matches)).toEqual([
      true,
      true,
      false,
      false,
    ]);
    expect((await createMatcher('(?i)ERROR'))('an error')).toBe(true);
  });

  it('is no hold-up by a pattern that others would need for ever for', async () => {
    const matches = await createMatcher('^(a+)+$');
    expect(matches(`${'a'.repeat(16_000)}b`)).toBe(false);
  });

  const large = ['(?:\\w[a-y]?){1000}[!%]', '\\w{1000}'.repeat(28), '((?:a|[b-y]){20}){30}', '\\pL{301}'];
  it.each(['(', '(?=a)', '(a)\\1', '[', 'a{2000}', 'x'.repeat(257), ...large])('refuses %s', async (pattern) => {
    await expect(createMatcher(pattern)).rejects.toEqual(invalid);
  });

  it.each(['x'.repeat(256), '(?i)^\\d{1,3}(?:\\.\\d{1,3}){3}$', '[(]{2}[])}{9}]*\\(', '\\Q{\\E{250}'])(
    'takes %s',
    async (pattern) => {
      expect((await createMatcher(pattern))('none')).toBe(false);
    },
  );

  it('of a text has a bound, too', () => {
    expect(searchedText('A.b(')).toBe('a.b(');
    expect(thrown(() => searchedText('x'.repeat(257)))).toEqual(invalid);
  });
});
