/**
 * A control as a process of its own, as far as its writing goes: it has a lease, and writes one number after the other under the lease of an
 * app, as a rollout does. Each number that is stored is printed; what refuses one ends it.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { createSqlStore } from '../../src/backends/store/sql/index.ts';
import { takeControlLease } from '../../src/domain/controls/control-lease.ts';
import { toPlatformError } from '../../src/domain/errors.ts';
import { Fence } from '../../src/domain/fence.ts';
import { Leases } from '../../src/domain/leases.ts';
import { SILENT } from '../../src/lib/logger.ts';
import { openSealer } from '../../src/lib/seal.ts';

const PAUSE_MS = 5;

const [url = '', keyFile = '', owner = ''] = process.argv.slice(2);
const deps = { sealer: await openSealer(keyFile), logger: SILENT };
const bare = await createSqlStore({ kind: 'postgres', url }, deps);
const onLost = (): void => console.log('lost');
const { lease } = await takeControlLease(bare, { owner, isOneOfSeveral: true, onLost });
const fence = new Fence(lease);
const store = fence.guard(bare);
const leases = new Leases(bare, owner, fence);

try {
  await leases.hold('app:shop', { waitMs: 60_000, holder: owner }, async () => {
    for (let number = 1; ; number++) {
      await store.transact((tx) => tx.setSetting('written', `${owner} ${number}`));
      console.log(String(number));
      await delay(PAUSE_MS);
    }
  });
} catch (error) {
  console.log(toPlatformError(error).code);
  process.exit(0);
}
