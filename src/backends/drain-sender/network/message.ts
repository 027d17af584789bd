/** Pure: lines as the formats of HTTP receivers want them. */
import type { DrainFormat } from '../../../domain/drains/drain.ts';
import { cursorOf } from '../../../domain/logs/cursor.ts';
import type { LogEntry } from '../../../domain/logs/entry.ts';

export interface Message {
  readonly type: string;
  readonly body: string;
}

const NS_PER_MS = 1_000_000n;

export const MESSAGES: Readonly<Record<Exclude<DrainFormat, 'syslog'>, (entries: readonly LogEntry[]) => Message>> = {
  ndjson: (entries) => ({
    type: 'application/x-ndjson',
    body: entries.map((entry) => `${JSON.stringify(plain(entry))}\n`).join(''),
  }),
  otlp: (entries) => ({ type: 'application/json', body: JSON.stringify(otlp(entries)) }),
  loki: (entries) => ({ type: 'application/json', body: JSON.stringify(loki(entries)) }),
};

/** `cursor` is the same whenever a line is sent again, so receivers recognize it. */
function plain({ at, app, source, unit, unitId, release, message, seq }: LogEntry) {
  return { time: at, app, source, unit, unit_id: unitId, release, message, cursor: cursorOf(seq) };
}

/** https://opentelemetry.io/docs/specs/otlp/ with JSON: one resource per unit. */
function otlp(entries: readonly LogEntry[]) {
  const text = (key: string, value: string) => ({ key, value: { stringValue: value } });
  const resourceLogs = streams(entries).map(([{ app, source, unit, unitId, release }, lines]) => ({
    resource: {
      attributes: [
        text('service.name', app),
        text('service.version', release === 0 ? '' : `v${release}`),
        text('service.instance.id', unitId === '' ? unit : unitId),
        text('tancho.unit', unit),
        text('tancho.source', source),
      ].filter(({ value }) => value.stringValue !== ''),
    },
    scopeLogs: [
      {
        scope: { name: 'tancho' },
        logRecords: lines.map((entry) => ({
          timeUnixNano: nanoseconds(entry).toString(),
          observedTimeUnixNano: nanoseconds(entry).toString(),
          body: { stringValue: entry.message },
          attributes: [text('tancho.cursor', cursorOf(entry.seq))],
        })),
      },
    ],
  }));
  return { resourceLogs };
}

/**
 * Loki takes equal lines of one stream with equal times for one: the nanoseconds below the millisecond distinguish them, the same
 * ones whenever a line is sent again.
 */
function loki(entries: readonly LogEntry[]) {
  return {
    streams: streams(entries).map(([{ app, source, unit }, lines]) => ({
      stream: { app, source, unit },
      values: lines.map((entry) => [(nanoseconds(entry) + (BigInt(entry.seq) % NS_PER_MS)).toString(), entry.message]),
    })),
  };
}

function streams(entries: readonly LogEntry[]): [LogEntry, LogEntry[]][] {
  const key = ({ app, source, unit, unitId, release }: LogEntry): string =>
    JSON.stringify([app, source, unit, unitId, release]);
  const groups = [...Map.groupBy(entries, key).values()];
  return groups.flatMap((group) => (group[0] === undefined ? [] : [[group[0], group] as [LogEntry, LogEntry[]]]));
}

function nanoseconds({ at }: LogEntry): bigint {
  return BigInt(Date.parse(at)) * NS_PER_MS;
}
