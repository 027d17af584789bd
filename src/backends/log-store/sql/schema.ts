/** The tables as the newest migration leaves them. */
import type { Kysely } from 'kysely';
import type { DatabaseKind } from '../../../sql/database.ts';

export interface LogTables {
  /** Those of one app lie one behind the other: no seq of one is within another. */
  log_blocks: {
    app: string;
    first_seq: number;
    last_seq: number;
    /** The earliest and the latest, ISO 8601 UTC. */
    first_at: string;
    last_at: string;
    entries: number;
    /** Of the messages and their newlines; of what was stored by versions before, of the messages only. */
    bytes: number;
    /** What it takes: packed and filter. */
    stored: number;
    /** 0: as it was appended, to be made one with those around it. */
    is_sealed: number;
    /** JSON, `Stream[]`. */
    streams: string;
    /** Empty: there is none. */
    filter: Uint8Array;
    packed: Uint8Array;
  };
  /**
   * How much each app has, so that nothing need be counted. `open_`: of that, in blocks that are not sealed. `removed_`: what
   * retention has removed, and its last entry.
   */
  log_apps: {
    app: string;
    entries: number;
    bytes: number;
    stored: number;
    open_blocks: number;
    open_bytes: number;
    removed_entries: number;
    removed_seq: number;
    removed_at: string;
  };
  /** `app` '': of all. Times ISO 8601 UTC, '' for never. */
  log_drains: {
    id: string;
    app: string;
    seq: number;
    last_success_at: string;
    last_error_at: string;
    last_error: string;
    failures: number;
    lost: number;
    untold: number;
  };
  metrics: { app: string; step_ms: number; start_ms: number; packed: Uint8Array };
  log_cursors: { unit_id: string; output_cursor: string };
  /** One row. Whoever changes blocks holds it, so that a later seq is never visible before an earlier one. */
  log_counter: { last_seq: number };
}

export interface LogScope {
  readonly db: Kysely<LogTables>;
  readonly kind: DatabaseKind;
}
