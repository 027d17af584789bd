/** What a thread is asked and what it answers; both go from thread to thread. */
import type { LogEntry, LogFilter } from '../../../../domain/logs/entry.ts';
import type { Span } from '../selection.ts';

export interface SearchJob {
  readonly filter: LogFilter;
  /** Nothing is to be tried that can take for ever. */
  readonly isSafe: boolean;
  readonly span: Span;
  readonly blocks: readonly { readonly streams: string; readonly packed: Uint8Array<ArrayBuffer> }[];
}

/** Of each block what is wanted of it. */
export type SearchResult = { readonly entries: readonly (readonly LogEntry[])[] } | { readonly error: string };
