import { Type } from '../schema.ts';
import type { LogEntry } from '../../domain/logs/entry.ts';
import { shape } from './shape.ts';

const schema = Type.Array(
  Type.Object({
    Date: Type.String(),
    Message: Type.String(),
    Source: Type.String(),
    AppName: Type.String(),
    Unit: Type.String(),
  }),
);

/** `Unit` is the published unit name: the only identity of a unit that every variant shows. */
export const logEntries = shape(schema, (entries: readonly LogEntry[]) =>
  entries.map((entry) => ({
    Date: entry.at,
    Message: entry.message,
    Source: entry.source,
    AppName: entry.app,
    Unit: entry.unit,
  })),
);
