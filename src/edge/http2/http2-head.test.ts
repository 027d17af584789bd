import { expect, it } from 'vitest';
import { Refusal } from '../http/refusal.ts';
import { parseHttp2Head } from './http2-head.ts';

const BASE = [':method', 'GET', ':scheme', 'https', ':authority', 'blog.test', ':path', '/a?b'];
const read = (raw: readonly string[], hasBody = false) => parseHttp2Head(raw, hasBody, 1_000);

it('reads a head as that of HTTP/1.1', () => {
  const raw = [...BASE, 'cookie', 'a=1', 'accept', '*/*', 'cookie', 'b=2', 'expect', '100-continue'];
  const made = read(raw);
  if (made instanceof Refusal) throw new Error(made.reason);
  expect(made.head).toMatchObject({ method: 'GET', target: '/a?b', authority: 'blog.test', bodyLength: 0 });
  expect(made.head.text).toContain('cookie: a=1; b=2\r\n');
  expect(made.head.text).not.toContain('expect');
  expect(made.isChunked).toBe(false);
  expect(read(BASE, true)).toMatchObject({ isChunked: true });
  expect(read([...BASE, 'content-length', '3'], true)).toMatchObject({ isChunked: false, head: { bodyLength: 3 } });
});

const without = (name: string): string[] => {
  const at = BASE.indexOf(name);
  return [...BASE.slice(0, at), ...BASE.slice(at + 2)];
};
const changed = (name: string, value: string): string[] => [...without(name), name, value];
const smuggling: readonly (readonly [string, readonly string[]])[] = [
  ['a line break in a value', [...BASE, 'a', 'b\r\nhost: other.test']],
  ['a bare line feed in a value', [...BASE, 'a', 'b\ntransfer-encoding: chunked']],
  ['a NUL in a value', [...BASE, 'a', 'b\0c']],
  ['a line break in a name', [...BASE, 'a: b\r\nc', 'd']],
  ['a colon in a name', [...BASE, 'transfer-encoding:', 'chunked']],
  ['a space in a name', [...BASE, 'transfer-encoding ', 'chunked']],
  ['an upper-case name', [...BASE, 'Transfer-Encoding', 'chunked']],
  ['an empty name', [...BASE, '', 'x']],
  ['Transfer-Encoding', [...BASE, 'transfer-encoding', 'chunked']],
  ['Connection', [...BASE, 'connection', 'content-length']],
  ['Keep-Alive', [...BASE, 'keep-alive', 'x']],
  ['Proxy-Connection', [...BASE, 'proxy-connection', 'x']],
  ['Upgrade', [...BASE, 'upgrade', 'websocket']],
  ['TE beside trailers', [...BASE, 'te', 'chunked']],
  ['two lengths', [...BASE, 'content-length', '1', 'content-length', '1']],
  ['a length that is a list', [...BASE, 'content-length', '1, 1']],
  ['a length with a sign', [...BASE, 'content-length', '+1']],
  ['a length without a body', [...BASE, 'content-length', '5']],
  ['another Host', [...BASE, 'host', 'other.test']],
  ['two Hosts', [...BASE, 'host', 'blog.test', 'host', 'blog.test']],
  ['no authority', without(':authority')],
  ['no method', without(':method')],
  ['no path', without(':path')],
  ['a method with a line break', changed(':method', 'GET / HTTP/1.1\r\nhost: other.test\r\n\r\nGET')],
  ['a method with a space', changed(':method', 'GET /')],
  ['CONNECT', changed(':method', 'CONNECT')],
  ['a path with a space', changed(':path', '/ HTTP/1.1')],
  ['a path with a line break', changed(':path', '/ HTTP/1.1\r\nhost: other.test')],
  ['an absolute path', changed(':path', 'http://other.test/')],
  ['an empty path', changed(':path', '')],
  ['a fragment', changed(':path', '/a#b')],
  ['a value that begins with white space', [...BASE, 'a', ' b']],
  ['an authority that ends with white space', changed(':authority', 'blog.test\t')],
  ['an authority with a path', changed(':authority', 'blog.test/x')],
  ['an authority with somebody in it', changed(':authority', 'user@blog.test')],
  ['a pseudo field twice', [...BASE, ':path', '/other']],
  ['a pseudo field that does not exist', [...BASE, ':status', '200']],
  ['a pseudo field after others', [...without(':path'), 'a', 'b', ':path', '/']],
];

it.each(smuggling)('refuses %s', (_what, raw) => {
  expect(read(raw, raw.includes('content-length') && !raw.includes('5'))).toBeInstanceOf(Refusal);
});

it('refuses a head that is too long', () => {
  expect(read([...BASE, 'a', 'b'.repeat(1_000)])).toMatchObject({ status: 431 });
});
