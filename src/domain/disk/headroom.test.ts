import { expect, it } from 'vitest';
import { CountSchedule } from './count-schedule.ts';
import { ENDLESS, pauseMs, smallest } from './headroom.ts';

const GIB = 1024 ** 3;
const STILL = { bytes: 0, files: 0 };

it('nobody is looked at often as long as no writer could use up what is left', () => {
  expect(pauseMs(ENDLESS, STILL)).toBe(10_000);
  expect(pauseMs({ bytes: 10 * GIB, files: Infinity }, STILL)).toBe(10_000);
  expect(pauseMs({ bytes: 2 * GIB, files: Infinity }, STILL)).toBe(2_000);
  expect(pauseMs({ bytes: Infinity, files: 100_000 }, STILL)).toBe(1_000);
});

it('who stays near a limit costs two looks a second, and who writes towards one is met there', () => {
  expect(pauseMs({ bytes: 1, files: Infinity }, STILL)).toBe(500);
  expect(pauseMs({ bytes: GIB / 2, files: Infinity }, { bytes: GIB, files: 0 })).toBe(250);
  expect(pauseMs({ bytes: -5, files: Infinity }, { bytes: GIB, files: 0 })).toBe(100);
  // Slow ones are no reason to look sooner.
  expect(pauseMs({ bytes: 10 * GIB, files: Infinity }, { bytes: 1_000, files: 1 })).toBe(10_000);
});

it('the smallest of several is that of each kind', () => {
  expect(
    smallest([
      { bytes: 1, files: 9 },
      { bytes: 5, files: 2 },
    ]),
  ).toEqual({ bytes: 1, files: 2 });
  expect(smallest([])).toEqual(ENDLESS);
});

it('before the first count nobody knows what is held, so it comes soon', () => {
  const schedule = new CountSchedule({ everyMs: 30_000, rest: 1, longestRestMs: 2_000 });
  expect(schedule.pauseMs()).toBe(500);
  const space = { freeBytes: 100 * GIB, totalBytes: 200 * GIB, freeFiles: 1_000_000, totalFiles: 2_000_000 };
  const kinds = schedule.due(space, 1);
  expect(kinds).toEqual(['bytes', 'files']);
  schedule.counted(kinds, ENDLESS, 1);
  expect(schedule.pauseMs()).toBe(10_000);
});
