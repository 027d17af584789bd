/**
 * A database says what became of it: `copied` is written with what was copied into it, from which home, and goes with the first server that starts on it;
 * `moved` says that the state was moved away, to which home. So nobody starts on what was left behind, and a copy that never was in force can be made
 * again, by who made it.
 */
import { PlatformError } from '../errors.ts';
import type { Store } from '../store.ts';

export const STATE_MOVE = 'state.move';

const COPIED = 'copied ';
const MOVED = 'moved ';

/** `home`: whose state it is a copy of, see homeName(). */
export function copiedFrom(home: string): string {
  return COPIED + home;
}

/** `home`: who has the state now, see homeName(). */
export function movedTo(home: string): string {
  return MOVED + home;
}

/** Null: it was not moved away. */
export function whereMoved(value: string | null): string | null {
  return value?.startsWith(MOVED) === true ? value.slice(MOVED.length) : null;
}

interface MovedOptions {
  /** Of this server. */
  readonly home: string;
  /** Whether its files have the state, however its settings name another place: else a move there was cut off before it was in force. */
  readonly hasState: () => Promise<boolean>;
}

/** To be called by who has the lease of a control. Throws PlatformError `unavailable`. */
export async function demandNotMoved(
  store: Pick<Store, 'setting' | 'transact'>,
  { home, hasState }: MovedOptions,
): Promise<void> {
  const value = (await store.setting(STATE_MOVE)) ?? '';
  if (value === '') return;
  const other = whereMoved(value);
  if (other !== null && (other !== home || (await hasState()))) {
    const hint =
      other === home
        ? 'Remove TANCHO_DATABASE_URL, and database.url from config.yaml.'
        : 'Start the server there, or move it back from there: tancho migrate --to postgres://...';
    throw new PlatformError('unavailable', `The state in this database was moved to the files of ${other}.`, { hint });
  }
  await store.transact((tx) => tx.setSetting(STATE_MOVE, ''));
}
