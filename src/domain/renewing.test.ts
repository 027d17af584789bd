import { afterEach, expect, it, vi } from 'vitest';
import { keepRenewing } from './renewing.ts';

afterEach(() => void vi.useRealTimers());

it('has no renewal under way when it is stopped, which could lengthen a lease that has ended, but one that takes too long', async () => {
  vi.useFakeTimers();
  const renewals: PromiseWithResolvers<boolean>[] = [];
  const renew = (): Promise<boolean> => {
    const renewal = Promise.withResolvers<boolean>();
    renewals.push(renewal);
    return renewal.promise;
  };
  for (const comes of [true, false]) {
    const stop = keepRenewing(300, renew, () => {});
    await vi.advanceTimersByTimeAsync(150);
    let isStopped = false;
    const stopped = stop().then(() => (isStopped = true));
    // By now it is given up.
    await vi.advanceTimersByTimeAsync(100);
    expect(isStopped).toBe(false);
    if (comes) renewals[0]?.resolve(true);
    else await vi.advanceTimersByTimeAsync(300);
    await stopped;
  }
  expect(renewals).toHaveLength(2);
});
