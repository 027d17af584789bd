import { expect, it } from 'vitest';
import { Chunk } from '../domain/logs/chunk.ts';
import type { LogEntry } from '../domain/logs/entry.ts';
import { logEntries, logEntriesUnion } from './shapes/log-entry.ts';
import { wordsOnce } from './words-once.ts';

function entries(from: number, count: number, message = 'a'): LogEntry[] {
  const own = { at: '2026-01-02T03:04:05.678Z', app: 'shop', source: 'web', unit: 'shop/0', unitId: '', release: 1 };
  return Array.from({ length: count }, (_, at) => ({ ...own, seq: from + at, message }));
}

/** With the number of times that it was asked for words. */
function counted() {
  const asked = { times: 0 };
  const words = wordsOnce(function* (batch, shape) {
    asked.times += 1;
    yield JSON.stringify(shape.toWire(batch));
  });
  return { asked, words };
}

it('a batch that many share is put into words once for each shape, and they are sent the same bytes', () => {
  const { asked, words } = counted();
  const chunk = new Chunk(0, 3, entries(1, 3));
  const [first] = words(chunk.entries, logEntries);
  const [again] = words(chunk.entries, logEntries);
  expect(again).toBe(first);
  expect(Buffer.from(first ?? []).toString()).toBe(JSON.stringify(logEntries.toWire(chunk.entries)));
  expect([...words(chunk.entries, logEntriesUnion)][0]).not.toEqual(first);
  expect(asked.times).toBe(2);
});

it('nothing is kept of the batch of one reader', () => {
  const { asked, words } = counted();
  const own = entries(1, 3);
  expect([...words(own, logEntries)]).toEqual([...words(own, logEntries)]);
  expect(asked.times).toBe(2);
});

it('only some megabytes of the newest are kept in words', () => {
  const { asked, words } = counted();
  const chunks = Array.from({ length: 100 }, (_, at) => new Chunk(at, at + 1, entries(at + 1, 1, 'x'.repeat(100_000))));
  for (const { entries: batch } of chunks) [...words(batch, logEntries)];
  const [oldest, newest] = [chunks[0]?.entries ?? [], chunks.at(-1)?.entries ?? []];
  [...words(newest, logEntries)];
  expect(asked.times).toBe(100);
  [...words(oldest, logEntries)];
  expect(asked.times).toBe(101);
});
