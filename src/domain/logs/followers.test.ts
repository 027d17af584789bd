import { afterEach, beforeEach, expect, it } from 'vitest';
import { ANN, type DomainWorld, startDomain } from '../../../test/support/domain-world.ts';
import { until } from '../../../test/support/until.ts';
import type { LogEntry } from './entry.ts';

const FOLLOWERS = 200;
/** Of those who follow: each may follow so many only. */
const EMAILS = Array.from({ length: 10 }, (_, number) => `follower${number}@example.com`);
const BATCHES = 20;
const BATCH = 200;
const ALL = Array.from({ length: BATCHES * BATCH }, (_, number) => `${number}`);

let world: DomainWorld;
let stop: AbortController;
beforeEach(async () => {
  world = await startDomain();
  stop = new AbortController();
  await world.createApp('shop');
  const createdAt = new Date().toISOString();
  await world.machine.store.transact(async (tx) => {
    for (const email of EMAILS) await tx.insertUser({ email, passwordHash: '', isAdmin: true, createdAt });
  });
});
afterEach(async () => {
  stop.abort();
  await world.dispose();
});

async function print(lines: readonly string[]): Promise<void> {
  const own = { seq: 0, at: '2026-03-04T05:06:07.089Z', app: 'shop', source: 'web', unit: 'shop/0' };
  const entries: LogEntry[] = lines.map((message) => ({ ...own, unitId: 'a', release: 1, message }));
  await world.parts.journal.append(entries, (text) => text);
}

const batchOf = (batch: number): readonly string[] => ALL.slice(batch * BATCH, (batch + 1) * BATCH);

function follow(number: number, more: { readonly search?: string } = {}): Promise<AsyncIterable<readonly LogEntry[]>> {
  const caller = { ...ANN, email: EMAILS[number % EMAILS.length] ?? '', isAdmin: true };
  return world.useCases.logs.follow(caller, 'shop', { lines: 0, source: 'web', ...more }, stop.signal);
}

async function collect(batches: AsyncIterable<readonly LogEntry[]>, seen: string[]): Promise<void> {
  for await (const batch of batches) for (const { message } of batch) seen.push(message);
}

it(`${FOLLOWERS} followers of one app read the store about once for all, and each sees every line once and in order`, async () => {
  let reads = 0;
  world.faults.on('logStore.query', () => void (reads += 1));
  world.faults.on('logStore.search', () => void (reads += 1));
  const all = Array.from({ length: FOLLOWERS }, () => [] as string[]);
  for (const [number, seen] of all.entries()) void collect(await follow(number), seen);
  // Whoever has seen the second has read from the store what came while it began.
  for (const [at, word] of ['begin', 'go'].entries()) {
    await print([word]);
    await until(() => all.every((seen) => seen.length === at + 1), { timeoutMs: 60_000, what: 'all to follow' });
  }
  const before = reads;
  for (let batch = 0; batch < BATCHES; batch++) await print(batchOf(batch));
  await until(() => all.every((seen) => seen.length > ALL.length + 1), {
    timeoutMs: 60_000,
    what: 'every line to be seen',
  });
  for (const seen of all) expect(seen).toEqual(['begin', 'go', ...ALL]);
  expect(reads - before).toBeLessThan(4 * BATCHES);
});

it('who reads slowly holds up nobody, and gets every line at its own pace', async () => {
  const quick: string[] = [];
  void collect(await follow(0), quick);
  const slow = (await follow(1))[Symbol.asyncIterator]();
  const first = await slow.next();
  expect(first.value).toEqual([]);
  for (let batch = 0; batch < BATCHES; batch++) await print(batchOf(batch));
  await until(() => quick.length === ALL.length, { timeoutMs: 60_000, what: 'the quick one to see all' });
  expect(quick).toEqual(ALL);
  const seen: string[] = [];
  while (seen.length < ALL.length) {
    const { value } = (await slow.next()) as IteratorYieldResult<readonly LogEntry[]>;
    for (const { message } of value) seen.push(message);
  }
  expect(seen).toEqual(ALL);
});

it('searches that one caller begins with keep nobody else waiting', async () => {
  await print(['one', 'two']);
  let release = (): void => {};
  const released = new Promise<void>((resolve) => (release = resolve));
  let searches = 0;
  world.faults.on('logStore.search', async () => {
    searches += 1;
    if (searches === 1) await released;
  });
  const seen: Record<string, string[]> = { slow: [], slower: [], plain: [], searching: [] };
  const begin = async (name: string, number: number, search: string): Promise<void> =>
    void collect(await follow(number, { search }), (seen[name] ??= []));
  try {
    await begin('slow', 0, 'one');
    await until(() => searches === 1, { what: 'the first search' });
    await begin('slower', 0, 'one');
    await begin('plain', 1, '');
    await begin('searching', 1, 'two');
    await until(() => seen['plain']?.length === 2 && seen['searching']?.length === 1, { what: 'those of another' });
    expect(seen).toEqual({ slow: [], slower: [], plain: ['one', 'two'], searching: ['two'] });
  } finally {
    release();
  }
  await until(() => seen['slower']?.length === 1, { what: 'the others' });
  expect(seen).toMatchObject({ slow: ['one'], slower: ['one'] });
});

it('who asks for the same is given the very same batches, so that nothing is kept for each', async () => {
  const seen = Array.from({ length: 3 }, () => [] as (readonly LogEntry[])[]);
  for (const [number, batches] of seen.entries()) {
    const followed = await follow(number);
    void (async () => {
      for await (const batch of followed) batches.push(batch);
    })();
  }
  const lines = (): number[] => seen.map((batches) => batches.flat().length);
  for (const [at, word] of ['begin', 'go'].entries()) {
    await print([word]);
    await until(() => lines().every((count) => count === at + 1), { timeoutMs: 60_000, what: 'all to follow' });
  }
  const begun = seen.map((batches) => batches.length);
  for (let batch = 0; batch < BATCHES; batch++) await print(batchOf(batch));
  await until(() => lines().every((count) => count === ALL.length + 2), { timeoutMs: 60_000, what: 'all lines' });
  const [first = [], ...others] = seen.map((batches, number) => batches.slice(begun[number]));
  for (const batches of others) {
    expect(batches.length).toBe(first.length);
    batches.forEach((batch, at) => expect(batch).toBe(first[at]));
  }
});

it('who begins with much of a log is given it in pages, all of it and in order', async () => {
  const long = Array.from({ length: 300 }, (_, number) => `${number} ${'x'.repeat(10_000)}`);
  await print(long);
  const sizes: number[] = [];
  const seen: string[] = [];
  for await (const batch of await follow(0)) {
    sizes.push(batch.reduce((sum, { message }) => sum + message.length, 0));
    seen.push(...batch.map(({ message }) => message));
    if (seen.length >= long.length) break;
  }
  expect(seen).toEqual(long);
  expect(Math.max(...sizes)).toBeLessThan(256 * 1024);
});

it('what is followed can be removed meanwhile, and what comes after that is seen', async () => {
  const seen: string[] = [];
  void collect(await follow(0), seen);
  await print(batchOf(0));
  await until(() => seen.length === BATCH, { timeoutMs: 60_000, what: 'the first lines' });
  await world.machine.logStore.removeApp('shop');
  await print(batchOf(1));
  await until(() => seen.length === 2 * BATCH, { timeoutMs: 60_000, what: 'the lines after that' });
  expect(seen).toEqual(ALL.slice(0, 2 * BATCH));
});
