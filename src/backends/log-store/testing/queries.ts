import { expect } from 'vitest';
import type { LogFilter } from '../../../domain/logs/entry.ts';
import type { LogStore } from '../../../domain/logs/log-store.ts';
import { entries, entry } from './case.ts';
import type { LogStoreCases } from './case.ts';

async function found(store: LogStore, filter: Partial<LogFilter>): Promise<string> {
  const answer = await store.query({ app: 'shop', lines: 0, ...filter });
  return answer.map(({ message }) => message).join(' ');
}

async function mixed(store: LogStore): Promise<void> {
  const worker = { source: 'worker', unit: 'shop/1', unitId: 'bbbbbbbbbbbb' };
  const own = { source: 'tancho', unit: 'api', unitId: '' };
  await store.append([
    entry('a'),
    entry('b', worker),
    entry('c', own),
    entry('d'),
    entry('e', worker),
    entry('f', { unitId: 'cccccccccccc' }),
    entry('other', { app: 'blog', unit: 'blog/0' }),
  ]);
}

export const queryCases: LogStoreCases = {
  'answers the last lines, oldest first': async (store) => {
    await mixed(store);
    expect(await found(store, { lines: 3 })).toBe('d e f');
    expect(await found(store, { lines: 100 })).toBe('a b c d e f');
    expect(await found(store, { lines: 0 })).toBe('a b c d e f');
    expect(await found(store, { app: 'blog' })).toBe('other');
    expect(await found(store, { app: 'gone' })).toBe('');
  },

  'takes the last lines of a source': async (store) => {
    await mixed(store);
    expect(await found(store, { source: 'web' })).toBe('a d f');
    expect(await found(store, { source: 'web', lines: 2 })).toBe('d f');
    expect(await found(store, { source: 'none' })).toBe('');
  },

  'takes a unit by name or id': async (store) => {
    await mixed(store);
    expect(await found(store, { unit: 'shop/0' })).toBe('a d f');
    expect(await found(store, { unit: 'bbbb' })).toBe(await found(store, { unit: 'bbbbbbbbbbbb' }));
    expect(await found(store, { unit: 'bbbb' })).not.toBe('');
    expect(await found(store, { unit: '%' })).toBe('');
    expect(await found(store, { unit: 'aaaaaaaaaaaa' })).toBe('a d');
    expect(await found(store, { unit: 'shop/1', source: 'worker', lines: 1 })).toBe('e');
    expect(await found(store, { unit: 'shop/1', source: 'web' })).toBe('');
  },

  'goes on after a seq': async (store) => {
    await mixed(store);
    const all = await store.query({ app: 'shop', lines: 0 });
    const third = all[2]?.seq ?? 0;
    expect(await found(store, { afterSeq: third })).toBe('d e f');
    expect(await found(store, { afterSeq: third, lines: 1 })).toBe('f');
    expect(await found(store, { afterSeq: third, unit: 'shop/0' })).toBe('d f');
    expect(await found(store, { afterSeq: all.at(-1)?.seq ?? 0 })).toBe('');
    expect(await found(store, { afterSeq: 0 })).toBe('a b c d e f');
  },

  'takes the first after a seq, or the last before one': async (store) => {
    await mixed(store);
    const seqs = (await store.query({ app: 'shop', lines: 0 })).map(({ seq }) => seq);
    expect(await found(store, { oldestFirst: true, lines: 2 })).toBe('a b');
    expect(await found(store, { oldestFirst: true, lines: 2, afterSeq: seqs[1] ?? 0 })).toBe('c d');
    expect(await found(store, { oldestFirst: true, afterSeq: seqs[3] ?? 0 })).toBe('e f');
    expect(await found(store, { lines: 2, beforeSeq: seqs[3] ?? 0 })).toBe('b c');
    expect(await found(store, { beforeSeq: seqs[0] ?? 0 })).toBe('');
  },

  'takes what units of a process printed, not what has its name': async (store) => {
    await mixed(store);
    await store.append([entry('said by a program', { source: 'web', unit: 'api', unitId: '', release: 0 })]);
    expect(await found(store, { process: 'web' })).toBe('a d f');
    expect(await found(store, { process: 'worker' })).toBe('b e');
    expect(await found(store, { process: 'tancho' })).toBe('');
  },

  'takes a span of time, with its beginning and without its end': async (store) => {
    const at = (second: number): string => `2026-03-04T05:06:0${second}.000Z`;
    await store.append([0, 1, 2, 3].map((second) => entry(`${second}`, { at: at(second) })));
    expect(await found(store, { since: at(1) })).toBe('1 2 3');
    expect(await found(store, { until: at(1) })).toBe('0');
    expect(await found(store, { since: at(1), until: at(3) })).toBe('1 2');
    expect(await found(store, { since: at(1), until: at(3), lines: 1 })).toBe('2');
    expect(await found(store, { since: '2026-03-05T00:00:00.000Z' })).toBe('');
  },

  'takes what units of some releases printed': async (store) => {
    await store.append([1, 2, 3, 2].map((release, at) => entry(`${at}`, { release })));
    expect(await found(store, { releases: [2] })).toBe('1 3');
    expect(await found(store, { releases: [3, 1] })).toBe('0 2');
    expect(await found(store, { releases: [] })).toBe('');
  },

  'forgets an app and no other': async (store) => {
    await mixed(store);
    await store.removeApp('shop');
    await store.removeApp('gone');
    expect(await found(store, {})).toBe('');
    expect(await found(store, { app: 'blog' })).toBe('other');
    await store.append(entries(2));
    expect(await found(store, {})).toBe('line 0 line 1');
  },
};
