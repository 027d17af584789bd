import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { until } from '../../../test/support/until.ts';
import { openEmptyStore } from '../../../test/support/empty-databases.ts';
import { SILENT } from '../../lib/logger.ts';
import type { Store } from '../store.ts';
import { Controls } from './controls.ts';

const LONG_MS = 60_000;

let folder = '';
let store: Store;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tancho-controls-'));
  store = await openEmptyStore(folder);
});
afterEach(async () => {
  await store.close();
  await rm(folder, { recursive: true });
});

interface Seen {
  readonly controls: Controls;
  readonly reported: string[];
  failing: boolean;
}

function control(owner: string, suspectMs = 0): Seen {
  const reported: string[] = [];
  const seen: { failing: boolean } = { failing: false };
  const controls = new Controls({
    store,
    owner,
    takeOver: async (dead) => {
      reported.push(dead);
      if (seen.failing) throw new Error('the store is away');
    },
    onDuty: async () => void reported.push('on duty'),
    onLost: () => void reported.push('lost'),
    logger: SILENT,
    timing: { ttlMs: LONG_MS, lookEveryMs: LONG_MS, suspectMs },
  });
  return Object.assign(seen, { controls, reported });
}

async function died(owner: string): Promise<number> {
  const token = await store.lease(`control:${owner}`, owner, 1);
  if (token === null) throw new Error('refused');
  await until(async () => (await store.leases(`control:${owner}`)).every(({ isExpired }) => isExpired), {
    what: 'the lease to expire',
    everyMs: 1,
  });
  return token;
}

it("the duties are one control's, until it gives them back", async () => {
  const [one, two] = [control('one'), control('two')];
  for (const { controls } of [one, two, one, two]) await controls.look();
  expect([one.reported, two.reported]).toEqual([['on duty'], []]);
  await one.controls.close();
  await two.controls.look();
  expect(two.reported).toEqual(['on duty']);
});

it('duties whose lease has only just ended are left to whoever had them: a database that was away lets all end at once', async () => {
  await store.lease('duties', 'late', 0);
  const [patient, one] = [control('patient', LONG_MS), control('one')];
  await patient.controls.look();
  await patient.controls.look();
  expect(patient.reported).toEqual([]);
  await one.controls.look();
  expect(one.reported).toEqual(['on duty']);
});

it('a control whose duties somebody else has is informed once', async () => {
  const one = control('one');
  await one.controls.look();
  await store.releaseLeases('one');
  await store.lease('duties', 'two', LONG_MS);
  await one.controls.look();
  await one.controls.look();
  expect(one.reported).toEqual(['on duty', 'lost']);
});

it('a dead control is followed once, its leases are free, and it cannot write by its own any more', async () => {
  const token = await died('dead');
  await store.lease('app:shop', 'dead', LONG_MS);
  const [one, two] = [control('one'), control('two')];
  await Promise.all([one.controls.look(), two.controls.look()]);
  await Promise.all([one.controls.look(), two.controls.look()]);
  expect([...one.reported, ...two.reported].filter((what) => what === 'dead')).toHaveLength(1);
  expect(await store.lease('app:shop', 'one', LONG_MS)).not.toBeNull();
  const own = { key: 'control:dead', token };
  expect(await store.transact((tx) => tx.lostLeases([own]))).toEqual([own]);
  expect(await store.leases('control:')).toEqual([]);
});

it('one whose lease has only just ended may still renew it: a database that was away lets all end at once', async () => {
  const token = await died('late');
  const one = control('one', LONG_MS);
  await one.controls.look();
  await one.controls.look();
  expect(one.reported).toEqual(['on duty']);
  expect(await store.renewLease({ key: 'control:late', token }, LONG_MS)).toBe(true);
});

it('a control keeps the duties while it goes on with the work of a dead one, however long that takes', async () => {
  await died('dead');
  let [isAtWork, renewals, losses] = [false, 0, 0];
  const work = Promise.withResolvers<void>();
  const controls = new Controls({
    store: {
      ...{
        lease: store.lease,
        releaseLease: store.releaseLease,
        releaseLeases: store.releaseLeases,
        leases: store.leases,
      },
      renewLease: async (lease, ttlMs) => {
        if (isAtWork && lease.key === 'duties') renewals += 1;
        return store.renewLease(lease, ttlMs);
      },
    },
    owner: 'one',
    takeOver: async () => {
      isAtWork = true;
      await work.promise;
    },
    onDuty: async () => {},
    onLost: () => void (losses += 1),
    logger: SILENT,
    timing: { ttlMs: LONG_MS, lookEveryMs: 5, suspectMs: 0 },
  });
  controls.start();
  try {
    await until(() => renewals > 1, { what: 'the duties to be renewed while it is at work' });
    expect(losses).toBe(0);
  } finally {
    work.resolve();
    await controls.close();
  }
});

it('several that have died are followed side by side: what one of them leaves may take long', async () => {
  for (const name of ['a', 'b', 'c']) await died(name);
  const begun: string[] = [];
  const work = Promise.withResolvers<void>();
  const controls = new Controls({
    ...{ store, owner: 'one', onDuty: async () => {}, onLost: () => {}, logger: SILENT },
    takeOver: async (dead) => {
      begun.push(dead);
      await work.promise;
    },
    timing: { ttlMs: LONG_MS, lookEveryMs: 5, suspectMs: 0 },
  });
  controls.start();
  try {
    await until(() => begun.length === 3, { what: 'all to be followed', detail: () => begun.join() });
    // Its end is not waited for: it may be followed before anybody looks.
    await store.lease('control:d', 'd', 1);
    await until(() => begun.includes('d'), { what: 'one that dies meanwhile to be followed' });
    const leases = await store.leases('control:');
    expect(leases.map(({ owner }) => owner)).toEqual(['one', 'one', 'one', 'one']);
  } finally {
    work.resolve();
    await controls.close();
  }
  expect(begun.toSorted()).toEqual(['a', 'b', 'c', 'd']);
  expect(await store.leases('control:')).toEqual([]);
});

it('one that is not followed to the end is followed again', async () => {
  await died('dead');
  const one = control('one');
  one.failing = true;
  await expect(one.controls.look()).rejects.toThrow('away');
  // Still held by who failed, so that it has its time; given back by its own death, or when that is over.
  expect(await store.leases('control:')).toEqual([{ key: 'control:dead', owner: 'one', isExpired: false }]);
  await store.releaseLeases('one');
  await died('dead');
  const two = control('two');
  await two.controls.look();
  expect(two.reported.filter((what) => what === 'dead')).toEqual(['dead']);
});

it('a control that is stopped does not wait for ever for what it goes on with for a dead one', async () => {
  await died('dead');
  const [begun, work] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const controls = new Controls({
    ...{ store, owner: 'one', onDuty: async () => {}, onLost: () => {}, logger: SILENT },
    takeOver: () => {
      begun.resolve();
      return work.promise;
    },
    timing: { ttlMs: LONG_MS, lookEveryMs: LONG_MS, suspectMs: 0, leaveMs: 20 },
  });
  const looking = controls.look();
  await begun.promise;
  await controls.stop();
  work.resolve();
  await looking;
});
