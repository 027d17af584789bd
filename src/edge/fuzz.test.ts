/**
 * The edge's parser against Node's own: whatever the edge accepts, Node must accept with the same meaning, both as it
 * came and as the edge passes it on. (The other way round is not asked: the edge is the stricter one.)
 */
import { METHODS } from 'node:http';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { answerByNode, requestsByNode } from '../../test/support/node-oracle.ts';
import type { Understood } from '../../test/support/node-oracle.ts';
import { SLOW } from '../../test/support/slow.ts';
import { BODY_BAD } from './http/body-reader.ts';
import { bodyReader } from './http/body.ts';
import { HeadReader } from './http/head-reader.ts';
import { Refusal } from './http/refusal.ts';
import { parseRequestHead } from './http/request-head.ts';
import { parseResponseHead } from './http/response-head.ts';
import { RequestOrigin } from './rewrite/request-origin.ts';
import { headForUnit } from './rewrite/heads.ts';

const ORIGIN = new RequestOrigin({ path: ['192.0.2.1'], proto: null, host: null }, 8000);
/** Milliseconds for each of the three properties, for a soak run; otherwise a number of runs that takes about a second. */
const LIMIT_MS = Number(process.env.FUZZ_MS ?? 0);
const RUNS =
  LIMIT_MS === 0
    ? { numRuns: SLOW ? 2_500 : 800 }
    : { interruptAfterTimeLimit: LIMIT_MS, markInterruptAsFailure: false, numRuns: 1_000_000 };

interface ByEdge {
  readonly understood: Understood[];
  /** What a unit would get for them. */
  readonly forwarded: string;
  /** Where the last of them ends. */
  readonly end: number;
}

/** Reads requests off the bytes as a client connection does, until one is refused or not whole. */
function requestsByEdge(bytes: Buffer): ByEdge {
  const understood: Understood[] = [];
  let forwarded = '';
  let at = 0;
  let end = 0;
  while (at < bytes.length) {
    const reader = new HeadReader(32_768, 4);
    at = reader.read(bytes, at, bytes.length);
    if (at < 0) break;
    const head = parseRequestHead(reader.text);
    if (head instanceof Refusal || !METHODS.includes(head.method)) break;
    let wrapped = '';
    let body = '';
    if (head.bodyLength !== 0) {
      const passed = bodyReader(head.bodyLength);
      const bare = bodyReader(head.bodyLength, true);
      const taken = passed.take(bytes, at, bytes.length, (piece) => (wrapped += piece.toString('latin1')));
      bare.take(bytes, at, bytes.length, (piece) => (body += piece.toString('latin1')));
      if (taken === BODY_BAD || !passed.done) break;
      at += taken;
    }
    const { method, target, authority: host } = head;
    end = at;
    understood.push({ method, target, host, body });
    forwarded += headForUnit(head, ORIGIN, 'id') + wrapped;
    if (!head.keepAlive || head.upgrade !== null) break;
  }
  return { understood, forwarded, end };
}

const PIECES = [
  'GET / HTTP/1.1\r\n',
  'POST /a?b HTTP/1.1\r\n',
  'PUT http://a/x HTTP/1.1\r\n',
  'OPTIONS * HTTP/1.1\r\n',
  'GET / HTTP/1.0\r\n',
  'Host: a\r\n',
  'hOsT:a\r\n',
  'Host: a:80\r\n',
  'Content-Length: 5\r\n',
  'Content-Length: 0\r\n',
  'content-length:5 \r\n',
  'Transfer-Encoding: chunked\r\n',
  'Transfer-Encoding: Chunked\r\n',
  'Transfer-Encoding: identity\r\n',
  'Connection: keep-alive\r\n',
  'Connection: close\r\n',
  'Connection: Content-Length\r\n',
  'Connection: Transfer-Encoding\r\n',
  'Connection: upgrade\r\nUpgrade: x\r\n',
  'Expect: 100-continue\r\n',
  'X: y\r\n',
  'X:\r\n',
  'X: \x80\xff\r\n',
  ' folded\r\n',
  'X : y\r\n',
  '\r\n',
  'hello',
  '5\r\nhello\r\n',
  '5;a=b\r\nhello\r\n',
  '5;a="b"\r\nhello\r\n',
  '5;a;b\r\nhello\r\n',
  '05\r\nhello\r\n',
  'a\r\n0123456789\r\n',
  '0\r\n\r\n',
  '0\r\nT: 1\r\n\r\n',
  '0\r\nContent-Length: 7\r\n\r\n',
  '0\r\nTransfer-Encoding: chunked\r\n\r\n',
  '0\r\nConnection: close\r\n\r\n',
  '0;x\r\n\r\n',
];
const GOOD = [
  'GET /first HTTP/1.1\r\nHost: a\r\n\r\n',
  'POST /x HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello',
  'POST /y HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n3;a=b\r\nabc\r\n0\r\nT: v\r\n\r\n',
  'PUT http://a/z?q HTTP/1.1\r\nhost: a\r\nX-A: b\r\nConnection: keep-alive, x-a\r\nContent-Length: 1\r\n\r\n!',
];
const GOOD_ANSWERS = [
  'HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello',
  'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nX: y\r\n\r\n5\r\nhello\r\n3;a=b\r\nabc\r\n0\r\nT: v\r\n\r\n',
  'HTTP/1.1 404\r\nConnection: close\r\n\r\nuntil the end',
  'HTTP/1.0 200 OK\r\n\r\nuntil the end',
  'HTTP/1.1 204 No Content\r\n\r\n',
];
const SPOILERS = [
  '\r',
  '\n',
  '\r\n',
  ' ',
  '\t',
  ':',
  '\0',
  '\x7f',
  ';',
  '"',
  '=',
  ',',
  '0',
  '1',
  'f',
  '+',
  '-',
  'x',
  '\x0b',
  '\xa0',
];

