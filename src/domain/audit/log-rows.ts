/** What the rows of the audit log say of an event: one when it begins, one when it ends, or one for both. Pure. */
import type { PlatformEvent } from './events.ts';

export type Phase = 'begin' | 'end' | 'whole';

/** An event of which the log does not say all that there is. */
export interface Unlogged {
  readonly event: PlatformEvent;
  readonly phase: Phase;
}

export interface NewLogRow {
  readonly index: number;
  readonly event: string;
  readonly phase: Phase;
  /** Hexadecimal. */
  readonly salt: string;
  /** Base64. */
  readonly leaf: string;
}

/** As it is read: with what it says, made from the event as that is now; null where there is none any more. */
export interface ReadLogRow extends Omit<NewLogRow, 'event'> {
  readonly content: string | null;
}

export interface LogCheckpoint {
  readonly size: number;
  readonly note: string;
}

interface LogHead extends LogCheckpoint {
  /** Hashes in base64. */
  readonly frontier: readonly string[];
}

/** Whose checkpoints these are; the key is PEM. */
export interface LogKey {
  readonly origin: string;
  readonly privateKey: string;
}

/** Rows whose content was forgotten: all before one, and some after it. */
export interface Forgotten {
  readonly events: number;
  readonly rows: readonly number[];
}

export interface AuditLogReader {
  /** From this index on. */
  auditRows(from: number, limit: number): Promise<ReadLogRow[]>;
  /** Of more than `from` rows and at most `to`, in order. */
  auditCheckpoints(from: number, to: number): Promise<LogCheckpoint[]>;
  /** The newest; null: nothing was logged yet. */
  auditHead(): Promise<LogHead | null>;
  auditKey(): Promise<LogKey | null>;
  /** Oldest first. */
  unloggedEvents(limit: number): Promise<Unlogged[]>;
  /** The first row whose content is there; null: none is. */
  firstKeptAuditRow(): Promise<number | null>;
}

export interface AuditLogWriter {
  /** Once; it never changes. */
  insertAuditKey(key: LogKey): Promise<void>;
  /** With the mark at their events. */
  appendAuditRows(rows: readonly NewLogRow[]): Promise<void>;
  putAuditHead(head: LogHead): Promise<void>;
  /** Those of at most so many rows, but for the largest of them. */
  deleteAuditCheckpoints(size: number): Promise<void>;
}

/** The text whose hash is the leaf: the same for ever, so fields are added at the end of a phase's list, and left out while they are empty. */
export function contentOf(phase: Phase, event: PlatformEvent): string {
  const { id, at, actor, token, address, action, target, detail, isRefusal } = event;
  const { endedAt: ended_at, error, deploy, changes } = event;
  const begin = { at, actor, address, action, target, detail, refused: isRefusal, ...(token !== '' && { token }) };
  const end = { ended_at, error, ...(deploy !== '' && { deploy }), ...(changes.length > 0 && { changes }) };
  return JSON.stringify({ phase, id, ...(phase !== 'end' && begin), ...(phase !== 'begin' && end) });
}

export const FORGET = 'event.forget';

/** `before 120; 125 127-130` as the detail of an event. */
export function forgetDetail(before: number, rows: readonly number[]): string {
  const parts: string[] = [];
  const after = rows.filter((row) => row >= before).sort((one, other) => one - other);
  for (let at = 0; at < after.length;) {
    const first = after[at] ?? 0;
    let last = first;
    while (after[at + 1] === last + 1) {
      last += 1;
      at += 1;
    }
    at += 1;
    parts.push(first === last ? String(first) : `${first}-${last}`);
  }
  return parts.length === 0 ? `before ${before}` : `before ${before}; ${parts.join(' ')}`;
}
