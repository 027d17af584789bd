import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openEmptyStore } from '../../test/support/empty-databases.ts';
import { Fence } from './fence.ts';
import { Leases } from './leases.ts';
import type { Lease, Store } from './store.ts';

let folder = '';
let bare: Store;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tancho-fence-'));
  bare = await openEmptyStore(folder);
});
afterEach(async () => {
  await bare.close();
  await rm(folder, { recursive: true });
});

const OPTIONS = { waitMs: 1_000, holder: 'deploy by ann@example.com' };
const write = (store: Store, value: string): Promise<void> => store.transact((tx) => tx.setSetting('by', value));

async function taken(key: string, owner: string): Promise<Lease> {
  const token = await bare.lease(key, owner, 60_000);
  if (token === null) throw new Error(`${owner} was refused ${key}`);
  return { key, token };
}

/** As a control does that finds the lease expired. */
async function takeOver(key: string): Promise<void> {
  const mine = await taken(key, 'here');
  await bare.releaseLease(mine);
  await taken(key, 'there');
}

describe('what is written under a lease', () => {
  it('is stored while it is held, and refused once somebody else has it', async () => {
    const fence = new Fence();
    const store = fence.guard(bare);
    const leases = new Leases(bare, 'here', fence);
    await leases.hold('app:shop', OPTIONS, async () => {
      await write(store, 'held');
      await takeOver('app:shop');
      await expect(write(store, 'stale')).rejects.toMatchObject({ code: 'app.busy' });
    });
    expect(await bare.setting('by')).toBe('held');
  });

  it('needs all of the leases that are held around it', async () => {
    const fence = new Fence();
    const store = fence.guard(bare);
    const leases = new Leases(bare, 'here', fence);
    await leases.holdAll(['app:a', 'app:b'], OPTIONS, async () => {
      await takeOver('app:a');
      await expect(write(store, 'stale')).rejects.toMatchObject({ message: 'app a was taken over meanwhile.' });
    });
    expect(await bare.setting('by')).toBeNull();
  });

  it('in the background after it was given back is by no lease', async () => {
    const fence = new Fence();
    const store = fence.guard(bare);
    const leases = new Leases(bare, 'here', fence);
    let begin = (): void => {};
    const begun = new Promise<void>((resolve) => (begin = resolve));
    let later: Promise<void> = Promise.resolve();
    await leases.hold('app:shop', OPTIONS, async () => {
      later = begun.then(() => write(store, 'later'));
    });
    begin();
    await later;
    expect(await bare.setting('by')).toBe('later');
  });

  it('by a control is refused once another one is in its place, and whoever comes back by its name is another one', async () => {
    const lease = await taken('control', 'here');
    const store = new Fence(lease).guard(bare);
    await write(store, 'first');
    const next = new Fence(await taken('control', 'here')).guard(bare);
    await expect(write(store, 'stale')).rejects.toMatchObject({ code: 'unavailable' });
    await write(next, 'second');
    expect(await bare.setting('by')).toBe('second');
  });
});
