import type { LogEntry, LogFilter } from '../../../domain/logs/entry.ts';
import type { LogScope } from './schema.ts';

/** Walks the app's entries from the newest back, in the order of the primary key; oldest first in the answer. */
export async function query({ db }: LogScope, filter: LogFilter): Promise<LogEntry[]> {
  const { app, lines, source, unit, afterSeq } = filter;
  let wanted = db
    .selectFrom('log_entries')
    .select(['seq', 'at', 'app', 'source', 'unit', 'unit_id as unitId', 'release', 'message'])
    .where('app', '=', app)
    .orderBy('seq', 'desc');
  if (lines > 0) wanted = wanted.limit(lines);
  if (source !== undefined) wanted = wanted.where('source', '=', source);
  if (unit !== undefined) {
    wanted = wanted.where((row) => row.or([row('unit', '=', unit), row('unit_id', '=', unit)]));
  }
  if (afterSeq !== undefined) wanted = wanted.where('seq', '>', afterSeq);
  return (await wanted.execute()).reverse();
}
