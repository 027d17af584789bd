/** What is kept for long is kept otherwise than what has just come; readers see nothing of that. */
import { expect } from 'vitest';
import type { LogEntry } from '../../../domain/logs/entry.ts';
import { randomHex } from '../../../lib/ids.ts';
import type { LogStore } from '../../../domain/logs/log-store.ts';
import { bounds, entries, entry, messages } from './case.ts';
import type { LogStoreCases } from './case.ts';

const BATCHES = 12;
const BATCH = 300;
const AT = '2026-03-04T05:06:07.089Z';

/** Numbered lines of two units, about a mebibyte of them, in batches as they come from units that print much. */
async function much(store: LogStore, app = 'shop'): Promise<LogEntry[]> {
  const stored: LogEntry[] = [];
  for (let batch = 0; batch < BATCHES; batch++) {
    const lines = Array.from({ length: BATCH }, (_, number) => {
      const line = batch * BATCH + number;
      const unit = line % 3 === 0 ? { unit: `${app}/1`, unitId: 'bbbbbbbbbbbb', source: 'worker' } : {};
      const second = String(batch).padStart(2, '0');
      return entry(`line ${line} ${'lorem ipsum '.repeat(25)}`, {
        app,
        at: `2026-03-04T05:06:${second}.000Z`,
        ...unit,
      });
    });
    stored.push(...(await store.append(lines)));
  }
  return stored;
}

const numbers = (found: readonly LogEntry[]): number[] => found.map(({ message }) => Number(message.split(' ')[1]));

async function untilEnd(store: LogStore, lines: number, app = 'shop'): Promise<LogEntry[]> {
  const all: LogEntry[] = [];
  for (let afterSeq = 0; ; afterSeq = all.at(-1)?.seq ?? 0) {
    const page = await store.query({ app, lines, oldestFirst: true, afterSeq });
    if (page.length === 0) return all;
    all.push(...page);
  }
}

