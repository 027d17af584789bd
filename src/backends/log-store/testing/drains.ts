import { expect } from 'vitest';
import type { EntryBounds } from '../../../domain/logs/drain-cursors.ts';
import { bounds, entries, entry } from './case.ts';
import type { LogStoreCases } from './case.ts';

const AT = '2026-03-04T05:06:07.089Z';
const FEW = { lines: 10, bytes: 1_000 };
const FRESH = { seq: 0, lastSuccessAt: '', lastErrorAt: '', lastError: '', failures: 0, lost: 0, unreported: 0 };

export const drainCases: LogStoreCases = {
  'a drain begins with what comes after it, of its app or of all': async (store, { again }) => {
    await store.append(entries(3));
    await store.openDrain('one', 'shop');
    await store.openDrain('all', '');
    await store.append([entry('a'), entry('b', { app: 'blog' }), entry('c')]);
    await store.openDrain('one', 'shop');
    const texts = async (id: string): Promise<string[]> =>
      (await store.drainEntries(id, FEW)).map(({ message }) => message);
    expect(await texts('one')).toEqual(['a', 'c']);
    expect(await texts('all')).toEqual(['a', 'b', 'c']);
    expect([await store.drainLag('one'), await store.drainLag('all'), await store.drainLag('none')]).toEqual([2, 3, 0]);
    const some = async (given: EntryBounds) => (await store.drainEntries('all', given)).map(({ message }) => message);
    expect(await some({ ...FEW, lines: 2 })).toEqual(['a', 'b']);
    expect(await some({ ...FEW, bytes: 2 })).toEqual(['a', 'b']);
    const other = await again();
    expect(await other.drainIds()).toEqual(['all', 'one']);
    expect(await other.drainCursor('one')).toEqual({ ...FRESH, seq: 3 });
    expect(await other.drainCursor('none')).toBeNull();
  },

  'a cursor moves forward only, and remembers how it went': async (store) => {
    await store.openDrain('one', 'shop');
    const stored = await store.append(entries(4));
    const [first, , , last] = stored.map(({ seq }) => seq);
    await store.drainFailed('one', { error: 'away', at: AT });
    await store.drainFailed('one', { error: 'still away', at: AT });
    expect(await store.drainCursor('one')).toMatchObject({ failures: 2, lastError: 'still away', lastErrorAt: AT });
    await store.drainFailed('one', { error: 'refused', at: AT, skipTo: first ?? 0 });
    expect(await store.drainCursor('one')).toMatchObject({ seq: first, lost: 1, unreported: 1 });
    await store.drainSent('one', { seq: last ?? 0, reported: 1, at: AT });
    await store.drainSent('one', { seq: first ?? 0, reported: 0, at: AT });
    const now = { ...FRESH, seq: last, lastSuccessAt: AT, lastErrorAt: AT, lastError: 'refused', lost: 1 };
    expect(await store.drainCursor('one')).toEqual(now);
    expect(await store.drainEntries('one', FEW)).toEqual([]);
    await store.forgetDrain('one');
    await store.drainSent('one', { seq: 9, reported: 0, at: AT });
    expect(await store.drainIds()).toEqual([]);
  },

  'what is removed before a drain has it is counted, once': async (store) => {
    await store.openDrain('one', 'shop');
    await store.openDrain('all', '');
    await store.openDrain('other', 'blog');
    const stored = await store.append(entries(30));
    await store.append(entries(3, { app: 'blog' }));
    await store.drainSent('one', { seq: stored[4]?.seq ?? 0, reported: 0, at: AT });
    const few = bounds({ entriesPerApp: 10 });
    await store.prune(few);
    await store.prune(few);
    const lost = async (id: string) => (await store.drainCursor(id))?.lost;
    expect([await lost('one'), await lost('all'), await lost('other')]).toEqual([15, 20, 0]);
    expect(await store.drainLag('one')).toBe(10);
    await store.removeApp('shop');
    expect([await lost('one'), await lost('all'), await lost('other')]).toEqual([25, 30, 0]);
  },
};
