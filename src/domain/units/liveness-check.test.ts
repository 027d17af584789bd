import { describe, expect, it } from 'vitest';
import { beginLooks, livenessCheckOf, LivenessRow } from './liveness-check.ts';
import type { ProbeResult } from './provisioner.ts';

const SECOND_MS = 1_000;

function rowOf(liveness?: { periodSeconds: number }, livedMs?: number): LivenessRow {
  const check = livenessCheckOf(
    { processes: { web: { command: 'serve', count: 1, ...(liveness && { liveness }) } }, healthCheck: null },
    'web',
  );
  if (check === null) throw new Error('it is not looked at');
  return new LivenessRow(check, 0, livedMs);
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

it('who has served for a minute under the control before needs one good look to be looked at about every half minute', async () => {
  const well = await looks(rowOf(undefined, 60 * SECOND_MS), 0, 300, { kind: 'well' });
  expect(well[0]).toBe(10);
  for (const pause of pauses(well)) expect(pause).toBeGreaterThanOrEqual(24);
  const unwell = await looks(rowOf(undefined, 60 * SECOND_MS), 0, 80, { kind: 'unwell', detail: 'it hangs' });
  expect(unwell).toEqual([10, 20, 30, 40, 50, 60, 70]);
  const younger = await looks(rowOf(undefined, 59 * SECOND_MS), 0, 70, { kind: 'well' });
  expect(younger).toEqual([10, 20, 30, 40, 50, 60]);
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

it('a clock that was ahead and is set back keeps nobody from being looked at', async () => {
  const row = rowOf();
  await looks(row, 7_200, 7_400, { kind: 'well' });
  expect(await looks(row, 100, 131, { kind: 'unwell', detail: 'it hangs' })).toEqual([100, 110, 120, 130]);
});

describe('the looks of one second', () => {
  const wait = (dueAt: number, failures = 0) => ({
    name: `${dueAt}/${failures}`,
    row: { dueAt, failures, isDue: (at: number) => at >= dueAt },
  });
  const begun = (all: readonly ReturnType<typeof wait>[], begin: (name: string) => boolean = () => true): string[] => {
    const names: string[] = [];
    beginLooks(all, 1_000, ({ name }) => begin(name) && names.push(name) > 0);
    return names;
  };

  it('are a bounded number at what is well, those that have waited longest, and all at what is not', () => {
    const well = Array.from({ length: 400 }, (_, n) => wait(999 - n));
    const unwell = Array.from({ length: 60 }, (_, n) => wait(n, 1));
    const names = begun([...well, ...unwell, wait(1_001), wait(1_001, 1)]);
    expect(names).toHaveLength(85);
    expect(names.slice(60)).toEqual(Array.from({ length: 25 }, (_, n) => `${600 + n}/0`));
    expect(new Set(names.slice(0, 60))).toEqual(new Set(unwell.map(({ name }) => name)));
  });

  it('are not held up by what cannot be looked at now', () => {
    const all = Array.from({ length: 300 }, (_, n) => wait(n));
    expect(begun(all, (name) => Number.parseInt(name) >= 290)).toEqual(all.slice(290).map(({ name }) => name));
  });
});
