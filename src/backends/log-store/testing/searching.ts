/** Regular expressions, and searches that end before they are through. */
import { expect } from 'vitest';
import type { LogEntry } from '../../../domain/logs/entry.ts';
import type { LogStore } from '../../../domain/logs/log-store.ts';
import { entry, type LogStoreCases } from './case.ts';

const BATCHES = 24;
const BATCH = 500;

/** Some four megabytes, so that they are more than what is searched by the way. */
async function much(store: LogStore): Promise<LogEntry[]> {
  const stored: LogEntry[] = [];
  for (let batch = 0; batch < BATCHES; batch++) {
    const lines = Array.from({ length: BATCH }, (_, at) => {
      const number = batch * BATCH + at;
      const text = number % 1_000 === 7 ? `status=50${number % 4} took=${number}ms` : `status=200 took=${number}ms`;
      return entry(`${text} ${'lorem ipsum dolor sit amet '.repeat(12)}${number % 2_000 === 7 ? 'Ärger' : ''}`);
    });
    stored.push(...(await store.append(lines)));
  }
  return stored;
}

const matching = (stored: readonly LogEntry[], pattern: RegExp): LogEntry[] =>
  stored.filter(({ message }) => pattern.test(message));

export const searchingCases: LogStoreCases = {
  'a regular expression goes with everything else that is asked for': async (store) => {
    const stored = await much(store);
    await store.append([entry('status=503 took=7ms of another', { unit: 'shop/1', unitId: 'bbbbbbbbbbbb' })]);
    const found = await store.query({
      ...{ app: 'shop', lines: 0, pattern: 'status=50\\d', contains: 'ärger', unit: 'shop/0' },
      afterSeq: stored[0]?.seq ?? 0,
    });
    expect(found).toEqual(matching(stored, /status=50\d.*Ärger/));
  },
};

/** Megabytes of lines for each. */
export const longSearchingCases: LogStoreCases = {
  'finds what a regular expression matches, whatever of it the quick way understands': async (store) => {
    const stored = await much(store);
    const patterns: readonly (readonly [re2: string, same: RegExp])[] = [
      ['status=50[0-3] took=\\d{4}ms', /status=50[0-3] took=\d{4}ms/],
      ['(?i)ÄRGER$', /ärger$/i],
      ['^status=503 .*amet', /^status=503 .*amet/],
      ['took=(?:7|1007)ms\\b', /took=(?:7|1007)ms\b/],
      ['[[:alpha:]]=503', /[a-z]=503/],
      ['\\pL=503', /[a-z]=503/],
      ['nothing of the kind', /nothing of the kind/],
      ['(?P<all>took=1[01]\\d{3}ms)\\s+lorem', /took=1[01]\d{3}ms\s+lorem/],
    ];
    for (const [pattern, same] of patterns) {
      const all = { app: 'shop', lines: 0, pattern };
      expect(await store.query(all), pattern).toEqual(matching(stored, same));
      const newest = await store.query({ ...all, lines: 3 });
      expect(newest, pattern).toEqual(matching(stored, same).slice(-3));
      const oldest = await store.query({ ...all, lines: 3, oldestFirst: true });
      expect(oldest, pattern).toEqual(matching(stored, same).slice(0, 3));
    }
  },

  'a pattern that would take for ever elsewhere holds up nobody': async (store) => {
    await much(store);
    for (let batch = 0; batch < 3; batch++) {
      await store.append(Array.from({ length: 5 }, () => entry(`${'a'.repeat(16_000)}!`)));
    }
    const found = await store.search({ app: 'shop', lines: 5, pattern: '(a|a)*(a|a)*(a|a)*$' }, 20_000);
    expect(found.entries.length).toBeLessThanOrEqual(5);
  },

  'an expression that takes long stops within a block, and others have their turns meanwhile': async (store) => {
    const bits = Array.from({ length: 250 }, (_, at) => (at * at * 7_919).toString(2)).join('');
    const message = `${bits.replaceAll('0', 'a').replaceAll('1', 'b')} c`;
    await store.append(Array.from({ length: 60 }, () => entry(message)));
    await store.append([entry('status=500', { app: 'other' })]);
    const all = { lines: 0, oldestFirst: true };
    const slow = store.search({ app: 'shop', ...all, pattern: 'a(?:[ab]|\\pLx){70}[cd]' }, 0);
    const quick = await store.search({ app: 'other', ...all, pattern: 'status=5' }, 0);
    expect(quick.entries).toHaveLength(1);
    const [first, last] = await store.query({ app: 'shop', lines: 0 }).then((found) => [found[0], found.at(-1)]);
    const { entries, stoppedAt } = await slow;
    expect(entries).toEqual([]);
    expect(stoppedAt).toBeGreaterThanOrEqual(first?.seq ?? Infinity);
    expect(stoppedAt).toBeLessThan(last?.seq ?? 0);
  },

  'what is long is searched like what is short': async (store) => {
    const long = 'lorem ipsum '.repeat(1_300);
    for (let batch = 0; batch < 30; batch++) {
      await store.append(Array.from({ length: 40 }, (_, at) => entry(`${long} ${batch}:${at} Ü`)));
    }
    const found = await store.query({ app: 'shop', lines: 0, pattern: ' 1\\d:7 ' });
    expect(found).toHaveLength(10);
    const text = await store.query({ app: 'shop', lines: 0, contains: ' 3:7 ü' });
    expect(text).toHaveLength(1);
  },

  'a search that ends early says where, and goes on from there': async (store) => {
    const stored = await much(store);
    const wanted = matching(stored, /status=50\d/);
    for (const oldestFirst of [false, true]) {
      const found: LogEntry[] = [];
      let steps = 0;
      for (let from: number | null = null; ; steps += 1) {
        const place = from === null ? {} : oldestFirst ? { afterSeq: from } : { beforeSeq: from };
        const filter = { app: 'shop', lines: 0, pattern: 'status=50\\d', oldestFirst, ...place };
        const { entries, stoppedAt } = await store.search(filter, 0);
        if (oldestFirst) found.push(...entries);
        else found.unshift(...entries);
        if (stoppedAt === null) break;
        from = stoppedAt;
      }
      expect(found).toEqual(wanted);
      expect(steps).toBeGreaterThan(2);
    }
    expect((await store.search({ app: 'shop', lines: 0, contains: 'status=50' }, Infinity)).stoppedAt).toBeNull();
  },
};
