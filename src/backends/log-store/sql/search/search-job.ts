/** What a thread is asked and what it answers; both go from thread to thread. */
import type { LogFilter } from '../../../../domain/logs/entry.ts';
import type { Selected, Span } from '../selection.ts';

export interface SearchJob {
  readonly filter: LogFilter;
  /** Nothing is to be tried that can take for ever. */
  readonly isSafe: boolean;
  /** Took more memory than a thread usually has. */
  readonly isLarge: boolean;
  readonly span: Span;
  readonly blocks: readonly { readonly streams: string; readonly packed: Uint8Array<ArrayBuffer> }[];
}

/** Of each block what is wanted of it; of none behind one that it has stopped in, so that others have their turns. */
export type SearchResult = { readonly found: readonly Selected[] } | { readonly error: string };
