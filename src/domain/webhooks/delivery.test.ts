import { expect, it } from 'vitest';
import { afterAttempt, type Delivery, sentAgain } from './delivery.ts';
import { bodyOf, newDelivery } from './occurrence.ts';

const AT = '2026-03-04T05:06:07.000Z';
const no = { status: 500, answer: 'no', retryAfterMs: 0 };
const first = (): Delivery => newDelivery('a', 'deploy.done', 'shop', '{}', AT);

it('is tried again after longer and longer, for a day, and then it has failed', () => {
  let delivery = first();
  const pauses: number[] = [];
  for (let now = Date.parse(AT); delivery.state === 'waiting'; now = Date.parse(delivery.nextAttemptAt)) {
    delivery = afterAttempt(delivery, no, new Date(now), 0.5);
    if (delivery.state === 'waiting') pauses.push((Date.parse(delivery.nextAttemptAt) - now) / 1000);
  }
  expect(pauses.slice(0, 8)).toEqual([5, 30, 120, 600, 1800, 3600, 10_800, 10_800]);
  expect(pauses.reduce((sum, pause) => sum + pause, 0)).toBeLessThanOrEqual(86_400);
  expect(delivery).toMatchObject({ state: 'failed', attempts: pauses.length + 1, status: 500, answer: 'no' });
});

it('is spread, waits as long as the receiver wishes, and not at all for one that is gone for good', () => {
  const now = new Date(AT);
  const pause = (spread: number, retryAfterMs = 0): number =>
    Date.parse(afterAttempt(first(), { ...no, retryAfterMs }, now, spread).nextAttemptAt) - now.getTime();
  expect([pause(0), pause(1), pause(0, 60_000)]).toEqual([3_750, 6_250, 60_000]);
  expect(afterAttempt(first(), { ...no, status: 410 }, now, 0).state).toBe('failed');
  expect(afterAttempt(first(), { ...no, status: 302 }, now, 0).state).toBe('waiting');
  expect(afterAttempt(first(), { ...no, status: 204 }, now, 0)).toMatchObject({ state: 'delivered', attempts: 1 });
});

it('that is sent again is the same message, with a whole day before it', () => {
  const failed: Delivery = { ...first(), state: 'failed', attempts: 12 };
  const later = new Date('2026-04-01T00:00:00.000Z');
  const again = sentAgain(failed, later);
  expect(again).toMatchObject({ id: failed.id, body: failed.body, createdAt: AT, state: 'waiting', attempts: 0 });
  expect(afterAttempt(again, no, later, 0).state).toBe('waiting');
});

it('says what it is, when it was, and the facts', () => {
  const body = bodyOf(
    { kind: 'deploy.done', app: 'shop', by: 'ann', message: 'm'.repeat(2_000), facts: { release: 3 } },
    AT,
  );
  expect(JSON.parse(body)).toEqual({
    type: 'deploy.done',
    timestamp: AT,
    data: { app: 'shop', by: 'ann', message: 'm'.repeat(1_000), release: 3 },
  });
});