const ABOVE_ASCII = /[\x80-\xff]/;

interface Spoil {
  readonly where: number;
  readonly remove: number;
  readonly insert: string;
}

const spoils = fc.array(
  fc.record({
    where: fc.double({ min: 0, max: 1, noNaN: true }),
    remove: fc.nat(3),
    insert: fc.constantFrom('', ...SPOILERS),
  }),
  { maxLength: 3 },
);

function spoiled(text: string, changes: readonly Spoil[]): Buffer {
  let result = text;
  for (const { where, remove, insert } of changes) {
    const at = Math.floor(where * result.length);
    result = result.slice(0, at) + insert + result.slice(at + remove);
  }
  return Buffer.from(result, 'latin1');
}

/** The text with one change, everywhere it can be made. */
function* spoiledOnce(text: string): Generator<Buffer> {
  for (let at = 0; at <= text.length; at++)
    for (let remove = 0; remove <= 3; remove++)
      for (const insert of ['', ...SPOILERS])
        yield Buffer.from(text.slice(0, at) + insert + text.slice(at + remove), 'latin1');
}

const assembled = fc
  .tuple(fc.constantFrom(...PIECES.slice(0, 5)), fc.array(fc.constantFrom(...PIECES), { maxLength: 9 }))
  .map(([start, rest]) => `${start}Host: a\r\n${rest.join('')}`);
const pipelined = fc.array(fc.constantFrom(...GOOD), { minLength: 1, maxLength: 4 }).map((parts) => parts.join(''));

/** Node reports the absolute form as it came; the edge passes the origin form on. */
function asOriginForm(request: Understood): Understood {
  const path = request.target.replace(/^https?:\/\/[^/?]*/i, '');
  return { ...request, target: path.startsWith('/') || path === '*' ? path : `/${path}` };
}

/** The number of requests the edge accepts in the bytes, each of which Node must read the same way. */
async function agreeOnRequests(bytes: Buffer): Promise<number> {
  const { understood, forwarded, end } = requestsByEdge(bytes);
  // The edge takes bytes above 127 in a target and passes them on as they came; Node refuses them.
  if (understood.length === 0 || understood.some(({ target }) => ABOVE_ASCII.test(target))) return 0;
  const sent = JSON.stringify(bytes.toString('latin1'));
  const direct = await requestsByNode(bytes.subarray(0, end));
  expect(direct.map(asOriginForm), sent).toEqual(understood);
  const passedOn = await requestsByNode(Buffer.from(forwarded, 'latin1'));
  expect(passedOn, sent).toEqual(understood);
  return understood.length;
}

/** 1 when the edge accepts the bytes as an answer, which Node must then read the same way. */
async function agreeOnAnswer(bytes: Buffer): Promise<number> {
  const reader = new HeadReader(32_768, 0);
  const at = reader.read(bytes, 0, bytes.length);
  const head = at < 0 ? null : parseResponseHead(reader.text, 'GET');
  if (head === null || head instanceof Refusal || head.status < 200) return 0;
  let body = '';
  const bare = bodyReader(head.bodyLength, true);
  const taken = bare.take(bytes, at, bytes.length, (piece) => (body += piece.toString('latin1')));
  if (taken === BODY_BAD || !bare.ended()) return 0;
  // What comes after the answer makes the edge drop the unit's connection; Node would drop the answer, too.
  const byNode = await answerByNode(bytes.subarray(0, at + taken), 'GET');
  expect(byNode, JSON.stringify(bytes.toString('latin1'))).toEqual({ status: head.status, body, complete: true });
  return 1;
}

describe('differential fuzzing: nothing is accepted that Node reads another way', () => {
  it('understands what it should', async () => {
    expect(await agreeOnRequests(Buffer.from(GOOD.join(''), 'latin1'))).toBe(GOOD.length);
    for (const answer of GOOD_ANSWERS) expect(await agreeOnAnswer(Buffer.from(answer, 'latin1'))).toBe(1);
  });

  it.each([
    ['request', GOOD, agreeOnRequests],
    ['answer', GOOD_ANSWERS, agreeOnAnswer],
  ])('each good %s with each single change', async (_what, texts, agree) => {
    let accepted = 0;
    for (const text of texts) for (const bytes of spoiledOnce(text)) accepted += await agree(bytes);
    expect(accepted).toBeGreaterThan(1_000);
  });

  it.each([
    ['good requests, spoiled', fc.tuple(pipelined, spoils), agreeOnRequests, 20],
    ['requests put together at random', fc.tuple(assembled, spoils), agreeOnRequests, 3],
    ['answers, spoiled', fc.tuple(fc.constantFrom(...GOOD_ANSWERS), spoils), agreeOnAnswer, 20],
  ])(
    '%s',
    async (_what, arbitrary, agree, atLeast) => {
      let accepted = 0;
      const property = fc.asyncProperty(arbitrary, async ([text, changes]) => {
        accepted += await agree(spoiled(text, changes));
      });
      await fc.assert(property, RUNS);
      expect(accepted).toBeGreaterThan(atLeast);
    },
    LIMIT_MS + 30_000,
  );
});