export const sealingCases: LogStoreCases = {
  'gives back much as it was, in pages from either end': async (store, { again }) => {
    const stored = await much(store);
    await store.close();
    const next = await again();
    expect(await next.query({ app: 'shop', lines: 0 })).toEqual(stored);
    expect(await untilEnd(next, 700)).toEqual(stored);
    const back: LogEntry[] = [];
    for (let beforeSeq = Number.MAX_SAFE_INTEGER; ; beforeSeq = back[0]?.seq ?? 0) {
      const page = await next.query({ app: 'shop', lines: 700, beforeSeq });
      if (page.length === 0) break;
      back.unshift(...page);
    }
    expect(back).toEqual(stored);
  },

  'selects from much as from little': async (store) => {
    const stored = await much(store);
    const has = (unit: string) => stored.filter((one) => one.unit === unit);
    expect(await store.query({ app: 'shop', lines: 0, unit: 'shop/1' })).toEqual(has('shop/1'));
    expect(await store.query({ app: 'shop', lines: 5, process: 'web' })).toEqual(has('shop/0').slice(-5));
    const since = '2026-03-04T05:06:03.000Z';
    const until = '2026-03-04T05:06:05.000Z';
    const within = await store.query({ app: 'shop', lines: 0, since, until });
    expect(within).toEqual(stored.slice(3 * BATCH, 5 * BATCH));
    expect(await store.query({ app: 'shop', lines: 0, unit: 'shop/2' })).toEqual([]);
  },

  'finds a text wherever it is, in any case': async (store) => {
    await store.append([entry('the Needle of old')]);
    const stored = await much(store);
    await store.append([entry('ÄRGER with the needle'), entry('other', { app: 'blog' })]);
    const found = (contains: string, lines = 0) => store.query({ app: 'shop', lines, contains });
    expect((await found('needle')).map(({ message }) => message)).toEqual([
      'the Needle of old',
      'ÄRGER with the needle',
    ]);
    expect((await found('needle', 1)).map(({ message }) => message)).toEqual(['ÄRGER with the needle']);
    expect((await found('ärger')).map(({ message }) => message)).toEqual(['ÄRGER with the needle']);
    expect(numbers(await found('line 1234 '))).toEqual([1234]);
    expect(await found('lo', 3)).toEqual(stored.slice(-3));
    expect(await found('nowhere at all')).toEqual([]);
    const oldest = await store.query({ app: 'shop', lines: 2, contains: 'line', oldestFirst: true, afterSeq: 1 });
    expect(numbers(oldest)).toEqual([0, 1]);
  },

  'keeps order and number of many small appends': async (store, { again }) => {
    const count = 950;
    for (let number = 0; number < count; number++) {
      await store.append([entry(`line ${number}`), ...(number % 5 === 0 ? [entry('other', { app: 'blog' })] : [])]);
    }
    const other = await again();
    const all = await other.query({ app: 'shop', lines: 0 });
    expect(numbers(all)).toEqual(Array.from({ length: count }, (_, number) => number));
    expect(await messages(other, 'blog')).toHaveLength(count / 5);
    expect(numbers(await other.query({ app: 'shop', lines: 3, beforeSeq: all[500]?.seq ?? 0 }))).toEqual([
      497, 498, 499,
    ]);
  },

  'hides nothing from who reads while it is written': async (store, { again }) => {
    const other = await again();
    let isWriting = true;
    const reading = (async () => {
      const seen: LogEntry[] = [];
      for (;;) {
        const wasWriting = isWriting;
        const afterSeq = seen.at(-1)?.seq ?? 0;
        const page = await other.query({ app: 'shop', lines: 400, oldestFirst: true, afterSeq });
        seen.push(...page);
        if (page.length === 0 && !wasWriting) return seen;
      }
    })();
    const backwards = (async () => {
      while (isWriting) {
        const seqs = (await other.query({ app: 'shop', lines: 1_000 })).map(({ seq }) => seq);
        for (let at = 1; at < seqs.length; at++) expect(seqs[at]).toBe((seqs[at - 1] ?? 0) + 1);
      }
    })();
    const stored = await much(store);
    isWriting = false;
    await backwards;
    expect(await reading).toEqual(stored);
  },

  'ends with the message that makes so many bytes full': async (store) => {
    const stored = await much(store);
    expect(await store.query({ app: 'shop', lines: 0, mostBytes: 1 })).toEqual(stored.slice(-1));
    expect(await store.query({ app: 'shop', lines: 0, mostBytes: 1, oldestFirst: true })).toEqual(stored.slice(0, 1));
    const some = await store.query({ app: 'shop', lines: 0, mostBytes: 600_000, oldestFirst: true });
    expect(some).toEqual(stored.slice(0, some.length));
    const bytes = some.reduce((sum, { message }) => sum + message.length, 0);
    expect(bytes).toBeGreaterThanOrEqual(600_000);
    expect(bytes - (some.at(-1)?.message.length ?? 0)).toBeLessThan(600_000);
    expect(some.length).toBeLessThan(stored.length);
  },

  'takes less room than the lines have': async (store) => {
    const stored = await much(store);
    const bytes = stored.reduce((sum, { message }) => sum + message.length, 0);
    expect(await store.prune(bounds({ storedBytes: Math.floor(bytes / 3) }))).toBe(0);
  },

  'gives back what is wanted, from the largest, and keeps a little': async (store) => {
    const noise = () => Array.from({ length: 100 }, () => entry(randomHex(4_096)));
    for (let batch = 0; batch < 40; batch++) await store.append(noise());
    await store.append(entries(3, { app: 'blog' }));
    const all = await store.query({ app: 'shop', lines: 0 });
    expect(await store.prune(bounds({ giveBackBytes: 1024 ** 2 }))).toBeGreaterThan(100);
    const left = await store.query({ app: 'shop', lines: 0 });
    expect(left).toEqual(all.slice(-left.length));
    await store.prune(bounds({ giveBackBytes: 1024 ** 3 }));
    expect((await messages(store)).length).toBeGreaterThan(300);
    expect(await messages(store, 'blog')).toHaveLength(3);
  },

  'cuts much off where the bound is': async (store) => {
    const stored = await much(store);
    expect(await store.prune(bounds({ entriesPerApp: 1_234 }))).toBe(stored.length - 1_234);
    expect(await store.query({ app: 'shop', lines: 0 })).toEqual(stored.slice(-1_234));
    await much(store);
    expect(await store.prune(bounds({ entriesPerApp: 100 }))).toBe(1_234 + stored.length - 100);
    expect(await messages(store)).toHaveLength(100);
  },

  'a drain gets much in order, of its app and of all': async (store) => {
    await store.openDrain('one', 'shop');
    await store.openDrain('all', '');
    const [one, other] = await Promise.all([much(store), much(store, 'blog')]);
    const all = [...one, ...other].sort((a, b) => a.seq - b.seq);
    for (const [id, expected] of [
      ['one', one],
      ['all', all],
    ] as const) {
      const got: LogEntry[] = [];
      for (;;) {
        expect(await store.drainLag(id)).toBe(expected.length - got.length);
        const page = await store.drainEntries(id, { lines: 900, bytes: 10 ** 9 });
        if (page.length === 0) break;
        got.push(...page);
        await store.drainSent(id, { seq: page.at(-1)?.seq ?? 0, reported: 0, at: AT });
      }
      expect(got).toEqual(expected);
    }
  },

  'counts for a drain what is removed of the block it is in': async (store) => {
    await store.openDrain('one', 'shop');
    const stored = await much(store);
    await store.drainSent('one', { seq: stored[99]?.seq ?? 0, reported: 0, at: AT });
    await store.prune(bounds({ entriesPerApp: stored.length - 150 }));
    expect(await store.drainCursor('one')).toMatchObject({ lost: 50 });
    await store.prune(bounds({ entriesPerApp: 0 }));
    expect(await store.drainCursor('one')).toMatchObject({ lost: stored.length - 100 });
    expect(await store.drainLag('one')).toBe(0);
    await store.append(entries(2));
    expect(await store.drainLag('one')).toBe(2);
  },
};
