import { expect, it } from 'vitest';
import { askedRange, rangeQuery, shifted, zoomed } from './time-range.ts';

const NOW = Date.parse('2026-03-04T12:00:00Z');
const HOUR = 3_600_000;
const YEAR = 365 * 24 * HOUR;
const asked = (query: string) => askedRange(new URLSearchParams(query));

it('a range of the address is the last while, or a part of time that stays; nonsense is the last hour', () => {
  expect(asked('since=6h').at(NOW)).toEqual({ fromMs: NOW - 6 * HOUR, toMs: NOW });
  const fixed = asked('from=2026-03-04T10:00:00Z&to=2026-03-04T10:30:00Z&since=6h');
  expect(fixed).toMatchObject({ span: '' });
  expect(fixed.at(NOW + HOUR)).toEqual({ fromMs: NOW - 2 * HOUR, toMs: NOW - 1.5 * HOUR });
  for (const query of ['', 'since=toString', 'from=x&to=y', 'from=2026-03-04T10:00:00Z&to=2026-03-04T10:00:01Z']) {
    expect(asked(query).at(NOW), query).toEqual({ fromMs: NOW - HOUR, toMs: NOW });
  }
  const range = { fromMs: NOW - HOUR, toMs: NOW };
  expect(asked(new URLSearchParams(rangeQuery(range)).toString()).at(NOW)).toEqual(range);
});

it('zooming keeps the middle, and nothing leads into the future or beyond what is kept', () => {
  const range = { fromMs: NOW - 4 * HOUR, toMs: NOW - 2 * HOUR };
  expect(zoomed(range, 0.5, NOW)).toEqual({ fromMs: NOW - 3.5 * HOUR, toMs: NOW - 2.5 * HOUR });
  expect(zoomed(range, 4, NOW)).toEqual({ fromMs: NOW - 8 * HOUR, toMs: NOW });
  expect(zoomed(range, 10_000, NOW)).toEqual({ fromMs: NOW - YEAR, toMs: NOW });
  expect(zoomed(range, 0, NOW)).toEqual({ fromMs: NOW - 3 * HOUR - 30_000, toMs: NOW - 3 * HOUR + 30_000 });
  expect(shifted(range, -0.5, NOW)).toEqual({ fromMs: NOW - 5 * HOUR, toMs: NOW - 3 * HOUR });
  expect(shifted(range, 3, NOW)).toEqual({ fromMs: NOW - 2 * HOUR, toMs: NOW });
  expect(shifted(range, -10_000, NOW)).toEqual({ fromMs: NOW - YEAR, toMs: NOW - YEAR + 2 * HOUR });
});
