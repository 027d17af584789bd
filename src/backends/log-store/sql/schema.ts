/** The tables as the newest migration leaves them. */
import type { Kysely } from 'kysely';
import type { DatabaseKind } from '../../../sql/database.ts';

export interface LogTables {
  log_entries: {
    app: string;
    seq: number;
    at: string;
    source: string;
    unit: string;
    unit_id: string;
    release: number;
    message: string;
  };
  /** How much each app has, so that pruning need not count. `bytes` are those of the messages. */
  log_apps: { app: string; entries: number; bytes: number };
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
  log_offsets: { unit_id: string; position: number };
  /** One row. Whoever changes entries holds it, so that a later seq is never visible before an earlier one. */
  log_counter: { last_seq: number };
}

export interface LogScope {
  readonly db: Kysely<LogTables>;
  readonly kind: DatabaseKind;
}
