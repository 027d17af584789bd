/** One line of an app's log (specification section 2, Log entry). */
export interface LogEntry {
  /** Grows with every entry of the store; the cursor of followers. 0 before it is stored. */
  readonly seq: number;
  /** ISO 8601 UTC with milliseconds. */
  readonly at: string;
  readonly app: string;
  /**
   * The process name for output of units, `tancho` for the platform's own messages, `hook` for what hooks print; what programs hand in
   * has `app` or a name of theirs.
   */
  readonly source: string;
  /** Published unit name `<app>/<index>`; `api` for the platform's own. */
  readonly unit: string;
  /** The unit's id; '' for the platform's own. */
  readonly unitId: string;
  /** The release the unit ran; 0 for none. */
  readonly release: number;
  readonly message: string;
}

export interface LogFilter {
  readonly app: string;
  /** The last N entries that match; 0 for all that are kept. */
  readonly lines: number;
  readonly source?: string;
  /** Unit name, or the unit's id or its beginning. */
  readonly unit?: string;
  /** Only what units of this process printed. */
  readonly process?: string;
  /** ISO 8601 UTC with milliseconds: only entries from then on. */
  readonly since?: string;
  /** Only entries before then. */
  readonly until?: string;
  /** Only what units of these releases printed. */
  readonly releases?: readonly number[];
  /** In lower case: only entries with this text in their message, in whatever case. */
  readonly contains?: string;
  /** Only entries with a message that this regular expression of RE2 matches somewhere; it must be a valid one. */
  readonly pattern?: string;
  /** Who looks for it: searches of different ones take turns. Absent: the app. */
  readonly by?: string;
  /** Only entries after this seq. */
  readonly afterSeq?: number;
  /** Only entries before this seq. */
  readonly beforeSeq?: number;
  /** Ends with the message that makes so many bytes full; absent: no bound. */
  readonly mostBytes?: number;
  /** `lines` counts from the oldest that match, not from the newest. */
  readonly oldestFirst?: boolean;
}

/** Longest message kept, in bytes of UTF-8; the rest of the line becomes further entries. */
export const MAX_MESSAGE_BYTES = 16_384;
