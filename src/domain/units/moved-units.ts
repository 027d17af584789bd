import type { Store } from '../store.ts';
import type { Engines } from './engines.ts';
import type { Address, Unit } from './unit.ts';

/**
 * Where units are, by id, that run, and not where their records say. An engine that starts units again by itself may have done so elsewhere and notified
 * whoever looked after them at that time, or nobody; where they were, another app may be by now.
 */
export async function movedUnits(
  engines: Pick<Engines, 'list' | 'of'>,
  running: readonly Pick<Unit, 'id' | 'address'>[],
): Promise<ReadonlyMap<string, Address>> {
  const mayHave = running.filter(
    ({ id, address }) => address !== null && engines.of(id).supports.restarts === 'engine',
  );
  if (mayHave.length === 0) return new Map();
  const seen = new Map((await engines.list()).map(({ id, address }) => [id, address]));
  return new Map(
    mayHave.flatMap(({ id, address }): [string, Address][] => {
      const now = seen.get(id) ?? null;
      return now === null || (now.host === address?.host && now.port === address.port) ? [] : [[id, now]];
    }),
  );
}

/** Its requests go there with the next table, without one in between that has it nowhere. */
export async function noteMoved(store: Pick<Store, 'transact'>, id: string, address: Address): Promise<void> {
  await store.transact(async (tx) => {
    if ((await tx.unit(id))?.state === 'started') await tx.updateUnit(id, { address });
  });
}
