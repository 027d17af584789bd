/** Units that died while control was away and were started again: noted in their records by the keeper, until control has stored that. */
import type { Comeback } from '../../../domain/units/provisioner.ts';
import type { LiveUnit } from './live-unit.ts';
import type { UnitRecord } from './unit-record.ts';

const MOST_NOTED = 20;
const UNKNOWN_EXIT = { code: null, signal: null, outOfMemory: false };

/** What the record of the next life keeps of the one that has ended. */
export function comebackOf(ended: UnitRecord | undefined): Pick<UnitRecord, 'comebacks'> {
  if (ended === undefined) return {};
  const exit = { at: new Date().toISOString(), ...(ended.exit ?? UNKNOWN_EXIT) };
  return { comebacks: [...(ended.comebacks ?? []), exit].slice(-MOST_NOTED) };
}

/** At most one. It stays in the record until comebackNoted(). */
export function comebacksOf({ record }: LiveUnit): Comeback[] {
  const { id, comebacks: exits = [], readyAt: address = null } = record;
  return exits.length === 0 ? [] : [{ id, exits, address }];
}
