/** What retention has removed, said where a reader reaches it: an entry in the place of the newest that is gone. */
import type { LogEntry, LogFilter } from './entry.ts';
import type { LogStore, RemovedEntries } from './log-store.ts';

/** Null: nothing was removed there, or the reader asks for entries of another source, unit or time only. */
export async function removedMark(
  logStore: Pick<LogStore, 'removed'>,
  { app, source, unit, since, until, afterSeq = 0, beforeSeq = Infinity }: LogFilter,
): Promise<LogEntry | null> {
  if (source !== undefined || unit !== undefined) return null;
  const removed = await logStore.removed(app);
  if (removed === null || removed.seq <= afterSeq || removed.seq >= beforeSeq) return null;
  if ((since !== undefined && removed.at < since) || (until !== undefined && removed.at >= until)) return null;
  return mark(app, removed);
}

function mark(app: string, { entries, seq, at }: RemovedEntries): LogEntry {
  const lines = entries === 1 ? '1 line was' : `${entries} lines were`;
  const message = `${lines} removed up to here: the log had come to the bounds of what is kept.`;
  return { seq, at, app, source: 'tancho', unit: 'api', unitId: '', release: 0, message };
}
