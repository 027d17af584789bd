import { afterEach, describe, expect, it, vi } from 'vitest';
import { Leases } from './leases.ts';
import type { Lease } from './store.ts';

afterEach(() => vi.useRealTimers());

/** As the contract says, on a clock that the test moves. */
class MemoryLeases {
  readonly held = new Map<string, { owner: string; token: number; endsAt: number }>();
  nowMs = 0;
  renewals: Promise<void> = Promise.resolve();
  #tokens = 0;

  async lease(key: string, owner: string, ttlMs: number): Promise<number | null> {
    const lease = this.held.get(key);
    if (lease !== undefined && lease.owner !== owner && lease.endsAt > this.nowMs) return null;
    this.#tokens += 1;
    this.held.set(key, { owner, token: this.#tokens, endsAt: this.nowMs + ttlMs });
    return this.#tokens;
  }

  async renewLease({ key, token }: Lease, ttlMs: number): Promise<boolean> {
    await this.renewals;
    const lease = this.held.get(key);
    if (lease?.token !== token) return false;
    this.held.set(key, { ...lease, endsAt: this.nowMs + ttlMs });
    return true;
  }

  async releaseLease({ key, token }: Lease): Promise<void> {
    if (this.held.get(key)?.token === token) this.held.delete(key);
  }
}

function gate(): { open: () => void; opened: Promise<void> } {
  let open = (): void => {};
  const opened = new Promise<void>((resolve) => (open = resolve));
  return { open, opened };
}

const ANN = { waitMs: 1_000, holder: 'deploy by ann@example.com' };
const IMPATIENT = { waitMs: 30, holder: 'restart by bob@example.com' };

describe('leases', () => {
  it('let one operation per key go at a time, in order, and those of other keys at once', async () => {
    const leases = new Leases(new MemoryLeases(), 'here');
    const order: string[] = [];
    const first = gate();
    const holding = leases.hold('app:shop', ANN, async () => {
      await first.opened;
      order.push('first');
    });
    const next = ['second', 'third'].map((name) => leases.hold('app:shop', ANN, async () => void order.push(name)));
    await leases.hold('app:blog', ANN, async () => void order.push('elsewhere'));
    first.open();
    await Promise.all([holding, ...next]);
    expect(order).toEqual(['elsewhere', 'first', 'second', 'third']);
  });

  it('inform those who waited in vain what the app is busy with, and never begin their work', async () => {
    const leases = new Leases(new MemoryLeases(), 'here');
    const first = gate();
    const holding = leases.hold('app:shop', ANN, () => first.opened);
    const work = vi.fn(async () => {});
    await expect(leases.hold('app:shop', IMPATIENT, work)).rejects.toMatchObject({
      code: 'app.busy',
      message: 'app shop is busy with deploy by ann@example.com.',
    });
    first.open();
    await holding;
    expect(work).not.toHaveBeenCalled();
    await expect(leases.hold('app:shop', IMPATIENT, async () => 7)).resolves.toBe(7);
  });

  it('wait for another control, no longer than asked, and take over from one that is dead', async () => {
    const store = new MemoryLeases();
    await store.lease('app:shop', 'there', 15_000);
    const leases = new Leases(store, 'here');
    await expect(leases.hold('app:shop', IMPATIENT, async () => 7)).rejects.toMatchObject({ code: 'app.busy' });
    store.nowMs = 15_000;
    await expect(leases.hold('app:shop', IMPATIENT, async () => 7)).resolves.toBe(7);
  });

  it('are there at once for a control that goes by the name of the one that died', async () => {
    const store = new MemoryLeases();
    await store.lease('app:shop', 'here', 15_000);
    await expect(new Leases(store, 'here').hold('app:shop', IMPATIENT, async () => 7)).resolves.toBe(7);
  });

  it('are given back after a failure, and one that cannot be given back fails nothing', async () => {
    const store = new MemoryLeases();
    const leases = new Leases(store, 'here');
    await expect(leases.hold('app:shop', ANN, () => Promise.reject(new Error('no')))).rejects.toThrow('no');
    expect(store.held.size).toBe(0);
    const { releaseLease } = store;
    store.releaseLease = () => Promise.reject(new Error('the store is away'));
    await expect(leases.hold('app:shop', ANN, async () => 'done')).resolves.toBe('done');
    expect(store.held.size).toBe(1);
    store.releaseLease = releaseLease;
    await expect.poll(() => store.held.size).toBe(0);
  });

  it('are renewed while the work goes on, and not taken back by a renewal that was under way at the end', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    const store = new MemoryLeases();
    const leases = new Leases(store, 'here');
    const begun = gate();
    const work = gate();
    const holding = leases.hold('app:shop', ANN, () => {
      begun.open();
      return work.opened;
    });
    await begun.opened;
    store.nowMs = 6_000;
    await vi.advanceTimersByTimeAsync(3_000);
    expect(store.held.get('app:shop')).toMatchObject({ owner: 'here', endsAt: 15_000 });
    const slow = gate();
    store.renewals = slow.opened;
    await vi.advanceTimersByTimeAsync(3_000);
    work.open();
    slow.open();
    await holding;
    expect(store.held.size).toBe(0);
  });
});
