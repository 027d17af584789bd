/**
 * Contract: keeps log entries, bounded per app and in all. Implementations live in backends/log-store/<name> and pass
 * backends/log-store/conformance.ts.
 */
import type { DrainCursors } from './drain-cursors.ts';
import type { KeptMetrics } from '../metrics/kept-metrics.ts';
import type { LogEntry, LogFilter } from './entry.ts';

export interface LogBounds {
  /** Entries kept per app; the oldest go first. */
  readonly entriesPerApp: number;
  /** Of their messages. */
  readonly bytesPerApp: number;
  /** ISO 8601 UTC with milliseconds: what is older goes, as soon as all that lies in one block with it is older, too. */
  readonly keptSince: string;
  /** What the entries of all apps together take where they are kept; over it the app with the most loses its oldest. */
  readonly storedBytes: number;
  /** So much of that is to be given back besides, because the disk is short; a little is kept in any case. */
  readonly giveBackBytes: number;
}

/** What retention took away, of one app. */
export interface RemovedEntries {
  readonly entries: number;
  /** Of the newest of them. */
  readonly seq: number;
  readonly at: string;
}

/** How far a unit's output is stored; kept in the same transaction as the entries, so nothing is lost or doubled. */
export interface OutputCursor {
  readonly unitId: string;
  /** Of the engine that the output comes from. */
  readonly cursor: string;
  /** What was stored when it was read, null for nothing. Absent: whatever is. */
  readonly after?: string | null;
}

export interface Searched {
  readonly entries: LogEntry[];
  /** The seq of the last entry it has looked at, because its time was over; null: it has looked at all, or found enough. */
  readonly stoppedAt: number | null;
}

export interface LogStore extends DrainCursors, KeptMetrics {
  readonly name: string;
  /**
   * Stores entries in order, gives each its seq, and the cursor with them, all or nothing. Resolves when a crash of control loses none.
   * Throws PlatformError `app.busy` when somebody else has stored output of the unit since it was read.
   */
  append(entries: readonly LogEntry[], read?: OutputCursor): Promise<LogEntry[]>;
  /** Oldest first. */
  query(filter: LogFilter): Promise<LogEntry[]>;
  /** As query(), but begins to look at no more once so much time has passed; it has looked at something in any case. */
  search(filter: LogFilter, forMs: number): Promise<Searched>;
  /** Up to where a unit's output is stored; null: nothing of it. */
  cursor(unitId: string): Promise<string | null>;
  forgetUnit(unitId: string): Promise<void>;
  /** What prune() has removed of an app since removeApp(); null: nothing. */
  removed(app: string): Promise<RemovedEntries | null>;
  /** Removes every entry of an app, and that some were removed before. */
  removeApp(app: string): Promise<void>;
  /** Enforces the bounds; called now and then. What a drain has not sent yet counts as lost for it. Returns the number of entries removed. */
  prune(bounds: LogBounds): Promise<number>;
  close(): Promise<void>;
}
