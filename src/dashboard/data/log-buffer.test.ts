import { expect, it } from 'vitest';
import { LogBuffer } from './log-buffer.ts';

const entry = (n: number) => ({
  Date: '',
  Message: `line ${n}`,
  Source: 'app',
  AppName: 'shop',
  Unit: '',
  Cursor: `c${n}`,
});
const entries = (from: number, to: number) => Array.from({ length: to - from }, (_, at) => entry(from + at));

it('holds a bounded number of entries, the newest ones, and says how far they have moved', () => {
  const buffer = new LogBuffer(100);
  for (let at = 0; at < 1_000; at += 10) buffer.append(entries(at, at + 10));
  expect(buffer.length).toBeLessThanOrEqual(100);
  expect(buffer.lastCursor).toBe('c999');
  expect(buffer.first?.Cursor).toBe(`c${buffer.dropped}`);
  expect(buffer.dropped + buffer.length).toBe(1_000);
});

it('reads what came as text when it is asked for', () => {
  const buffer = new LogBuffer(100);
  buffer.append(entries(0, 3).map((one) => JSON.stringify(one)));
  expect(buffer.slice(1, 2)).toEqual([entry(1)]);
  expect([buffer.first, buffer.lastCursor]).toEqual([entry(0), 'c2']);
  expect(buffer.prepend(entries(0, 2))).toBe(0);
});

it('makes room at its end for older ones, and says where there is none', () => {
  const buffer = new LogBuffer(100);
  buffer.append(entries(100, 200));
  expect([buffer.hasRoom(0), buffer.hasRoom(1)]).toEqual([true, false]);
  buffer.dropNewest(30);
  expect([buffer.hasRoom(30), buffer.hasRoom(31)]).toEqual([true, false]);
  buffer.prepend(entries(70, 100));
  expect([buffer.first?.Cursor, buffer.lastCursor, buffer.length]).toEqual(['c70', 'c169', 100]);
});

it('takes older entries at the front, those it has already only once', () => {
  const buffer = new LogBuffer(100);
  buffer.append(entries(20, 30));
  expect(buffer.prepend(entries(10, 23))).toBe(10);
  expect(buffer.slice(0, 20).map(({ Cursor }) => Cursor)).toEqual(entries(10, 30).map(({ Cursor }) => Cursor));
  expect(buffer.dropped).toBe(-10);
});
