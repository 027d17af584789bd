import type { Field } from './fields.ts';
import { listOf, parseFields } from './fields.ts';
import { Framing } from './framing.ts';
import type { Authority } from './host.ts';
import { parseAuthority } from './host.ts';
import { IS_TOKEN } from './octets.ts';
import { Refusal } from './refusal.ts';

export interface RequestHead {
  /** The head as received; the offsets of `fields` point into it. */
  readonly text: string;
  readonly fields: readonly Field[];
  readonly method: string;
  /** Origin form, or `*`. */
  readonly target: string;
  /** 1 for HTTP/1.1, 0 for HTTP/1.0. */
  readonly minorVersion: number;
  /** Host as sent, port included. */
  readonly authority: string;
  readonly host: Authority;
  readonly keepAlive: boolean;
  /** Bytes, or CHUNKED. */
  readonly bodyLength: number;
  readonly expectsContinue: boolean;
  /** The protocol asked for by Upgrade, when Connection names it too. */
  readonly upgrade: string | null;
  /** What Connection lists, lower case. */
  readonly connection: readonly string[];
  readonly requestId: string | null;
  readonly accept: string;
}

const TARGET = /^[\x21\x22\x24-\x7e\x80-\xff]+$/;
const ABSOLUTE = /^https?:\/\/([^/?]*)(.*)$/i;
const MAX_METHOD = 24;
const NO_NAMES: readonly string[] = [];

/** Mutable while the fields are read; becomes the RequestHead. */
interface Gathered {
  host: string | null;
  hosts: number;
  connection: readonly string[];
  upgrade: string | null;
  expect: string;
  requestId: string | null;
  accept: string;
  readonly framing: Framing;
}

/** Reads a head found by HeadReader (which has checked its bytes and line ends). */
export function parseRequestHead(text: string): RequestHead | Refusal {
  const lineEnd = text.indexOf('\r\n');
  const methodEnd = tokenEnd(text);
  const targetEnd = text.indexOf(' ', methodEnd + 1);
  if (methodEnd === 0 || methodEnd > MAX_METHOD || text[methodEnd] !== ' ' || targetEnd < 0 || targetEnd > lineEnd) {
    return new Refusal(400, 'The request line is malformed.');
  }
  const method = text.slice(0, methodEnd);
  const version = text.slice(targetEnd + 1, lineEnd);
  const minorVersion = version === 'HTTP/1.1' ? 1 : version === 'HTTP/1.0' ? 0 : -1;
  if (minorVersion < 0) return badVersion(version);
  if (method === 'CONNECT') return new Refusal(501, 'CONNECT is not for this kind of server.');

  const fields = parseFields(text, lineEnd + 2);
  if (fields instanceof Refusal) return fields;
  const gathered = gather(text, fields, minorVersion);
  const { framing, connection } = gathered;
  if (framing.refusal !== null) return framing.refusal;
  if (gathered.hosts > 1) return new Refusal(400, 'There is more than one Host.');
  const host = gathered.host === null ? null : parseAuthority(gathered.host);
  if (gathered.host === null || host === null) return new Refusal(400, 'The Host is missing or malformed.');
  const target = originForm(text.slice(methodEnd + 1, targetEnd), method, gathered.host);
  if (target === null) return new Refusal(400, 'The request target is malformed or names another host.');

  return {
    text,
    fields,
    method,
    target,
    minorVersion,
    authority: gathered.host,
    host,
    keepAlive: !connection.includes('close') && (minorVersion === 1 || connection.includes('keep-alive')),
    bodyLength: framing.length ?? 0,
    expectsContinue: minorVersion === 1 && gathered.expect.toLowerCase() === '100-continue',
    upgrade: minorVersion === 1 && connection.includes('upgrade') ? gathered.upgrade : null,
    connection,
    requestId: gathered.requestId,
    accept: gathered.accept,
  };
}

function tokenEnd(text: string): number {
  let at = 0;
  while (IS_TOKEN[text.charCodeAt(at)] === 1) at++;
  return at;
}

function badVersion(version: string): Refusal {
  return /^HTTP\/[0-9]\.[0-9]$/.test(version)
    ? new Refusal(505, 'Only HTTP/1.1 and HTTP/1.0 are spoken here.')
    : new Refusal(400, 'The request line is malformed.');
}

function gather(text: string, fields: readonly Field[], minorVersion: number): Gathered {
  const gathered: Gathered = {
    host: null,
    hosts: 0,
    connection: NO_NAMES,
    upgrade: null,
    expect: '',
    requestId: null,
    accept: '',
    framing: new Framing(),
  };
  for (const field of fields) {
    const { name, value } = field;
    switch (name) {
      case 'host':
        gathered.host = value;
        gathered.hosts++;
        break;
      case 'connection':
        gathered.connection =
          gathered.connection === NO_NAMES ? listOf(value) : [...gathered.connection, ...listOf(value)];
        break;
      case 'content-length':
        gathered.framing.contentLength(text, field);
        break;
      case 'transfer-encoding':
        gathered.framing.transferEncoding(text, field, minorVersion);
        break;
      case 'upgrade':
        gathered.upgrade = value;
        break;
      case 'expect':
        gathered.expect = value;
        break;
      case 'x-request-id':
        gathered.requestId = value;
        break;
      case 'accept':
        gathered.accept = value;
        break;
      default:
    }
  }
  return gathered;
}

/** The target without scheme and authority, or null when it is malformed or disagrees with Host. */
function originForm(target: string, method: string, host: string): string | null {
  if (!TARGET.test(target)) return null;
  if (target.startsWith('/')) return target;
  if (target === '*') return method === 'OPTIONS' ? target : null;
  const match = ABSOLUTE.exec(target);
  if (match?.[1] === undefined || match[2] === undefined) return null;
  if (match[1].toLowerCase() !== host.toLowerCase()) return null;
  return match[2].startsWith('/') ? match[2] : `/${match[2]}`;
}
