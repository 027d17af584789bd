import { describe, expect, it } from 'vitest';
import { CHUNKED, UNTIL_CLOSE } from './framing.ts';
import { Refusal } from './refusal.ts';
import type { ResponseHead } from './response-head.ts';
import { parseResponseHead } from './response-head.ts';

function accepted(text: string, method = 'GET'): ResponseHead {
  const head = parseResponseHead(text, method);
  if (head instanceof Refusal) throw new Error(head.reason);
  return head;
}

describe('response head', () => {
  it('reads status, framing and persistence', () => {
    const text = 'HTTP/1.1 200 All fine\r\nContent-Length: 3\r\nKeep-Alive: timeout=5, max=9\r\n';
    expect(accepted(text)).toMatchObject({
      status: 200,
      statusText: '200 All fine',
      bodyLength: 3,
      keepAlive: true,
      keepAliveSeconds: 5,
    });
    expect(accepted('HTTP/1.1 200\r\n')).toMatchObject({ status: 200, bodyLength: UNTIL_CLOSE, keepAlive: false });
    expect(accepted('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n').bodyLength).toBe(CHUNKED);
    expect(accepted('HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n').keepAlive).toBe(false);
    expect(accepted('HTTP/1.0 200 OK\r\nContent-Length: 0\r\n').keepAlive).toBe(false);
    expect(accepted('HTTP/1.0 200 OK\r\nContent-Length: 0\r\nConnection: Keep-Alive\r\n').keepAlive).toBe(true);
  });

  it.each([
    ['HEAD', 'HTTP/1.1 200 OK\r\nContent-Length: 3\r\n'],
    ['HEAD', 'HTTP/1.1 200 OK\r\n'],
    ['GET', 'HTTP/1.1 204 No Content\r\n'],
    ['GET', 'HTTP/1.1 304 Not Modified\r\nContent-Length: 3\r\n'],
    ['GET', 'HTTP/1.1 103 Early Hints\r\n'],
  ])('knows that an answer to %s has no body: %s', (method, text) => {
    expect(accepted(text, method).bodyLength).toBe(0);
  });

  it.each([
    'HTTP/1.1 20 OK\r\n',
    'HTTP/1.1 600 OK\r\n',
    'HTTP/1.1  200 OK\r\n',
    'HTTP/2.0 200 OK\r\n',
    'ICY 200 OK\r\n',
    'HTTP/1.1 200 OK\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n',
    'HTTP/1.1 200 OK\r\nContent-Length: 3\r\nContent-Length: 4\r\n',
    'HTTP/1.1 200 OK\r\nContent-Length: three\r\n',
    'HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n',
    'HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n',
    'HTTP/1.1 200 OK\r\nA : b\r\n',
    'HTTP/1.1 200 OK\r\nA: b\r\n c\r\n',
  ])('refuses %j', (text) => {
    expect(parseResponseHead(text, 'GET')).toMatchObject({ status: 502 });
  });
});
