import { Type } from '../schema.ts';
import { cursorOf } from '../../domain/logs/cursor.ts';
import type { LogEntry } from '../../domain/logs/entry.ts';
import { shape } from './shape.ts';

const fields = {
  Date: Type.String(),
  Message: Type.String(),
  Source: Type.String(),
  AppName: Type.String(),
  Unit: Type.String(),
};

/** `Unit` is the published unit name: the only identity of a unit that every variant shows. */
const published = (entry: LogEntry) => ({
  Date: entry.at,
  Message: entry.message,
  Source: entry.source,
  AppName: entry.app,
  Unit: entry.unit,
});

export const logEntries = shape(Type.Array(Type.Object(fields)), (entries: readonly LogEntry[]) =>
  entries.map(published),
);

/** With the cursor after which a reader goes on. */
export const logEntriesUnion = shape(
  Type.Array(Type.Object({ ...fields, Cursor: Type.String() })),
  (entries: readonly LogEntry[]) => entries.map((entry) => ({ ...published(entry), Cursor: cursorOf(entry.seq) })),
);
