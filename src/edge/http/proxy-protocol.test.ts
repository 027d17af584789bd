import { describe, expect, it } from 'vitest';
import { HEAD_BAD, HEAD_MORE } from './head-reader.ts';
import { ProxyHeaderReader } from './proxy-protocol.ts';

const SIGNATURE = Buffer.from('\r\n\r\n\0\r\nQUIT\n', 'latin1');

/** A header of version 2 whose body is `body`. */
function version2(command: number, family: number, body: Buffer): Buffer {
  const length = Buffer.alloc(2);
  length.writeUInt16BE(body.length);
  return Buffer.concat([SIGNATURE, Buffer.from([0x20 | command, family]), length, body]);
}

const OVER_IPV4 = Buffer.from([203, 0, 113, 7, 192, 0, 2, 1, 0x12, 0x67, 0x01, 0xbb]);
const OVER_TLS = Buffer.from([0x04, 0, 1, 0, 0x20, 0, 5, 0x01, 0, 0, 0, 0]);

const HEADERS: readonly (readonly [string, Buffer, object])[] = [
  [
    'TCP4',
    Buffer.from('PROXY TCP4 203.0.113.7 192.0.2.1 4711 443\r\n'),
    { address: '203.0.113.7', port: 443, tls: false },
  ],
  ['TCP6', Buffer.from('PROXY TCP6 2001:db8::7 ::1 1 80\r\n'), { address: '2001:db8::7', port: 80, tls: false }],
  ['UNKNOWN', Buffer.from('PROXY UNKNOWN ffff::1 ffff::2 1 2\r\n'), { address: null, port: null, tls: false }],
  ['v2', version2(1, 0x11, OVER_IPV4), { address: '203.0.113.7', port: 443, tls: false }],
  ['v2 TLS', version2(1, 0x11, Buffer.concat([OVER_IPV4, OVER_TLS])), { address: '203.0.113.7', port: 443, tls: true }],
  [
    'v2 IPv6',
    version2(1, 0x21, Buffer.alloc(36, 1)),
    { address: '101:101:101:101:101:101:101:101', port: 257, tls: false },
  ],
  ['v2 LOCAL', version2(0, 0, Buffer.alloc(0)), { address: null, port: null, tls: false }],
  ['v2 unix', version2(1, 0x31, Buffer.alloc(216)), { address: null, port: null, tls: false }],
];

describe('a header of the PROXY protocol', () => {
  it.each(HEADERS)('%s is read however it is cut, and no byte behind it', (_, header, source) => {
    const bytes = Buffer.concat([Buffer.from('..'), header, Buffer.from('GET / HTTP/1.1\r\n')]);
    const end = 2 + header.length;
    for (let cut = 3; cut <= bytes.length; cut++) {
      const reader = new ProxyHeaderReader();
      const first = reader.read(bytes, 2, cut);
      if (cut < end) {
        expect(first, `cut at ${cut}`).toBe(HEAD_MORE);
        expect(reader.read(bytes, cut, bytes.length)).toBe(end);
      } else {
        expect(first).toBe(end);
      }
      expect(reader.source).toEqual(source);
    }
  });

  it.each([
    ['a request', 'GET / HTTP/1.1\r\nHost: a\r\n\r\n'],
    ['another family', 'PROXY TCP5 1.2.3.4 1.2.3.4 1 2\r\n'],
    ['a port that is none', 'PROXY TCP4 1.2.3.4 1.2.3.4 1 70000\r\n'],
    ['no end', `PROXY TCP4 ${'1'.repeat(200)}`],
    ['a later version', version2(1, 0x11, OVER_IPV4).toString('latin1').replace('QUIT\n!', 'QUIT\n1')],
    ['too few bytes', version2(1, 0x11, Buffer.alloc(4)).toString('latin1')],
  ])('%s is refused', (_, text) => {
    const bytes = Buffer.from(text, 'latin1');
    expect(new ProxyHeaderReader().read(bytes, 0, bytes.length)).toBe(HEAD_BAD);
  });
});
