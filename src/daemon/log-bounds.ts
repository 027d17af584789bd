import type { Config } from '../config/config.ts';
import type { LogBounds } from '../domain/logs/log-store.ts';

const DAY_MS = 86_400_000;

export function logBounds(
  config: Pick<Config, 'logBytes' | 'logBytesPerApp' | 'logDays' | 'logEntriesPerApp'>,
  now: Date,
  giveBackBytes: number,
): LogBounds {
  const { logEntriesPerApp: entries, logBytesPerApp: bytesPerApp, logBytes: storedBytes, logDays: days } = config;
  return {
    entriesPerApp: entries === 0 ? Number.MAX_SAFE_INTEGER : entries,
    bytesPerApp,
    storedBytes,
    giveBackBytes,
    keptSince: new Date(Math.max(0, now.getTime() - days * DAY_MS)).toISOString(),
  };
}
