/**
 * The lease of a control as a whole: it shows that the control lives, and what it writes goes by it (see fence.ts). Where units run on the
 * machine of a control, another one would take them for dead, so there is one control at a time; where they run elsewhere, there are
 * several, each with a lease of its own.
 */
import { PlatformError } from '../errors.ts';
import { keepRenewing } from '../renewing.ts';
import type { Lease, Store } from '../store.ts';

/** Of the only one. */
const ALONE = 'control';
/** Of one among several; its name follows. */
export const CONTROL_PREFIX = 'control:';
const TTL_MS = 6_000;
/** With the time that others look and wait, what a dead one had begun is gone on with within ten seconds. */
export const ONE_OF_SEVERAL_TTL_MS = 4_500;
const RETRY_MS = 250;

export interface ControlLeaseOptions {
  /** Name of this control, unique among all that may share the store. */
  readonly owner: string;
  /** There may be others. */
  readonly isOneOfSeveral: boolean;
  /** Makes it another name, from now on. */
  readonly rename?: () => Promise<string>;
  /** Somebody else has taken the lease, because this control could not hold it. */
  readonly onLost: () => void;
  /** How long the lease is kept without a sign of life. */
  readonly ttlMs?: number;
}

export interface ControlLease {
  /** Name of this control. */
  readonly owner: string;
  readonly lease: Lease;
  release(): Promise<void>;
}

type LeaseStore = Pick<Store, 'lease' | 'renewLease' | 'releaseLease' | 'leases'>;

/**
 * A control that died by the same name is followed at once, another one when its lease has ended; where others go on already with what it had
 * begun, this one begins anew by another name. Throws PlatformError `unavailable` where
 * somebody who is alive excludes this control.
 */
export async function takeControlLease(store: LeaseStore, options: ControlLeaseOptions): Promise<ControlLease> {
  const { isOneOfSeveral, onLost, rename } = options;
  let { owner } = options;
  const ttlMs = options.ttlMs ?? (isOneOfSeveral ? ONE_OF_SEVERAL_TTL_MS : TTL_MS);
  let key = isOneOfSeveral ? CONTROL_PREFIX + owner : ALONE;
  const deadline = Date.now() + ttlMs + RETRY_MS;
  let token = await store.lease(key, owner, ttlMs);
  if (token === null && isOneOfSeveral && rename !== undefined) {
    owner = await rename();
    key = CONTROL_PREFIX + owner;
    token = await store.lease(key, owner, ttlMs);
  }
  while (token === null) {
    if (Date.now() > deadline) throw taken();
    await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
    token = await store.lease(key, owner, ttlMs);
  }
  const lease = { key, token };
  try {
    // Only now: of two that start at the same time at least one sees the other.
    while (await isExcluded(store, isOneOfSeveral)) {
      if (Date.now() > deadline) throw isOneOfSeveral ? takenByOneAlone() : takenBySeveral();
      await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
    }
  } catch (error) {
    await store.releaseLease(lease).catch(() => undefined);
    throw error;
  }
  const stop = keepRenewing(ttlMs, () => store.renewLease(lease, ttlMs), onLost);
  return {
    owner,
    lease,
    async release() {
      await stop();
      // Of several it ends, and is not given back: by that others see that they are to go on with its work. Not reached, it ends by itself.
      const ended = isOneOfSeveral ? store.renewLease(lease, 0) : store.releaseLease(lease);
      await ended.catch(() => undefined);
    },
  };
}

/** One alone and one of several cannot work side by side, whichever came first. */
async function isExcluded(store: Pick<Store, 'leases'>, isOneOfSeveral: boolean): Promise<boolean> {
  const alive = (await store.leases(ALONE)).filter(({ isExpired }) => !isExpired).map(({ key }) => key);
  return alive.some((key) => (isOneOfSeveral ? key === ALONE : key.startsWith(CONTROL_PREFIX)));
}

function taken(): PlatformError {
  return new PlatformError('unavailable', 'Another server works with this database.', {
    hint: 'Stop it first, or give this one a database of its own (TANCHO_DATABASE_URL).',
  });
}

function takenByOneAlone(): PlatformError {
  return new PlatformError(
    'unavailable',
    'Another server works with this database, and units of its apps run on its own machine, so there can be no second one.',
    { hint: 'Stop it first, or give this one a database of its own (TANCHO_DATABASE_URL).' },
  );
}

function takenBySeveral(): PlatformError {
  return new PlatformError(
    'unavailable',
    'Other servers work with this database, and this one has an engine that runs units on its own machine, which they could not reach.',
    { hint: 'Give this one a database of its own (TANCHO_DATABASE_URL), or the same engines as the others.' },
  );
}
