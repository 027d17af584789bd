import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { StatementSync } from 'node:sqlite';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { until as untilSaid } from '../../../test/support/until.ts';
import { entry } from '../../backends/log-store/testing/case.ts';
import { openEmptyLogStore } from '../../../test/support/empty-databases.ts';
import { SILENT } from '../../lib/logger.ts';
import { Journal } from '../logs/journal.ts';
import type { LogStore } from '../logs/log-store.ts';
import { DrainDeliveries } from './deliveries.ts';
import type { Drain } from './drain.ts';
import { DeliveryFailure, type DeliveryProblem } from './drain-sender.ts';

const PAUSES = { gatherMs: 1, firstMs: 1, longestMs: 20 };
const now = (): Date => new Date('2026-03-04T05:06:07.089Z');

let folder: string;
let logStore: LogStore;
let journal: Journal;
const running: DrainDeliveries[] = [];

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tancho-drains-'));
  logStore = await openEmptyLogStore(folder);
  journal = new Journal({ logStore, now, logger: SILENT });
});
afterEach(async () => {
  await Promise.all(running.splice(0).map((deliveries) => deliveries.close()));
  await logStore.close();
  await rm(folder, { recursive: true });
});

function drain(id: string, app = 'shop', url = 'https://logs.example.com/'): Drain {
  return { id, app, target: { format: 'ndjson', url, headers: {} }, by: 'ann@example.com', createdAt: '' };
}

/** What is taken, in order; `verdict` may refuse. */
class Receiver {
  readonly taken: string[] = [];
  readonly urls: string[] = [];
  attempts = 0;
  verdict: (messages: readonly string[]) => DeliveryProblem | null = () => null;

  async send({ url }: Drain['target'], entries: readonly { readonly message: string }[]): Promise<string> {
    this.attempts += 1;
    const messages = entries.map(({ message }) => message);
    const problem = this.verdict(messages);
    if (problem !== null) throw new DeliveryFailure(problem, `It is ${problem}.`);
    this.taken.push(...messages);
    this.urls.push(url);
    return 'thanks';
  }
}

async function start(
  drains: readonly Drain[],
  receiver: Receiver,
  known = new Map(drains.map((one) => [one.id, one])),
): Promise<DrainDeliveries> {
  const store = { drains: async () => [...known.values()], drain: async (id: string) => known.get(id) ?? null };
  const sender = { send: receiver.send.bind(receiver) };
  const deliveries = new DrainDeliveries({ store, logStore, journal, sender, logger: SILENT, now, pauses: PAUSES });
  running.push(deliveries);
  await deliveries.start();
  return deliveries;
}

const until = (condition: () => boolean | Promise<boolean>): Promise<void> =>
  untilSaid(condition, { what: 'what the drain is to do', everyMs: 2 });
const append = (...messages: string[]): Promise<void> =>
  journal.append(
    messages.map((message) => entry(message)),
    (text) => text,
  );
const numbered = (from: number, to: number): string[] =>
  Array.from({ length: to - from }, (_, at) => `line ${from + at}`);

it('sends each drain its lines, in order, as they come', async () => {
  const one = new Receiver();
  await start([drain('a')], one);
  await append('first');
  await until(() => one.taken.length === 1);
  await journal.append([entry('x', { app: 'blog' })], (text) => text);
  await append(...numbered(0, 1_200));
  await until(() => one.taken.length === 1_201);
  expect(one.taken).toEqual(['first', ...numbered(0, 1_200)]);
});

it('sends nothing more to a receiver that was changed or removed, also where nobody says so', async () => {
  const known = new Map([drain('a'), drain('b')].map((one) => [one.id, one]));
  const receiver = new Receiver();
  await start([...known.values()], receiver, known);
  await append('first');
  await until(() => receiver.taken.length === 2);
  known.set('a', drain('a', 'shop', 'https://new.example.com/'));
  known.delete('b');
  await append('second');
  await until(async () => receiver.taken.length === 3 && (await logStore.drainIds()).length === 1);
  expect(receiver.taken).toEqual(['first', 'first', 'second']);
  expect(receiver.urls.at(-1)).toBe('https://new.example.com/');
});

it('a drain of all apps has the lines of each', async () => {
  const all = new Receiver();
  await start([drain('b', '')], all);
  await journal.append([entry('x', { app: 'blog' })], (text) => text);
  await append('y');
  await until(() => all.taken.length === 2);
  expect(all.taken).toEqual(['x', 'y']);
});

it('a drain of all apps that is behind has each block opened about once', async () => {
  const apps = Array.from({ length: 20 }, (_, number) => `app${number}`);
  await logStore.openDrain('b', '');
  const lines: string[] = [];
  for (let batch = 0; batch < 9; batch++) {
    for (const app of apps) {
      const some = numbered(0, 30).map((line) => `${app} ${batch} ${line} ${'x'.repeat(1_000)}`);
      lines.push(...some);
      await logStore.append(some.map((message) => entry(message, { app })));
    }
  }
  let opened = 0;
  const all = StatementSync.prototype.all;
  const spy = vi.spyOn(StatementSync.prototype, 'all').mockImplementation(function (this: StatementSync, ...values) {
    const rows = all.apply(this, values);
    opened += rows.filter((row) => 'packed' in row).length;
    return rows;
  });
  const receiver = new Receiver();
  await start([drain('b', '')], receiver);
  await until(() => receiver.taken.length === lines.length);
  spy.mockRestore();
  expect(receiver.taken).toEqual(lines);
  expect(receiver.attempts).toBeGreaterThan(8);
  expect(opened).toBeLessThan(3 * apps.length);
});

