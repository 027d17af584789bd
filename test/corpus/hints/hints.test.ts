/** No next step is suggested to people that nobody here has taken. */
import { describe, expect, it } from 'vitest';
import { ALL_ROWS } from './all-rows.ts';
import { ELSEWHERE } from './elsewhere.ts';
import { isOfPlan, takePlanHint } from './plan-hints.ts';
import { writtenHints } from './scan-hints.ts';

it('every hint of plans, builds and starts is taken by a row, or is of those that say why not', () => {
  const hints = writtenHints();
  expect(hints.length).toBeGreaterThan(50);
  const rows = Object.values(ALL_ROWS);
  const taken = (from: string, fixed: string): boolean =>
    rows.some((row) => row.from === from && row.hint.includes(fixed));
  const open = hints.filter(
    ({ file, fixed }) => !taken(file, fixed) && !Object.keys(ELSEWHERE).some((begin) => fixed.startsWith(begin)),
  );
  expect(open.map(({ file, text }) => `${file}: ${text}`)).toEqual([]);
  const unused = Object.keys(ELSEWHERE).filter((begin) => !hints.some(({ fixed }) => fixed.startsWith(begin)));
  expect(unused).toEqual([]);
});

describe('a plan that can be built comes of the hint of', () =>
  it.for(Object.entries(ALL_ROWS).filter(([, row]) => isOfPlan(row)))('%s', ([, row]) => takePlanHint(row)));
