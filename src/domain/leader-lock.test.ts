import { describe, expect, it } from 'vitest';
import { until } from '../../test/support/until.ts';
import { takeLeaderLock } from './leader-lock.ts';

/** As the store's leases are: a key belongs to who took it, until it ends. */
function leases() {
  const held = new Map<string, { owner: string; until: number }>();
  return {
    held,
    async lease(key: string, owner: string, ttlMs: number): Promise<boolean> {
      const now = Date.now();
      const other = held.get(key);
      if (other !== undefined && other.owner !== owner && other.until > now) return false;
      held.set(key, { owner, until: now + ttlMs });
      return true;
    },
    async releaseLease(key: string, owner: string): Promise<void> {
      if (held.get(key)?.owner === owner) held.delete(key);
    },
  };
}

const never = (): void => {
  throw new Error('the lock was lost');
};

describe('the lock of a control', () => {
  it('is refused to another one for as long as it is held, and given on when it is left', async () => {
    const store = leases();
    const lock = await takeLeaderLock(store, { owner: 'a', onLost: never, ttlMs: 60 });
    const refused = takeLeaderLock(store, { owner: 'b', onLost: never, ttlMs: 60 });
    await expect(refused).rejects.toMatchObject({ code: 'unavailable' });
    await lock.release();
    await (await takeLeaderLock(store, { owner: 'b', onLost: never, ttlMs: 60 })).release();
    expect(store.held.size).toBe(0);
  });

  it('is had at once by the same one after a crash', async () => {
    const store = leases();
    await store.lease('control', 'a', 60_000);
    await (await takeLeaderLock(store, { owner: 'a', onLost: never })).release();
  });

  it('that somebody else has taken is told once', async () => {
    const store = leases();
    let lost = 0;
    const lock = await takeLeaderLock(store, { owner: 'a', onLost: () => void (lost += 1), ttlMs: 30 });
    store.held.set('control', { owner: 'b', until: Date.now() + 60_000 });
    await until(() => lost > 0, { what: 'the loss to be told' });
    await lock.release();
    expect([lost, store.held.get('control')?.owner]).toEqual([1, 'b']);
  });
});
