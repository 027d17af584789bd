import { describe, expect, it } from 'vitest';
import { until } from '../../../test/support/until.ts';
import type { Lease } from '../store.ts';
import { takeControlLease } from './control-lease.ts';

/** As the store's leases are: a key belongs to who took it, until it ends. */
function leases() {
  const held = new Map<string, { owner: string; token: number; until: number }>();
  let tokens = 0;
  return {
    held,
    async lease(key: string, owner: string, ttlMs: number): Promise<number | null> {
      const now = Date.now();
      const other = held.get(key);
      if (other !== undefined && other.owner !== owner && other.until > now) return null;
      held.set(key, { owner, token: ++tokens, until: now + ttlMs });
      return tokens;
    },
    async renewLease({ key, token }: Lease, ttlMs: number): Promise<boolean> {
      const own = held.get(key);
      if (own?.token !== token) return false;
      held.set(key, { ...own, until: Date.now() + ttlMs });
      return true;
    },
    async releaseLease({ key, token }: Lease): Promise<void> {
      if (held.get(key)?.token === token) held.delete(key);
    },
    async leases(prefix: string) {
      const all = [...held].filter(([key]) => key.startsWith(prefix));
      return all.map(([key, { owner, until: end }]) => ({ key, owner, isExpired: end <= Date.now() }));
    },
  };
}

const ALONE = { isOneOfSeveral: false };
const SEVERAL = { isOneOfSeveral: true };

const never = (): void => {
  throw new Error('the lock was lost');
};

describe('the lock of a control', () => {
  it('is refused to another one for as long as it is held, and given on when it is left', async () => {
    const store = leases();
    const lock = await takeControlLease(store, { ...ALONE, owner: 'a', onLost: never, ttlMs: 60_000 });
    const refused = takeControlLease(store, { ...ALONE, owner: 'b', onLost: never, ttlMs: 60 });
    await expect(refused).rejects.toMatchObject({ code: 'unavailable' });
    await lock.release();
    await (await takeControlLease(store, { ...ALONE, owner: 'b', onLost: never, ttlMs: 60 })).release();
    expect(store.held.size).toBe(0);
  });

  it('is renewed again and again', async () => {
    const store = leases();
    const lock = await takeControlLease(store, { ...ALONE, owner: 'a', onLost: never, ttlMs: 30 });
    const end = (): number => store.held.get('control')?.until ?? 0;
    for (let renewals = 0, last = end(); renewals < 2; renewals++, last = end())
      await until(() => end() > last, { what: 'a renewal', everyMs: 1 });
    await lock.release();
  });

  it('is renewed while a renewal before it hangs', async () => {
    const store = leases();
    let renewals = 0;
    const renewLease = (): Promise<boolean> => (++renewals === 1 ? new Promise(() => {}) : Promise.resolve(true));
    const lock = await takeControlLease({ ...store, renewLease }, { ...ALONE, owner: 'a', onLost: never, ttlMs: 30 });
    await until(() => renewals > 2, { what: 'further renewals' });
    await lock.release();
  });

  it('is had at once by the same one after a crash', async () => {
    const store = leases();
    await store.lease('control', 'a', 60_000);
    await (await takeControlLease(store, { ...ALONE, owner: 'a', onLost: never })).release();
  });

  it('that somebody else has taken is reported once', async () => {
    const store = leases();
    let lost = 0;
    const lock = await takeControlLease(store, { ...ALONE, owner: 'a', onLost: () => void (lost += 1), ttlMs: 30 });
    store.held.set('control', { owner: 'b', token: 99, until: Date.now() + 60_000 });
    await until(() => lost > 0, { what: 'the loss to be reported' });
    await lock.release();
    expect([lost, store.held.get('control')?.owner]).toEqual([1, 'b']);
  });

  it('is one of several where units run elsewhere: each has its own', async () => {
    const store = leases();
    const first = await takeControlLease(store, { ...SEVERAL, owner: 'a', onLost: never, ttlMs: 60_000 });
    const second = await takeControlLease(store, { ...SEVERAL, owner: 'b', onLost: never, ttlMs: 60_000 });
    expect([...store.held.keys()]).toEqual(['control:a', 'control:b']);
    await Promise.all([first.release(), second.release()]);
    // Others go on with what they leave.
    expect(await store.leases('control:')).toEqual([
      { key: 'control:a', owner: 'a', isExpired: true },
      { key: 'control:b', owner: 'b', isExpired: true },
    ]);
  });

  it('is had by another name where somebody goes on with what the one before had begun', async () => {
    const store = leases();
    store.held.set('control:a', { owner: 'successor', token: 99, until: Date.now() + 60_000 });
    const rename = async (): Promise<string> => 'b';
    const lock = await takeControlLease(store, { ...SEVERAL, owner: 'a', rename, onLost: never, ttlMs: 60_000 });
    expect(lock.owner).toBe('b');
    expect([...store.held].map(([key, { owner }]) => [key, owner])).toEqual([
      ['control:a', 'successor'],
      ['control:b', 'b'],
    ]);
    await lock.release();
    const there = await takeControlLease(store, { ...SEVERAL, owner: 'c', rename, onLost: never, ttlMs: 60_000 });
    expect(there.owner).toBe('c');
    await there.release();
  });

  it.each([
    { first: SEVERAL, then: ALONE, says: 'Other servers work with this database' },
    { first: ALONE, then: SEVERAL, says: 'Another server works with this database, and units' },
  ])('excludes one of the other kind: $says', async ({ first, then, says }) => {
    const store = leases();
    const there = await takeControlLease(store, { ...first, owner: 'a', onLost: never, ttlMs: 60_000 });
    const refused = takeControlLease(store, { ...then, owner: 'b', onLost: never, ttlMs: 60 });
    await expect(refused).rejects.toMatchObject({
      code: 'unavailable',
      message: expect.stringContaining(says) as string,
    });
    expect([...store.held.values()].filter(({ until: end }) => end > Date.now())).toHaveLength(1);
    await there.release();
    await (await takeControlLease(store, { ...then, owner: 'b', onLost: never, ttlMs: 60_000 })).release();
  });
});
