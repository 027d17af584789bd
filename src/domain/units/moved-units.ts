import type { Engines } from './engines.ts';
import type { Unit } from './unit.ts';

/**
 * Ids of units that run, and not where their records say. An engine that starts units again by itself may have done so elsewhere and notified
 * whoever looked after them at that time, or nobody; where they were, another app may be by now.
 */
export async function movedUnits(
  engines: Pick<Engines, 'list' | 'of'>,
  running: readonly Pick<Unit, 'id' | 'address'>[],
): Promise<ReadonlySet<string>> {
  const mayHave = running.filter(
    ({ id, address }) => address !== null && engines.of(id).supports.restarts === 'engine',
  );
  if (mayHave.length === 0) return new Set();
  const seen = new Map((await engines.list()).map(({ id, address }) => [id, address]));
  const moved = mayHave.filter(({ id, address }) => {
    const now = seen.get(id) ?? null;
    return now !== null && (now.host !== address?.host || now.port !== address.port);
  });
  return new Set(moved.map(({ id }) => id));
}
