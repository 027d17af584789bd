import { describe, expect, it } from 'vitest';
import { createMatcher } from '../../../domain/logs/matcher.ts';
import type { LogEntry, LogFilter } from '../../../domain/logs/entry.ts';
import { openBlock, packBlock } from './block.ts';
import { type Finder, finderOf } from './search/finder.ts';
import { Selection } from './selection.ts';

const KIB = 1024;
const ALL = { after: 0, before: Number.MAX_SAFE_INTEGER, limit: Infinity, bytes: Infinity };

const messages = Array.from({ length: 6_000 }, (_, n) => {
  if (n % 500 === 7) return `an error of ${n}:\n  at first (a.js:${n})\n  at second (b.js:${n})`;
  if (n % 700 === 9) return `größer ${n}`;
  if (n === 3_000) return `one long line ${'y'.repeat(100 * KIB)} with an end`;
  return `GET /orders/${n} 200 took=${n % 97}ms`;
});
const entries: LogEntry[] = messages.map((message, n) => ({
  ...{ seq: n + 1, at: '2026-01-01T00:00:00.000Z', app: 'shop', source: 'web', unit: 'shop/0', unitId: 'u' },
  ...{ release: 1, message },
}));
const packed = packBlock(entries);

function found(filter: Omit<LogFilter, 'app' | 'lines'>, finder: Finder | null, limit = Infinity): string[] {
  const whole: LogFilter = { app: 'shop', lines: 0, oldestFirst: true, ...filter };
  const block = openBlock(packed.packed);
  return new Selection(whole, finder)
    .entries(block, packed.streams, { ...ALL, limit })
    .entries.map(({ message }) => message);
}

describe('what is searched for in a large block is found as in each message alone', () => {
  it.each([
    ['took=13ms', 500],
    ['at second (b.js:', 12],
    ['7)\n  at second', 12],
    ['größer', 9],
    ['with an end', 1],
    ['nowhere', 0],
  ])('text: %j', async (contains, most) => {
    for (const isSafe of [true, false]) {
      const expected = messages.filter((message) => message.toLowerCase().includes(contains));
      expect(found({ contains }, await finderOf({ contains }, isSafe))).toEqual(expected);
      expect(expected.length).toBeLessThanOrEqual(most);
    }
  });

  it.each([
    'took=1[37]ms$',
    '^ {2}at second',
    'a\\.js:\\d+\\)\\s+at',
    'first[^x]+second',
    'of \\d+:\\W+at',
    'gr..er',
    '(?i)GRÖSSER|with an END',
    'y{50}',
    'x*',
    'nowhere$',
  ])('pattern: %s', async (pattern) => {
    const matches = await createMatcher(pattern);
    const expected = messages.filter(matches);
    for (const isSafe of [true, false]) {
      expect(found({ pattern }, await finderOf({ pattern }, isSafe))).toEqual(expected);
    }
  });
});

it('a text that is looked through is short, but for a long line', () => {
  const lengths: number[] = [];
  const finder: Finder = {
    isOfOneLine: true,
    next: (text) => {
      lengths.push(text.length);
      return null;
    },
    matches: () => true,
  };
  expect(found({ contains: 'a' }, finder)).toEqual([]);
  expect(lengths.length).toBeGreaterThan(5);
  expect(lengths.filter((length) => length > 32 * KIB)).toHaveLength(1);
  expect(lengths.reduce((sum, length) => sum + length, 0)).toBeGreaterThan(250 * KIB);
});
