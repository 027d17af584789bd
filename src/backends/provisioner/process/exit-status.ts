/** Pure: one reading of how a process ended, whoever noted it. */
import { constants } from 'node:os';

export interface ExitStatus {
  readonly code: number | null;
  readonly signal: string | null;
}

const SIGNAL_NAMES = new Map(Object.entries(constants.signals).map(([name, number]) => [number, name]));

/** Shells and sandboxes report a death by signal as 128 + its number; that becomes the signal again. */
export function exitStatus(code: number | null, signal: string | null): ExitStatus {
  const name = code !== null && code > 128 ? SIGNAL_NAMES.get(code - 128) : undefined;
  return name === undefined ? { code, signal } : { code: null, signal: name };
}
