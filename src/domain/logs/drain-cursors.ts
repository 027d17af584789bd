/** The part of the log store that remembers how far each drain has sent, beside the entries themselves. */
import type { LogEntry } from './entry.ts';

export interface DrainCursor {
  /** The receiver has everything up to this entry. */
  readonly seq: number;
  /** ISO 8601 UTC; '': never. */
  readonly lastSuccessAt: string;
  readonly lastErrorAt: string;
  /** In words, of the last attempt that failed; '': none did. */
  readonly lastError: string;
  /** Attempts that failed since the last that did not. */
  readonly failures: number;
  /** Entries that were removed before the receiver had them, or that it would not take; at most so many. */
  readonly lost: number;
  /** Of those, the ones that the receiver has not been notified of. */
  readonly unreported: number;
}

/** No more once there are so many entries, or so many bytes of messages. */
export interface EntryBounds {
  readonly lines: number;
  readonly bytes: number;
}

/** A drain that was not opened, or is forgotten: nothing to do, nothing there. */
export interface DrainCursors {
  /** Begins with what is stored from now on. Open already: nothing to do. `app` '': entries of all apps. */
  openDrain(id: string, app: string): Promise<void>;
  drainIds(): Promise<string[]>;
  drainCursor(id: string): Promise<DrainCursor | null>;
  /** How many entries the receiver does not have yet. */
  drainLag(id: string): Promise<number>;
  /** The oldest ones that it does not have, in the order of their seq. */
  drainEntries(id: string, bounds: EntryBounds): Promise<LogEntry[]>;
  /** The receiver has everything up to `seq`, and knows that `reported` are lost. Never moves back. */
  drainSent(id: string, sent: { readonly seq: number; readonly reported: number; readonly at: string }): Promise<void>;
  /** `skipTo`: the entry with this seq, the oldest, counts as lost. */
  drainFailed(
    id: string,
    failure: { readonly error: string; readonly at: string; readonly skipTo?: number },
  ): Promise<void>;
  forgetDrain(id: string): Promise<void>;
}
