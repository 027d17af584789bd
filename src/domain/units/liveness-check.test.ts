import { expect, it } from 'vitest';
import { livenessCheckOf, LivenessRow } from './liveness-check.ts';
import type { ProbeResult } from './provisioner.ts';

const SECOND_MS = 1_000;

function rowOf(liveness?: { periodSeconds: number }): LivenessRow {
  const check = livenessCheckOf(
    { processes: { web: { command: 'serve', count: 1, ...(liveness && { liveness }) } }, healthCheck: null },
    'web',
  );
  if (check === null) throw new Error('it is not looked at');
  return new LivenessRow(check, 0);
}

/** The seconds at which it is looked at, second by second. */
async function looks(row: LivenessRow, from: number, to: number, result: ProbeResult, among = 1): Promise<number[]> {
  const at: number[] = [];
  for (let second = from; second < to; second++) {
    if (!row.isDue(second * SECOND_MS)) continue;
    at.push(second);
    await row.look(
      second * SECOND_MS,
      async () => result,
      () => false,
      among,
    );
  }
  return at;
}

const pauses = (seconds: readonly number[]): number[] =>
  seconds.slice(1).map((second, at) => second - (seconds[at] ?? 0));

it('who has been well for a minute is looked at about every half minute, until something is wrong', async () => {
  const row = rowOf();
  const well = await looks(row, 0, 600, { kind: 'well' });
  expect(well.slice(0, 6)).toEqual([10, 20, 30, 40, 50, 60]);
  for (const pause of pauses(well.slice(5))) {
    expect(pause).toBeGreaterThanOrEqual(24);
    expect(pause).toBeLessThanOrEqual(37);
  }
  const unwell = await looks(row, 600, 700, { kind: 'unwell', detail: 'it takes no connections' });
  expect(
    pauses(unwell)
      .slice(1)
      .every((pause) => pause === 10),
  ).toBe(true);
  expect(row.failures).toBeGreaterThanOrEqual(6);
  const again = await looks(row, 700, 750, { kind: 'well' });
  expect(pauses(again)).toEqual([10, 10, 10, 10].slice(0, again.length - 1));
});

it('where there are many, those that are well are looked at the more rarely, and those that are not as often as ever', async () => {
  const row = rowOf();
  const well = await looks(row, 0, 1_000, { kind: 'well' }, 2_000);
  for (const pause of pauses(well.slice(5))) {
    expect(pause).toBeGreaterThanOrEqual(160);
    expect(pause).toBeLessThanOrEqual(241);
  }
  const unwell = await looks(row, 1_000, 1_400, { kind: 'unwell', detail: 'it takes no connections' }, 2_000);
  expect(
    pauses(unwell)
      .slice(1)
      .every((pause) => pause === 10),
  ).toBe(true);
  expect(row.failures).toBeGreaterThanOrEqual(6);
});

it('whoever says how often is looked at as often', async () => {
  const well = await looks(rowOf({ periodSeconds: 5 }), 0, 300, { kind: 'well' });
  expect(well).toEqual(Array.from({ length: 59 }, (_, at) => (at + 1) * 5));
});
