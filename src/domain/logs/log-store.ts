/**
 * Contract: keeps log entries, bounded per app. Implementations live in backends/log-store/<name> and pass
 * backends/log-store/conformance.ts.
 */
import type { DrainCursors } from './drain-cursors.ts';
import type { LogEntry, LogFilter } from './entry.ts';

export interface LogBounds {
  /** Entries kept per app; the oldest go first. */
  readonly entriesPerApp: number;
  readonly bytesPerApp: number;
}

/** How far a unit's output is stored; kept in the same transaction as the entries, so nothing is lost or doubled. */
export interface OutputOffset {
  readonly unitId: string;
  readonly offset: number;
}

export interface LogStore extends DrainCursors {
  readonly name: string;
  /** Stores entries in order, gives each its seq, and the offset with them, all or nothing. Resolves when a crash of control loses none. */
  append(entries: readonly LogEntry[], offset?: OutputOffset): Promise<LogEntry[]>;
  /** Oldest first. */
  query(filter: LogFilter): Promise<LogEntry[]>;
  /** The stored offset of a unit's output; 0 when unknown. */
  offset(unitId: string): Promise<number>;
  forgetUnit(unitId: string): Promise<void>;
  /** Removes every entry of an app. */
  removeApp(app: string): Promise<void>;
  /** Enforces the bounds; called now and then. What a drain has not sent yet counts as lost for it. Returns the number of entries removed. */
  prune(bounds: LogBounds): Promise<number>;
  close(): Promise<void>;
}
