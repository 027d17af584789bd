import { describe, expect, it } from 'vitest';
import { rowOf, table } from './report.ts';

const quick = { what: 'quick', unit: 'ms', samples: [10, 30, 20] } as const;

describe('a row', () => {
  it('says how many times its floor it is', () => {
    const row = rowOf('push', { ...quick, floor: { what: 'nothing', samples: [4, 5, 6] } });
    expect(row).toMatchObject({ measure: 'push', median: 20, min: 10, max: 30, n: 3 });
    expect(row.floor).toMatchObject({ what: 'nothing', median: 5, ratio: 4 });
  });
});

describe('the table', () => {
  it('says beside a figure what is promised of it, and that it is missed', () => {
    const [kept, missed] = [20, 19].map((most) => rowOf('push', { ...quick, most }));
    const plain = rowOf('push', { ...quick, what: 'plain' });
    expect(table([kept, missed, plain].filter((row) => row !== undefined)).split('\n')).toEqual([
      '         median   min   max      n  floor  x floor  floor is  promised',
      '',
      'push',
      '  quick    20.0  10.0  30.0  ms  3                            <= 20',
      '  quick    20.0  10.0  30.0  ms  3                            <= 19: MISSED',
      '  plain    20.0  10.0  30.0  ms  3',
    ]);
  });

  it('is aligned, with a line before each measure', () => {
    const rows = [rowOf('push', quick), rowOf('edge', { what: 'requests', unit: 'req/s', samples: [12_345.6] })];
    expect(table(rows).split('\n')).toEqual(
      [
        '            median    min    max         n  floor  x floor  floor is',
        '',
        'push',
        '  quick       20.0   10.0   30.0  ms     3',
        '',
        'edge',
        '  requests   12346  12346  12346  req/s  1',
      ].map((line) => line),
    );
  });
});
