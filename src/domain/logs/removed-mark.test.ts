import { afterEach, beforeEach, expect, it } from 'vitest';
import { ANN, type DomainWorld, startDomain } from '../../../test/support/domain-world.ts';
import { until } from '../../../test/support/until.ts';
import { cursorOf } from './cursor.ts';
import type { LogQuery } from './reading.ts';

const BOUNDS = { entriesPerApp: 3, bytesPerApp: 1e9, storedBytes: 1e9, keptSince: '', giveBackBytes: 0 };
const MARK = '5 lines were removed up to here: the log had come to the bounds of what is kept.';

let world: DomainWorld;
beforeEach(async () => {
  world = await startDomain();
  await world.createApp('shop');
  for (let number = 1; number <= 7; number++) await world.parts.journal.note('shop', `line ${number}`, 'web');
  await world.machine.logStore.prune(BOUNDS);
});
afterEach(() => world.dispose());

async function read(query: Partial<LogQuery>): Promise<string[]> {
  const found = await world.useCases.logs.query(ANN, 'shop', { lines: 0, ...query });
  return found.map(({ message }) => message);
}

it('a reader who comes to the beginning learns what was removed', async () => {
  expect(await read({})).toEqual([MARK, 'line 5', 'line 6', 'line 7']);
  expect(await read({ lines: 4 })).toEqual([MARK, 'line 5', 'line 6', 'line 7']);
  expect(await read({ lines: 3 })).toEqual(['line 5', 'line 6', 'line 7']);
  expect(await read({ search: 'LINE 6' })).toEqual([MARK, 'line 6']);
  expect(await read({ search: 'line [67]', regexp: true })).toEqual([MARK, 'line 6', 'line 7']);
});

it('who asks for one source, for a unit or for a later time is not', async () => {
  expect(await read({ source: 'web' })).toEqual(['line 5', 'line 6', 'line 7']);
  expect(await read({ unit: 'api' })).toEqual(['line 5', 'line 6', 'line 7']);
  expect(await read({ since: '2999-01-01T00:00:00Z' })).toEqual([]);
});

it('who goes on after a cursor sees it once, where the lines would be', async () => {
  expect(await read({ after: 'c0', lines: 2 })).toEqual([MARK, 'line 5']);
  const [mark, first] = await world.useCases.logs.query(ANN, 'shop', { lines: 2, after: 'c0' });
  expect(await read({ after: cursorOf(mark?.seq ?? 0) })).toEqual(['line 5', 'line 6', 'line 7']);
  expect(await read({ after: cursorOf(first?.seq ?? 0) })).toEqual(['line 6', 'line 7']);
});

it('so is a follower that has fallen behind', async () => {
  const stop = new AbortController();
  const seen: string[] = [];
  const batches = await world.useCases.logs.follow(ANN, 'shop', { lines: 0, after: 'c0' }, stop.signal);
  const over = (async () => {
    for await (const batch of batches) seen.push(...batch.map(({ message }) => message));
  })();
  await until(() => seen.length >= 4, { timeoutMs: 60_000, everyMs: 5, what: 'the entries' });
  stop.abort();
  await over;
  expect(seen).toEqual([MARK, 'line 5', 'line 6', 'line 7']);
});
