import { PlatformError } from '../errors.ts';
import { type Unit, unitName } from './unit.ts';

const SHORTEST_ID = 4;

/** By name, by id, or by the beginning of an id; undefined when there is none. */
export function findUnit(units: readonly Unit[], wanted: string): Unit | undefined {
  const isLong = wanted.length >= SHORTEST_ID;
  return units.find((unit) => unitName(unit) === wanted || (isLong && unit.id.startsWith(wanted)));
}

export function unitNotFound(wanted: string, hint: string): PlatformError {
  return new PlatformError('unit.not_found', `unit "${wanted.slice(0, 100)}" not found`, { hint });
}
