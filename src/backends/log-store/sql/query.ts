import type { LogEntry, LogFilter } from '../../../domain/logs/entry.ts';
import type { LogScope } from './schema.ts';

export const ENTRY_COLUMNS = ['seq', 'at', 'app', 'source', 'unit', 'unit_id as unitId', 'release', 'message'] as const;

/** Of the id of a unit, or the whole of it. */
const ID_START = /^[0-9a-f]{1,64}$/;

/** Walks the app's entries in the order of the primary key, from the newest back unless it is said; oldest first in the answer. */
export async function query({ db }: LogScope, filter: LogFilter): Promise<LogEntry[]> {
  const { app, lines, source, unit, process, since, until, releases, afterSeq, beforeSeq, oldestFirst } = filter;
  if (releases?.length === 0) return [];
  let wanted = db
    .selectFrom('log_entries')
    .select(ENTRY_COLUMNS)
    .where('app', '=', app)
    .orderBy('seq', oldestFirst === true ? 'asc' : 'desc');
  if (lines > 0) wanted = wanted.limit(lines);
  if (source !== undefined) wanted = wanted.where('source', '=', source);
  if (unit !== undefined) {
    const isId = ID_START.test(unit);
    wanted = wanted.where((row) =>
      row.or([row('unit', '=', unit), ...(isId ? [row('unit_id', 'like', `${unit}%`)] : [])]),
    );
  }
  // Other entries can have the name of a process as their source.
  if (process !== undefined) wanted = wanted.where('source', '=', process).where('unit_id', '<>', '');
  // Equally long texts in one time zone sort as the times do.
  if (since !== undefined) wanted = wanted.where('at', '>=', since);
  if (until !== undefined) wanted = wanted.where('at', '<', until);
  if (releases !== undefined) wanted = wanted.where('release', 'in', releases);
  if (afterSeq !== undefined) wanted = wanted.where('seq', '>', afterSeq);
  if (beforeSeq !== undefined) wanted = wanted.where('seq', '<', beforeSeq);
  const found = await wanted.execute();
  return oldestFirst === true ? found : found.reverse();
}
