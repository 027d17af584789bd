import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { openEmptyStore } from '../../../test/support/empty-databases.ts';
import { until } from '../../../test/support/until.ts';
import { SILENT } from '../../lib/logger.ts';
import type { Store } from '../store.ts';
import { type News, type NewsListener, NO_NEWS } from './news.ts';
import { Peers } from './peers.ts';

const LONG_MS = 120_000;
/** As short as a lease can be: it has expired when it is looked at. */
const EXPIRED_MS = 0;

let folder = '';
let store: Store;
/** How often somebody was asked. */
let asked = 0;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tancho-peers-'));
  store = await openEmptyStore(folder);
  asked = 0;
});
afterEach(async () => {
  await store.close();
  await rm(folder, { recursive: true });
});

/** Asks by the name of `one`, and does not wait for the end. */
function asking(suspectMs = LONG_MS): Promise<'over'> {
  const news = { ...NO_NEWS, publish: () => void (asked += 1) };
  const edges = { attached: new Map<string, object>() };
  const peers = new Peers({ store, news, owner: 'one', edges, logger: SILENT, suspectMs });
  return peers.all('routes', ['shop'], LONG_MS).then(() => 'over');
}

/** Resolves when somebody is waited for. */
async function waits(over: Promise<'over'>): Promise<void> {
  const isAsked = until(() => asked > 1, { what: 'somebody to be asked' }).then(() => 'asked' as const);
  expect(await Promise.race([over, isAsked])).toBe('asked');
}

it('a control whose lease has expired is waited for until another one has that lease: its database may have been away', async () => {
  await store.lease('control:one', 'one', LONG_MS);
  await store.lease('control:late', 'late', EXPIRED_MS);
  const over = asking();
  await waits(over);
  await store.lease('control:late', 'one', LONG_MS);
  expect(await over).toBe('over');
});

it('a control that another one is just taking the place of is waited for by nobody', async () => {
  await store.lease('control:dead', 'two', LONG_MS);
  expect(await asking()).toBe('over');
  expect(asked).toBe(0);
});

it('an edge whose lease has expired is waited for a little longer, and one that was lost long ago is not', async () => {
  await store.lease('edge:oslo', 'a', EXPIRED_MS);
  const over = asking();
  await waits(over);
  await store.releaseLeases('a');
  expect(await over).toBe('over');
  await store.lease('edge:oslo', 'a', EXPIRED_MS);
  expect(await asking(0)).toBe('over');
});

it('a question about very many is asked in parts that news can carry, and is over when all of them are answered', async () => {
  await store.lease('control:two', 'two', LONG_MS);
  const units = Array.from({ length: 600 }, (_, number) => `a-unit-of-shop-${number}`);
  const answered = new Set<string>();
  let hear: NewsListener = () => {};
  const news: News = {
    ...NO_NEWS,
    on: (topic, listener) => void (topic === 'done' && (hear = listener)),
    publish(_topic, subject) {
      expect(subject.length).toBeLessThan(7_000);
      const [id, , ...part] = JSON.parse(subject) as string[];
      // One at a time: others are asked again.
      if (part.some((unit) => answered.has(unit)) || asked++ % 2 === 1) return;
      for (const unit of part) answered.add(unit);
      queueMicrotask(() => hear(`${id} two`));
    },
  };
  const peers = new Peers({ store, news, owner: 'one', logger: SILENT });
  await peers.all('drain', units, LONG_MS);
  expect([...answered].toSorted()).toEqual(units.toSorted());
});
