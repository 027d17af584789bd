import { describe, expect, it } from 'vitest';
import { BODY_BAD } from './body-reader.ts';
import { ChunkedBody } from './chunked-body.ts';

interface Taken {
  readonly taken: number;
  readonly out: string;
  readonly done: boolean;
}

function take(text: string, unwrapped = false, cut = text.length): Taken {
  const bytes = Buffer.from(text, 'latin1');
  const body = new ChunkedBody(unwrapped);
  let out = '';
  let taken = 0;
  for (const [from, end] of [
    [0, cut],
    [cut, bytes.length],
  ] as const) {
    const part = body.take(bytes, from, end, (piece) => (out += piece.toString('latin1')));
    if (part === BODY_BAD) return { taken: BODY_BAD, out, done: false };
    taken += part;
  }
  return { taken, out, done: body.done };
}

describe('chunked body', () => {
  it('hands plain chunks on as they came, wherever they are cut', () => {
    const text = '5\r\nhello\r\n1A\r\nabcdefghijklmnopqrstuvwxyz\r\n0\r\n\r\n';
    for (let cut = 0; cut <= text.length; cut++) {
      expect(take(text, false, cut)).toEqual({ taken: text.length, out: text, done: true });
    }
  });

  it('unwraps to the data alone, wherever it is cut', () => {
    const text = '5;a=b\r\nhello\r\n7\r\n, world\r\n0\r\nX-Sum: 1\r\n\r\n';
    for (let cut = 0; cut <= text.length; cut++) {
      expect(take(text, true, cut)).toEqual({ taken: text.length, out: 'hello, world', done: true });
    }
  });

  it('drops extensions and keeps harmless trailers, wherever it is cut', () => {
    const text = '5;name="a \\" b";x\r\nhello\r\n0;last\r\nX-Sum: 1\r\nHost: evil\r\nX-Forwarded-For: e\r\n\r\n';
    const out = '5\r\nhello\r\n0\r\nX-Sum: 1\r\n\r\n';
    for (let cut = 0; cut <= text.length; cut++) {
      expect(take(text, false, cut)).toEqual({ taken: text.length, out, done: true });
    }
  });

  it('leaves what follows the body alone', () => {
    expect(take('0\r\n\r\nGET / HTTP/1.1\r\n')).toEqual({ taken: 5, out: '0\r\n\r\n', done: true });
  });

  it('is not done before its last byte', () => {
    for (const text of ['', '5', '5\r\nhel', '5\r\nhello\r\n', '0\r\n', '0\r\n\r', '0\r\nA: b\r\n']) {
      expect(take(text).done).toBe(false);
    }
  });

  it.each([
    ['no size', '\r\nhello\r\n'],
    ['a sign', '+5\r\nhello\r\n'],
    ['a prefix', '0x5\r\nhello\r\n'],
    ['no number', 'z\r\n'],
    ['a blank before the size', ' 5\r\nhello\r\n'],
    ['a blank after the size', '5 \r\nhello\r\n'],
    ['a size too long', '0000000000005\r\nhello\r\n'],
    ['a bare LF after the size', '5\nhello\r\n'],
    ['a bare CR after the size', '5\rhello\r\n'],
    ['more data than announced', '5\r\nhello!\r\n'],
    ['a bare LF after the data', '5\r\nhello\n'],
    ['an empty extension', '5;\r\nhello\r\n'],
    ['an extension that is no token', '5;a@b\r\nhello\r\n'],
    ['an open quote', '5;a="b\r\nhello\r\n'],
    ['a bare LF in an extension', '5;a\nb\r\nhello\r\n'],
    ['an extension too long', `5;${'a'.repeat(300)}\r\nhello\r\n`],
    ['a folded trailer', '0\r\nA: b\r\n c\r\n\r\n'],
    ['a trailer without a colon', '0\r\nA\r\n\r\n'],
    ['a bare LF in a trailer', '0\r\nA: b\n\r\n'],
    ['a Content-Length in the trailers', '0\r\nContent-Length: 9\r\n\r\n'],
    ['a NUL in a trailer', '0\r\nA: \0\r\n\r\n'],
    ['trailers too long', `0\r\nA: ${'b'.repeat(9_000)}\r\n\r\n`],
  ])('refuses %s', (_what, text) => {
    expect(take(text).taken).toBe(BODY_BAD);
  });

  it('bounds all extensions together', () => {
    const chunk = `1;${'a'.repeat(200)}\r\nx\r\n`;
    expect(take(chunk.repeat(50)).taken).toBeGreaterThan(0);
    expect(take(chunk.repeat(100)).taken).toBe(BODY_BAD);
  });
});
