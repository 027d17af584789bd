import type { LogEntry } from '../../../domain/logs/entry.ts';
import type { LogBounds, LogStore } from '../../../domain/logs/log-store.ts';

export interface LogStoreUnderTest {
  readonly store: LogStore;
  /** Another log store on the same data, as a second control process or one after a restart would have. */
  again(): Promise<LogStore>;
  /** Closes every store that was handed out. */
  dispose(): Promise<void>;
}

/** By title. */
export type LogStoreCases = Readonly<Record<string, (store: LogStore, under: LogStoreUnderTest) => Promise<void>>>;

export function entry(message: string, more: Partial<LogEntry> = {}): LogEntry {
  return {
    seq: 0,
    at: '2026-03-04T05:06:07.089Z',
    app: 'shop',
    source: 'web',
    unit: 'shop/0',
    unitId: 'aaaaaaaaaaaa',
    release: 3,
    message,
    ...more,
  };
}

export function entries(count: number, more: Partial<LogEntry> = {}): LogEntry[] {
  return Array.from({ length: count }, (_, number) => entry(`line ${number}`, more));
}

export async function messages(store: LogStore, app = 'shop'): Promise<string[]> {
  return (await store.query({ app, lines: 0 })).map(({ message }) => message);
}

/** With no other bound. */
export function bounds(some: Partial<LogBounds>): LogBounds {
  const most = Number.MAX_SAFE_INTEGER;
  return { entriesPerApp: most, bytesPerApp: most, storedBytes: most, keptSince: '', giveBackBytes: 0, ...some };
}
