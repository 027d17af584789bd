/** Pure: whether an entry is one that is asked for. */
import type { LogEntry, LogFilter } from './entry.ts';

/** What entries of one origin have in common. */
export type LogOrigin = Pick<LogEntry, 'source' | 'unit' | 'unitId' | 'release'>;

/** Of the id of a unit, or the whole of it. */
const ID_START = /^[0-9a-f]{1,64}$/;

export function isWantedOrigin(filter: LogFilter): (origin: LogOrigin) => boolean {
  const { source: wanted, unit: name, process, releases } = filter;
  const isIdStart = name !== undefined && ID_START.test(name);
  return ({ source, unit, unitId, release }) => {
    if (wanted !== undefined && source !== wanted) return false;
    if (name !== undefined && unit !== name && !(isIdStart && unitId.startsWith(name))) return false;
    // Other entries can have the name of a process as their source.
    if (process !== undefined && (source !== process || unitId === '')) return false;
    return releases === undefined || releases.includes(release);
  };
}

/** What a reader wants of what comes. */
export interface LogSelection {
  /** The same for all who want the same. */
  readonly key: string;
  /** Null: every entry is wanted. */
  readonly isOne: ((entry: LogEntry) => boolean) | null;
}

/** By everything but a pattern, which takes longer. */
export function wantedBy(filter: LogFilter): LogSelection {
  const { source, unit, process, releases, since, contains } = filter;
  const asked = [source, unit, process, releases, since, contains];
  if (asked.every((one) => one === undefined)) return { key: '', isOne: null };
  const isOf = isWantedOrigin(filter);
  const isOne = (entry: LogEntry): boolean =>
    isOf(entry) &&
    (since === undefined || entry.at >= since) &&
    (contains === undefined || entry.message.toLowerCase().includes(contains));
  return { key: JSON.stringify(asked), isOne };
}
