/**
 * Heads of HTTP/2 against Node's parser of HTTP/1.1: whatever is accepted reaches a unit as one request, with the method, the path, the
 * authority and the body that the frames had, and as nothing else.
 */
import { METHODS } from 'node:http';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { requestsByNode } from '../../../test/support/node-oracle.ts';
import { Refusal } from '../http/refusal.ts';
import { RequestOrigin } from '../rewrite/request-origin.ts';
import { headForUnit } from '../rewrite/heads.ts';
import { parseHttp2Head } from './http2-head.ts';

const ORIGIN = new RequestOrigin({ path: ['192.0.2.1'], proto: null, host: null }, 8000);
/** Milliseconds for a soak run; otherwise a number of runs that takes some seconds. */
const LIMIT_MS = Number(process.env.FUZZ_MS ?? 0);
const RUNS =
  LIMIT_MS === 0
    ? { numRuns: 4_000 }
    : { interruptAfterTimeLimit: LIMIT_MS, markInterruptAsFailure: false, numRuns: 1_000_000 };

const SPOILERS = [
  '\r\n',
  '\n',
  '\r',
  '\0',
  ' ',
  '\t',
  ':',
  ',',
  '0',
  'A',
  '\x7f',
  '\xa0',
  '\r\n\r\nGET /forged HTTP/1.1\r\nHost: a\r\n\r\n',
];
const FIELDS: readonly (readonly [string, string])[] = [
  ['accept', '*/*'],
  ['cookie', 'a=1'],
  ['cookie', 'b=2'],
  ['host', 'a'],
  ['host', 'b'],
  ['content-length', '5'],
  ['content-length', '0'],
  ['content-length', '6'],
  ['transfer-encoding', 'chunked'],
  ['connection', 'content-length'],
  ['te', 'trailers'],
  ['te', 'gzip'],
  ['upgrade', 'x'],
  ['expect', '100-continue'],
  ['trailer', 'host'],
  ['forwarded', 'for=9.9.9.9'],
  ['x-forwarded-host', 'other'],
  ['x-empty', ''],
];

/** Once in eight times. */
const spoiledText = (text: fc.Arbitrary<string>): fc.Arbitrary<string> => {
  const spoiled = fc
    .tuple(text, fc.double({ min: 0, max: 1, noNaN: true }), fc.constantFrom(...SPOILERS))
    .map(([whole, where, insert]) => {
      const at = Math.floor(where * whole.length);
      return whole.slice(0, at) + insert + whole.slice(at);
    });
  return fc.oneof({ weight: 7, arbitrary: text }, { weight: 1, arbitrary: spoiled });
};

const pseudo = fc.tuple(
  spoiledText(fc.constantFrom('GET', 'POST', 'PUT', 'DELETE', 'OPTIONS')),
  spoiledText(fc.constantFrom('/', '/a?b', '*', '/a/%0d%0a', '//x')),
  spoiledText(fc.constantFrom('a', 'a:80', 'A')),
);
const field = fc
  .constantFrom(...FIELDS)
  .chain(([name, value]) => fc.tuple(spoiledText(fc.constant(name)), spoiledText(fc.constant(value))));
const heads = fc.record({
  pseudo,
  fields: fc.array(field, { maxLength: 6 }),
  body: fc.constantFrom(null, 'hello', ''),
});

/** True when the head is accepted, which Node must then read as what it was. */
async function agrees({
  pseudo: [method, path, authority],
  fields,
  body,
}: typeof heads extends fc.Arbitrary<infer T> ? T : never): Promise<boolean> {
  const raw = [':method', method, ':scheme', 'https', ':authority', authority, ':path', path, ...fields.flat()];
  const read = parseHttp2Head(raw, body !== null, 8_000);
  if (read instanceof Refusal) return false;
  const { head, isChunked } = read;
  // What is not as long as it was announced is ended by whoever reads the frames.
  if (!isChunked && head.bodyLength !== (body ?? '').length) return false;
  const chunk = body === null || body === '' ? '' : `${body.length.toString(16)}\r\n${body}\r\n`;
  const sent = isChunked ? `${chunk}0\r\n\r\n` : (body ?? '');
  const forwarded = headForUnit(head, ORIGIN, 'id') + sent;
  // Node knows no other methods, and takes nothing above ASCII in a target.
  if (!METHODS.includes(method) || /[\x80-\xff]/.test(path)) return false;
  const understood = await requestsByNode(Buffer.from(forwarded, 'latin1'));
  const host = authority.toLowerCase();
  expect(
    understood.map((one) => ({ ...one, host: one.host.toLowerCase() })),
    JSON.stringify(raw),
  ).toEqual([{ method, target: path, host, body: body ?? '' }]);
  return true;
}

it(
  'nothing is accepted that a unit would read another way',
  async () => {
    let accepted = 0;
    await fc.assert(
      fc.asyncProperty(heads, async (head) => {
        accepted += Number(await agrees(head));
      }),
      RUNS,
    );
    expect(accepted).toBeGreaterThan(100);
  },
  LIMIT_MS + 60_000,
);