it('a drain of all apps sends nothing that was removed after it was read, and reports it', async () => {
  await logStore.openDrain('b', '');
  await append(...numbered(0, 600));
  await logStore.append(numbered(0, 10).map((line) => entry(`secret ${line}`, { app: 'blog' })));
  await append('last');
  const receiver = new Receiver();
  const take = receiver.send.bind(receiver);
  receiver.send = async (target, entries) => {
    if (receiver.attempts === 0) await logStore.removeApp('blog');
    return take(target, entries);
  };
  await start([drain('b', '')], receiver);
  await until(() => receiver.taken.includes('last'));
  const gap = expect.stringContaining('10 lines are missing here');
  expect(receiver.taken).toEqual([...numbered(0, 500), gap, ...numbered(500, 600), 'last']);
});

it('goes on where it was after a restart, and forgets drains that are gone', async () => {
  const receiver = new Receiver();
  const first = await start([drain('a'), drain('gone')], receiver);
  await append('before');
  await until(() => receiver.taken.length === 2);
  receiver.taken.length = 0;
  await first.close();
  await append('meanwhile');
  await start([drain('a')], receiver);
  await append('after');
  await until(() => receiver.taken.length === 2);
  expect(receiver.taken).toEqual(['meanwhile', 'after']);
  expect(await logStore.drainIds()).toEqual(['a']);
});

it('tries again for as long as the receiver is away, and says so meanwhile', async () => {
  const receiver = new Receiver();
  let isAway = true;
  receiver.verdict = () => (isAway ? 'later' : null);
  await start([drain('a')], receiver);
  await append('one', 'two');
  await until(() => receiver.attempts >= 3);
  await until(async () => ((await logStore.drainCursor('a'))?.failures ?? 0) >= 3);
  expect(await logStore.drainCursor('a')).toMatchObject({ lastError: 'It is later.', lastSuccessAt: '', lost: 0 });
  isAway = false;
  await until(() => receiver.taken.length === 2);
  expect(receiver.taken).toEqual(['one', 'two']);
  await until(async () => (await logStore.drainCursor('a'))?.failures === 0);
});

it('sends less at a time to who cannot take so much', async () => {
  const receiver = new Receiver();
  receiver.verdict = (messages) => (messages.length > 3 ? 'too_large' : null);
  await start([drain('a')], receiver);
  await append(...numbered(0, 40));
  await until(() => receiver.taken.length === 40);
  expect(receiver.taken).toEqual(numbered(0, 40));
});

it('one line that is refused holds up nobody: it is counted, and reported to the receiver', async () => {
  const receiver = new Receiver();
  receiver.verdict = (messages) => (messages.includes('poison') ? 'refused' : null);
  await start([drain('a')], receiver);
  await append('good');
  await until(() => receiver.taken.length === 1);
  await append('poison');
  await until(async () => (await logStore.drainCursor('a'))?.lost === 1);
  await append('fine');
  await until(() => receiver.taken.includes('fine'));
  expect(receiver.taken).toEqual(['good', expect.stringContaining('1 line is missing here'), 'fine']);
});

it('to a receiver that has never taken a line nothing is lost, whatever it says', async () => {
  const receiver = new Receiver();
  receiver.verdict = () => 'refused';
  await start([drain('a')], receiver);
  await append('one');
  await until(() => receiver.attempts > 4);
  expect(await logStore.drainCursor('a')).toMatchObject({ lost: 0 });
  expect(await logStore.drainLag('a')).toBe(1);
});

it('what was removed while the receiver was away is reported to it', async () => {
  const receiver = new Receiver();
  let isAway = true;
  receiver.verdict = () => (isAway ? 'later' : null);
  await start([drain('a')], receiver);
  await append(...numbered(0, 30));
  await until(() => receiver.attempts > 0);
  await logStore.prune({ entriesPerApp: 2, bytesPerApp: 1e9, storedBytes: 1e9, keptSince: '', giveBackBytes: 0 });
  isAway = false;
  await until(() => receiver.taken.includes('line 29'));
  expect(receiver.taken.filter((message) => message.includes('28 lines are missing here'))).toHaveLength(1);
});

it('what is changed is sent to the new receiver alone', async () => {
  const receiver = new Receiver();
  const known = [drain('a')];
  const store = {
    drains: async () => known,
    drain: async (id: string) => known.find((one) => one.id === id) ?? null,
  };
  const sender = { send: receiver.send.bind(receiver) };
  const deliveries = new DrainDeliveries({ store, logStore, journal, sender, logger: SILENT, now, pauses: PAUSES });
  running.push(deliveries);
  await deliveries.start();
  await append('one');
  await until(() => receiver.taken.length === 1);
  known[0] = drain('a', 'shop', 'https://elsewhere.example.com/');
  await deliveries.changed('a');
  await append('two');
  await until(() => receiver.taken.length === 2);
  expect(receiver.urls).toEqual(['https://logs.example.com/', 'https://elsewhere.example.com/']);
  known.length = 0;
  await deliveries.changed('a');
  await append('three');
  expect(await logStore.drainIds()).toEqual([]);
  expect(receiver.taken).toEqual(['one', 'two']);
});

it('a log store that is away when a drain is added delays it, and fails nothing', async () => {
  const receiver = new Receiver();
  const whole = logStore;
  let isAway = true;
  const openDrain: LogStore['openDrain'] = async (id, app) => {
    if (isAway) throw new Error('away');
    await whole.openDrain(id, app);
  };
  logStore = { ...whole, openDrain };
  await start([drain('a')], receiver);
  isAway = false;
  await until(async () => (await whole.drainCursor('a')) !== null);
  await append('one');
  await until(() => receiver.taken.length === 1);
});
