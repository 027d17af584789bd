import { describe, expect, it } from 'vitest';
import { CHUNKED } from './framing.ts';
import { HEAD_BAD, HEAD_MORE, HEAD_TOO_LARGE, HeadReader } from './head-reader.ts';
import { Refusal } from './refusal.ts';
import type { RequestHead } from './request-head.ts';
import { parseRequestHead } from './request-head.ts';

function read(bytes: string): RequestHead | Refusal | number {
  const reader = new HeadReader(4_096, 4);
  const stop = reader.read(Buffer.from(bytes, 'latin1'), 0, bytes.length);
  return stop < 0 ? stop : parseRequestHead(reader.text);
}

function accepted(bytes: string): RequestHead {
  const head = read(bytes);
  if (typeof head === 'number' || head instanceof Refusal) throw new Error(`refused: ${JSON.stringify(head)}`);
  return head;
}

function refusedWith(bytes: string): number {
  const head = read(bytes);
  if (head === HEAD_BAD) return 400;
  if (head instanceof Refusal) return head.status;
  throw new Error(`not refused: ${JSON.stringify(head)}`);
}

describe('request head', () => {
  it('reads method, target, host and framing', () => {
    const head = accepted('POST /a?b=c HTTP/1.1\r\nHost: Blog.Test:8080\r\nContent-Length: 12\r\nX-A:  b \r\n\r\n');
    expect(head).toMatchObject({
      method: 'POST',
      target: '/a?b=c',
      minorVersion: 1,
      authority: 'Blog.Test:8080',
      host: { name: 'blog.test', port: 8080 },
      bodyLength: 12,
      keepAlive: true,
      expectsContinue: false,
      upgrade: null,
    });
    expect(head.fields.map((field) => [field.name, field.value])).toContainEqual(['x-a', 'b']);
  });

  it('reads chunked bodies, expectations, upgrades and connection options', () => {
    expect(accepted('PUT / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: Chunked\r\n\r\n').bodyLength).toBe(CHUNKED);
    expect(accepted('PUT / HTTP/1.1\r\nHost: a\r\nExpect: 100-Continue\r\n\r\n').expectsContinue).toBe(true);
    const upgrade = accepted('GET / HTTP/1.1\r\nHost: a\r\nConnection: x, Upgrade\r\nUpgrade: websocket\r\n\r\n');
    expect(upgrade).toMatchObject({ upgrade: 'websocket', connection: ['x', 'upgrade'] });
    expect(accepted('GET / HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\n\r\n').upgrade).toBeNull();
    expect(accepted('GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n').keepAlive).toBe(false);
    expect(accepted('GET / HTTP/1.0\r\nHost: a\r\n\r\n').keepAlive).toBe(false);
    expect(accepted('GET / HTTP/1.0\r\nHost: a\r\nConnection: keep-alive\r\n\r\n').keepAlive).toBe(true);
  });

  it.each([
    ['absolute form', 'GET http://A/x?y HTTP/1.1\r\nHost: a\r\n\r\n', '/x?y'],
    ['absolute form without path', 'GET http://a HTTP/1.1\r\nHost: a\r\n\r\n', '/'],
    ['absolute form with query alone', 'GET http://a?q HTTP/1.1\r\nHost: a\r\n\r\n', '/?q'],
    ['asterisk form', 'OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n', '*'],
    ['empty lines before it', '\r\n\r\nGET /x HTTP/1.1\r\nHost: a\r\n\r\n', '/x'],
    ['bytes above 127', 'GET /\xe9 HTTP/1.1\r\nHost: a\r\n\r\n', '/\xe9'],
  ])('takes %s', (_what, bytes, target) => {
    expect(accepted(bytes).target).toBe(target);
  });

  it.each([
    ['Content-Length beside Transfer-Encoding', 'Content-Length: 3\r\nTransfer-Encoding: chunked', 400],
    ['Transfer-Encoding beside Content-Length', 'Transfer-Encoding: chunked\r\nContent-Length: 3', 400],
    ['two Content-Lengths', 'Content-Length: 3\r\nContent-Length: 3', 400],
    ['a list of Content-Lengths', 'Content-Length: 3, 3', 400],
    ['a signed Content-Length', 'Content-Length: +3', 400],
    ['a hexadecimal Content-Length', 'Content-Length: 0x3', 400],
    ['an empty Content-Length', 'Content-Length: ', 400],
    ['a huge Content-Length', 'Content-Length: 9999999999999999', 400],
    ['a tab after a Content-Length', 'Content-Length: 3\t', 400],
    ['a tab before a Content-Length', 'Content-Length:\t3', 400],
    ['a tab after a Transfer-Encoding', 'Transfer-Encoding: chunked\t', 400],
    ['two Transfer-Encodings', 'Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked', 400],
    ['another coding', 'Transfer-Encoding: gzip, chunked', 501],
    ['a disguised coding', 'Transfer-Encoding: xchunked', 501],
    ['white space before the colon', 'X-A : b', 400],
    ['a folded line', 'X-A: b\r\n c', 400],
    ['a first line that is folded', ' X-A: b', 400],
    ['an empty name', ': b', 400],
    ['a name that is no token', 'X(A): b', 400],
    ['a line without a colon', 'nothing', 400],
    ['a NUL', 'X-A: b\0c', 400],
    ['a control character', 'X-A: b\x01c', 400],
    ['a DEL', 'X-A: b\x7fc', 400],
    ['a bare LF', 'X-A: b\nX-B: c', 400],
    ['a bare CR', 'X-A: b\rX-B: c', 400],
    ['a second Host', 'Host: b', 400],
  ])('refuses %s', (_what, line, status) => {
    expect(refusedWith(`POST / HTTP/1.1\r\nHost: a\r\n${line}\r\n\r\n`)).toBe(status);
  });

  it.each([
    ['no Host', 'GET / HTTP/1.1\r\n\r\n', 400],
    ['no Host in HTTP/1.0', 'GET / HTTP/1.0\r\n\r\n', 400],
    ['an empty Host', 'GET / HTTP/1.1\r\nHost:\r\n\r\n', 400],
    ['a Host with a path', 'GET / HTTP/1.1\r\nHost: a/b\r\n\r\n', 400],
    ['a Host with user information', 'GET / HTTP/1.1\r\nHost: u@a\r\n\r\n', 400],
    ['a Host with a bad port', 'GET / HTTP/1.1\r\nHost: a:99999\r\n\r\n', 400],
    ['a Host with an empty label', 'GET / HTTP/1.1\r\nHost: a..b\r\n\r\n', 400],
    ['a target that names another host', 'GET http://b/ HTTP/1.1\r\nHost: a\r\n\r\n', 400],
    ['a target that is no path', 'GET x HTTP/1.1\r\nHost: a\r\n\r\n', 400],
    ['a fragment', 'GET /#x HTTP/1.1\r\nHost: a\r\n\r\n', 400],
    ['an asterisk for GET', 'GET * HTTP/1.1\r\nHost: a\r\n\r\n', 400],
    ['CONNECT', 'CONNECT a:80 HTTP/1.1\r\nHost: a:80\r\n\r\n', 501],
    ['two spaces', 'GET  / HTTP/1.1\r\nHost: a\r\n\r\n', 400],
    ['a space after the version', 'GET / HTTP/1.1 \r\nHost: a\r\n\r\n', 400],
    ['a tab for a space', 'GET\t/ HTTP/1.1\r\nHost: a\r\n\r\n', 400],
    ['a method that is no token', 'G@T / HTTP/1.1\r\nHost: a\r\n\r\n', 400],
    ['no version', 'GET /\r\nHost: a\r\n\r\n', 400],
    ['another version', 'GET / HTTP/2.0\r\nHost: a\r\n\r\n', 505],
    ['a lower-case version', 'GET / http/1.1\r\nHost: a\r\n\r\n', 400],
    ['chunks in HTTP/1.0', 'POST / HTTP/1.0\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n', 400],
    ['too many empty lines', '\r\n'.repeat(5), 400],
    ['too many fields', `GET / HTTP/1.1\r\nHost: a\r\n${'a: b\r\n'.repeat(128)}\r\n`, 431],
  ])('refuses %s', (_what, bytes, status) => {
    expect(refusedWith(bytes)).toBe(status);
  });
});

