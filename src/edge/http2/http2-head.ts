import { IS_TEXT, IS_TOKEN } from '../http/octets.ts';
import { Refusal } from '../http/refusal.ts';
import { parseRequestHead, type RequestHead } from '../http/request-head.ts';

/** What of HTTP/1.1 means nothing here, or would say something else than the frames do (RFC 9113 section 8.2.2). */
const FORBIDDEN = new Set(['connection', 'keep-alive', 'proxy-connection', 'transfer-encoding', 'upgrade']);
const PSEUDO = new Set([':method', ':scheme', ':authority', ':path']);

export interface Http2Head {
  readonly head: RequestHead;
  /** It has a body whose length nobody has said. */
  readonly isChunked: boolean;
}

/**
 * Reads the fields of a stream, names and values in turn, through the eyes of the parser for HTTP/1.1, so that nothing is let through
 * here that would be refused there. `hasBody`: more is to come than the head.
 */
export function parseHttp2Head(raw: readonly string[], hasBody: boolean, headBytes: number): Http2Head | Refusal {
  const pseudo = new Map<string, string>();
  const cookies: string[] = [];
  let lines = '';
  let host: string | null = null;
  let hasLength = false;
  for (let at = 0; at < raw.length; at += 2) {
    const [name = '', value = ''] = [raw[at], raw[at + 1]];
    if (!consistsOf(value, IS_TEXT) || /^[ \t]|[ \t]$/.test(value))
      return new Refusal(400, 'A header field holds a byte it must not hold.');
    if (name.startsWith(':')) {
      if (!PSEUDO.has(name) || pseudo.has(name) || lines !== '') return new Refusal(400, 'The head is malformed.');
      pseudo.set(name, value);
      continue;
    }
    const isName = name !== '' && consistsOf(name, IS_TOKEN) && name === name.toLowerCase();
    if (!isName || FORBIDDEN.has(name)) return new Refusal(400, 'A header field is malformed or not for HTTP/2.');
    if (name === 'te' && value.toLowerCase() !== 'trailers') return new Refusal(400, 'TE can be trailers only.');
    if (name === 'host') {
      if (host !== null) return new Refusal(400, 'There is more than one Host.');
      host = value;
    } else if (name === 'cookie') cookies.push(value);
    else if (name !== 'expect') lines += `${name}: ${value}\r\n`;
    hasLength = hasLength || name === 'content-length';
  }
  const authority = pseudo.get(':authority') ?? host;
  if (authority === null || (host !== null && host.toLowerCase() !== authority.toLowerCase()))
    return new Refusal(400, 'The authority is missing, or Host names another.');
  const isChunked = hasBody && !hasLength;
  if (cookies.length > 0) lines += `cookie: ${cookies.join('; ')}\r\n`;
  if (isChunked) lines += 'transfer-encoding: chunked\r\n';
  const [method = '', path = ''] = [pseudo.get(':method'), pseudo.get(':path')];
  if (!consistsOf(method, IS_TOKEN) || !/^(?:\/|\*$)/.test(path)) return new Refusal(400, 'The head is malformed.');
  const text = `${method} ${path} HTTP/1.1\r\nhost: ${authority}\r\n${lines}`;
  if (text.length > headBytes) return new Refusal(431, `The head is longer than ${headBytes} bytes.`);
  const head = parseRequestHead(text);
  if (head instanceof Refusal) return head;
  if (!hasBody && head.bodyLength > 0) return new Refusal(400, 'The body that was announced does not come.');
  // Bodies of answers go out bare, in frames, as to a client of HTTP/1.0, which is why it is taken for one.
  return { head: { ...head, minorVersion: 0 }, isChunked };
}

function consistsOf(text: string, octets: Uint8Array): boolean {
  for (let at = 0; at < text.length; at++) if (octets[text.charCodeAt(at)] !== 1) return false;
  return true;
}
