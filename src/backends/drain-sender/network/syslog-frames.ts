/** Pure: RFC 5424 messages in the octet-counted frames of RFC 6587 and RFC 5425. */
import type { LogEntry } from '../../../domain/logs/entry.ts';

/** Facility "user", severity "informational": what a line means nobody knows. */
const PRIORITY = 1 * 8 + 6;

/** APP-NAME is the app, PROCID the unit, MSGID the source. */
export function syslogFrames(entries: readonly LogEntry[], host: string): Buffer {
  const frames = entries.map(({ at, app, unit, source, message }) => {
    const head = [`<${PRIORITY}>1`, at, field(host, 255), field(app, 48), field(unit, 128), field(source, 32), '-'];
    const body = Buffer.from(`${head.join(' ')} ${message}`);
    return Buffer.concat([Buffer.from(`${body.length} `), body]);
  });
  return Buffer.concat(frames);
}

function field(text: string, longest: number): string {
  const printable = text.replace(/[^\x21-\x7e]/g, '_').slice(0, longest);
  return printable === '' ? '-' : printable;
}