describe('head reader', () => {
  const bytes = Buffer.from('\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\nrest');
  const end = bytes.indexOf('rest');

  it('finds the same end however the bytes are cut', () => {
    for (let cut = 1; cut < end; cut++) {
      const reader = new HeadReader(64, 1);
      const first = reader.read(bytes.subarray(0, cut), 0, cut);
      expect(first).toBe(HEAD_MORE);
      expect(reader.begun).toBe(true);
      expect(reader.read(bytes, cut, bytes.length)).toBe(end);
      expect(reader.text).toBe('GET / HTTP/1.1\r\nHost: a\r\n');
      expect(reader.begun).toBe(false);
    }
  });

  it('takes one byte at a time', () => {
    const reader = new HeadReader(64, 1);
    for (let at = 0; at < end - 1; at++) expect(reader.read(bytes, at, at + 1)).toBe(HEAD_MORE);
    expect(reader.read(bytes, end - 1, bytes.length)).toBe(end);
  });

  it('stops at the limit, whole or in parts', () => {
    const long = Buffer.from(`GET / HTTP/1.1\r\nHost: ${'a'.repeat(100)}\r\n\r\n`);
    expect(new HeadReader(64, 0).read(long, 0, long.length)).toBe(HEAD_TOO_LARGE);
    expect(new HeadReader(64, 0).read(long, 0, 70)).toBe(HEAD_TOO_LARGE);
    const reader = new HeadReader(64, 0);
    expect(reader.read(long, 0, 60)).toBe(HEAD_MORE);
    expect(reader.read(long, 60, long.length)).toBe(HEAD_TOO_LARGE);
    expect(new HeadReader(long.length, 0).read(long, 0, long.length)).toBe(long.length);
  });

  it('refuses a bad byte in a later part', () => {
    const reader = new HeadReader(64, 0);
    expect(reader.read(Buffer.from('GET / HT'), 0, 8)).toBe(HEAD_MORE);
    expect(reader.read(Buffer.from('TP/1.1\n'), 0, 7)).toBe(HEAD_BAD);
  });
});
