/** Where a search has stopped, said where a reader reaches it, with how to go on from there. */
import { cursorOf } from './cursor.ts';
import type { LogEntry, LogFilter } from './entry.ts';

export function stopMark({ app, oldestFirst }: LogFilter, seq: number, now = new Date()): LogEntry {
  const isForward = oldestFirst === true;
  const cursor = cursorOf(seq);
  const [rest, how] = isForward ? ['later', `after=${cursor}`] : ['earlier', `before=${cursor}`];
  const message = `The search has stopped here, for it takes long: ${rest} lines were not looked at. Go on with ${how}.`;
  return { seq, at: now.toISOString(), app, source: 'tancho', unit: 'api', unitId: '', release: 0, message };
}
