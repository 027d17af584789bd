import type { Field } from './fields.ts';
import { listOf, parseFields } from './fields.ts';
import { Framing, UNTIL_CLOSE } from './framing.ts';
import { Refusal } from './refusal.ts';

export interface ResponseHead {
  /** The head as received; the offsets of `fields` point into it. */
  readonly text: string;
  readonly fields: readonly Field[];
  readonly status: number;
  /** What follows the version, as sent: `200 OK`. */
  readonly statusText: string;
  /** Bytes, CHUNKED or UNTIL_CLOSE; 0 when the kind of response has no body. */
  readonly bodyLength: number;
  readonly keepAlive: boolean;
  readonly connection: readonly string[];
  /** Seconds of the Keep-Alive field's `timeout`, or null. */
  readonly keepAliveSeconds: number | null;
}

const STATUS_LINE = /^HTTP\/1\.([01]) ([1-5][0-9][0-9])( [\t\x20-\x7e\x80-\xff]*)?$/;
const KEEP_ALIVE_TIMEOUT = /(?:^|[,\s])timeout=([0-9]{1,6})/i;
const NO_NAMES: readonly string[] = [];

/** Reads a head found by HeadReader. `method` is the request's: an answer to HEAD has no body. */
export function parseResponseHead(text: string, method: string): ResponseHead | Refusal {
  const lineEnd = text.indexOf('\r\n');
  const match = STATUS_LINE.exec(text.slice(0, lineEnd));
  if (match === null) return new Refusal(502, 'The status line is malformed.');
  const minorVersion = match[1] === '1' ? 1 : 0;
  const status = Number(match[2]);
  const fields = parseFields(text, lineEnd + 2);
  if (fields instanceof Refusal) return new Refusal(502, fields.reason);

  const framing = new Framing();
  let connection = NO_NAMES;
  let keepAliveSeconds: number | null = null;
  for (const field of fields) {
    const { name, value } = field;
    if (name === 'content-length') framing.contentLength(text, field);
    else if (name === 'transfer-encoding') framing.transferEncoding(text, field, minorVersion);
    else if (name === 'connection')
      connection = connection.length === 0 ? listOf(value) : [...connection, ...listOf(value)];
    else if (name === 'keep-alive') {
      const timeout = KEEP_ALIVE_TIMEOUT.exec(value);
      if (timeout !== null) keepAliveSeconds = Number(timeout[1]);
    }
  }
  const bodiless = method === 'HEAD' || status < 200 || status === 204 || status === 304;
  if (framing.refusal !== null) return new Refusal(502, framing.refusal.reason);
  const bodyLength = bodiless ? 0 : (framing.length ?? UNTIL_CLOSE);
  return {
    text,
    fields,
    status,
    statusText: text.slice('HTTP/1.1 '.length, lineEnd),
    bodyLength,
    keepAlive:
      bodyLength !== UNTIL_CLOSE &&
      !connection.includes('close') &&
      (minorVersion === 1 || connection.includes('keep-alive')),
    connection,
    keepAliveSeconds,
  };
}
