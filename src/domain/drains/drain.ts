/** A drain: what an app logs, or what all apps log, is sent on to a receiver elsewhere. Rules only: no storage, no effects. */
import { PlatformError } from '../errors.ts';

const DRAIN_FORMATS = ['syslog', 'ndjson', 'otlp', 'loki'] as const;
export type DrainFormat = (typeof DRAIN_FORMATS)[number];

/** Where lines go. Secret as a whole: tokens stand in headers, paths and queries. */
export interface DrainTarget {
  readonly format: DrainFormat;
  /** `syslog://`, `syslog+tls://` with host and port, or `http://`, `https://`. */
  readonly url: string;
  /** By name, in lower case; of HTTP only. */
  readonly headers: Readonly<Record<string, string>>;
}

export interface Drain {
  readonly id: string;
  /** '': the lines of all apps. */
  readonly app: string;
  readonly target: DrainTarget;
  readonly by: string;
  /** ISO 8601 UTC. */
  readonly createdAt: string;
}

export interface TargetInput {
  readonly url: string;
  /** '': what the URL says. */
  readonly format: string;
  /** By name. */
  readonly headers: Readonly<Record<string, unknown>>;
}

/** Of one app, and of the platform. */
export const MAX_DRAINS = 5;
const MAX_URL = 2_048;
const MAX_HEADERS = 10;
const MAX_HEADER_BYTES = 4_096;
const DEFAULT_PORTS: Readonly<Record<string, string>> = { 'syslog:': '514', 'syslog+tls:': '6514' };
const HEADER_NAME = /^[a-z0-9!#$%&'*+.^_`|~-]{1,100}$/;
const HEADER_VALUE = /^[\x20-\x7e]*$/;
/** Those of the message itself, which are the sender's to say. */
const OWN_HEADERS = new Set([
  ...['connection', 'content-encoding', 'content-length', 'content-type', 'expect', 'host', 'keep-alive'],
  ...['te', 'trailer', 'transfer-encoding', 'upgrade', 'user-agent'],
]);

/** Throws `drain.invalid`. */
export function checkTarget(input: TargetInput): DrainTarget {
  const url = checkUrl(input.url);
  const isSyslog = url.protocol in DEFAULT_PORTS;
  const format = input.format === '' ? (isSyslog ? 'syslog' : 'ndjson') : formatOf(input.format);
  if ((format === 'syslog') !== isSyslog) {
    throw invalid(
      `The format ${format} does not go with ${url.protocol}//.`,
      'Syslog goes to syslog:// or syslog+tls://, everything else to https:// or http://.',
    );
  }
  const headers = checkHeaders(input.headers);
  if (isSyslog && Object.keys(headers).length > 0) {
    throw invalid('Syslog has no headers.', 'Leave them out, or send to https://.');
  }
  return { format, url: url.href, headers };
}

/** What may be shown of where it goes: everything after the host may be a secret. */
export function shownReceiver({ url }: Pick<DrainTarget, 'url'>): string {
  const { protocol, host, pathname, search } = new URL(url);
  return `${protocol}//${host}${pathname.length > 1 || search !== '' ? '/…' : ''}`;
}

/** Two targets that are equal in this are the same receiver, who may see the headers that were given for it. */
export function receiverOf({ url }: DrainTarget): string {
  const { protocol, host } = new URL(url);
  return `${protocol}//${host}`;
}

export function drainNotFound(id: string): PlatformError {
  return new PlatformError('drain.not_found', `There is no drain ${id.slice(0, 40)}.`, {
    hint: 'To see those there are: tancho drain list',
  });
}

function checkUrl(text: string): URL {
  const url = text.length <= MAX_URL && URL.canParse(text) ? new URL(text) : null;
  const isHttp = url?.protocol === 'http:' || url?.protocol === 'https:';
  const port = url === null ? undefined : DEFAULT_PORTS[url.protocol];
  if (url === null || (!isHttp && port === undefined)) {
    throw invalid(
      'That is no address that lines can be sent to.',
      'Give for example syslog+tls://logs.example.com:6514, or https://logs.example.com/ingest.',
    );
  }
  if (url.username !== '' || url.password !== '' || url.hash !== '') {
    throw invalid(
      'The address has a user, a password or a fragment.',
      'Give credentials as a header: Authorization: Basic ..., or Bearer ....',
    );
  }
  if (isHttp) return url;
  if (url.hostname === '' || url.pathname.length > 1 || url.search !== '') {
    throw invalid('A syslog address is a host and a port.', 'Give for example syslog+tls://logs.example.com:6514.');
  }
  // The parser reads the many forms of an IP address only below schemes that it knows.
  const place = `http://${url.hostname}:${url.port === '' ? port : url.port}`;
  if (!URL.canParse(place)) throw invalid('The host of the address is no host.', 'Give a host name or an IP address.');
  const { hostname, port: given } = new URL(place);
  return new URL(`${url.protocol}//${hostname}:${given === '' ? '80' : given}`);
}

function formatOf(text: string): DrainFormat {
  const format = DRAIN_FORMATS.find((known) => known === text);
  if (format !== undefined) return format;
  throw invalid(
    `${JSON.stringify(text.slice(0, 40))} is no format of a drain.`,
    `There are ${DRAIN_FORMATS.join(', ')}.`,
  );
}

function checkHeaders(given: TargetInput['headers']): Readonly<Record<string, string>> {
  const headers = Object.entries(given);
  if (headers.length > MAX_HEADERS) throw invalid(`There are at most ${MAX_HEADERS} headers.`, 'Leave some out.');
  return Object.fromEntries(
    headers.map(([given, value]) => {
      const name = given.toLowerCase();
      if (!HEADER_NAME.test(name)) throw invalid('That is no name of a header.', 'It has letters, digits and dashes.');
      if (OWN_HEADERS.has(name)) throw invalid(`The header ${name} is set by the platform.`, 'Leave it out.');
      if (typeof value === 'string' && value.length <= MAX_HEADER_BYTES && HEADER_VALUE.test(value))
        return [name, value];
      throw invalid(
        `The value of the header ${name} cannot be sent.`,
        `It is a text of at most ${MAX_HEADER_BYTES} printable ASCII characters.`,
      );
    }),
  );
}

function invalid(message: string, hint: string): PlatformError {
  return new PlatformError('drain.invalid', message, { hint });
}
