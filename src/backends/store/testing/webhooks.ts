import { expect } from 'vitest';
import type { Delivery } from '../../../domain/webhooks/delivery.ts';
import type { Webhook } from '../../../domain/webhooks/webhook.ts';
import type { StoreCases } from './case.ts';
import { AT, LATER } from './records.ts';

function webhook(id: string, more: Partial<Webhook> = {}): Webhook {
  const target = { url: 'https://hooks.example.com/in?key=secret', secret: 'whsec_c2VjcmV0' };
  return { id, scope: 'app', owner: 'shop', ...target, kinds: [], by: 'ann@example.com', createdAt: AT, ...more };
}

function delivery(id: string, more: Partial<Delivery> = {}): Delivery {
  return {
    ...{ id, webhook: 'a', kind: 'deploy.done', app: 'shop', body: '{"type":"deploy.done"}', state: 'waiting' },
    ...{ createdAt: AT, retriedSince: AT, nextAttemptAt: AT, attempts: 0, lastAttemptAt: '', status: 0, answer: '' },
    ...more,
  };
}

export const webhookCases: StoreCases = {
  'gives back webhooks with every field, by owner, and removes them with what they were to be sent': async (
    store,
    under,
  ) => {
    const all = [
      webhook('c', { owner: 'blog', kinds: ['deploy.failed', 'unit.died'] }),
      webhook('a'),
      webhook('b', { scope: 'platform', owner: '' }),
      webhook('d', { scope: 'team' }),
    ];
    await store.transact(async (tx) => {
      for (const one of all) await tx.insertWebhook(one);
      for (const { id } of all) await tx.insertDelivery(delivery(`to ${id}`, { webhook: id }));
    });
    const other = await under.again();
    expect(await other.webhooks()).toEqual(all);
    expect(await other.webhook('c')).toEqual(all[0]);
    await store.transact((tx) => tx.deleteWebhooksOf('app', 'shop'));
    await store.transact((tx) => tx.deleteWebhook('b'));
    expect((await store.webhooks()).map(({ id }) => id)).toEqual(['c', 'd']);
    expect(await store.webhook('a')).toBeNull();
    const left = await Promise.all(all.map(async ({ id }) => (await store.delivery(`to ${id}`)) !== null));
    expect(left).toEqual([true, false, false, true]);
  },

  'has of each webhook the oldest delivery that is due, and knows when the next one is': async (store) => {
    expect(await store.nextDeliveryAt()).toBeNull();
    await store.transact(async (tx) => {
      await tx.insertWebhook(webhook('a'));
      await tx.insertWebhook(webhook('b'));
      await tx.insertDelivery(delivery('over', { state: 'delivered' }));
      await tx.insertDelivery(delivery('later', { nextAttemptAt: LATER }));
      await tx.insertDelivery(delivery('first', { nextAttemptAt: '2026-03-04T05:06:08.000Z' }));
      await tx.insertDelivery(delivery('second'));
      await tx.insertDelivery(delivery('other', { webhook: 'b', nextAttemptAt: '2026-03-04T05:06:07.500Z' }));
    });
    const due = async (at: string): Promise<string[]> => (await store.dueDeliveries(at)).map(({ id }) => id);
    expect(await due('2026-03-04T05:06:09.000Z')).toEqual(['other', 'first']);
    expect(await due(AT)).toEqual(['second']);
    // A clock was ahead that has been set right.
    expect(await due('2026-03-04T00:00:00.000Z')).toEqual(['other', 'later']);
    expect(await due(LATER)).toEqual(['other', 'later']);
    expect(await store.nextDeliveryAt()).toBe(AT);
  },

  'records what became of a delivery': async (store) => {
    const tried = { attempts: 3, lastAttemptAt: LATER, status: 500, answer: 'no', nextAttemptAt: LATER };
    const after = delivery('x', { ...tried, state: 'failed', retriedSince: LATER });
    await store.transact(async (tx) => {
      await tx.insertWebhook(webhook('a'));
      await tx.insertDelivery(delivery('x'));
      await tx.updateDelivery(after);
      await tx.updateDelivery(delivery('missing'));
    });
    expect(await store.delivery('x')).toEqual(after);
    expect(await store.delivery('missing')).toBeNull();
    const like = { webhook: 'a', kind: 'deploy.done', app: 'shop', since: AT };
    expect(await store.hasDelivery(like)).toBe(true);
    for (const other of [{ since: LATER }, { kind: 'disk.low' }, { app: 'blog' }, { webhook: 'b' }]) {
      expect(await store.hasDelivery({ ...like, ...other }), JSON.stringify(other)).toBe(false);
    }
  },

  'keeps the newest deliveries, of those that wait and of the others': async (store) => {
    await store.transact(async (tx) => {
      await tx.insertWebhook(webhook('a'));
      for (const id of ['1', '2', '3']) {
        await tx.insertDelivery(delivery(`w${id}`));
        await tx.insertDelivery(delivery(`d${id}`, { state: id === '2' ? 'failed' : 'delivered' }));
      }
    });
    const left = async (limit = 10): Promise<string> =>
      (await store.deliveries('a', limit)).map(({ id }) => id).join(' ');
    await store.transact((tx) => tx.trimDeliveries('a', { over: 3, waiting: 3 }));
    expect(await left()).toBe('d3 w3 d2 w2 d1 w1');
    await store.transact((tx) => tx.trimDeliveries('b', { over: 0, waiting: 0 }));
    await store.transact((tx) => tx.trimDeliveries('a', { over: 1, waiting: 2 }));
    expect([await left(), await left(1)]).toEqual(['d3 w3 w2', 'd3']);
  },
};
