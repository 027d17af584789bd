/** Use cases of logs (specification 4.1, log): the platform's own messages go in here, everything comes out here. */
import type { Caller } from '../caller.ts';
import type { LogEntry } from './entry.ts';

export interface LogQuery {
  /** Required, a whole number >= 0; errors: log.lines_required, input.invalid. */
  readonly lines: unknown;
  readonly source?: string;
  readonly unit?: string;
}

export interface Logs {
  /** Oldest first. */
  query(caller: Caller, app: string, query: LogQuery): Promise<LogEntry[]>;
  /** First what query() gives, then every new entry in batches, until the signal fires. */
  follow(caller: Caller, app: string, query: LogQuery, signal: AbortSignal): Promise<AsyncIterable<LogEntry[]>>;
}
