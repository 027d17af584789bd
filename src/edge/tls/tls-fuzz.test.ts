/** The same bytes over plain TCP and over TLS: units get the same requests, and clients the same answers. */
import { once } from 'node:events';
import { connect as connectTcp, type Socket } from 'node:net';
import { connect } from 'node:tls';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { EdgeRig } from '../../../test/support/edge-rig.ts';
import { requestsByNode } from '../../../test/support/node-oracle.ts';
import { testCertificate } from '../../../test/support/test-certificates.ts';
import { NO_CERTIFICATES } from './live-certificates.ts';

const LIMIT_MS = Number(process.env.FUZZ_MS ?? 0);
const RUNS =
  LIMIT_MS === 0
    ? { numRuns: 150 }
    : { interruptAfterTimeLimit: LIMIT_MS, markInterruptAsFailure: false, numRuns: 1_000_000 };
const PATIENCE_MS = 60_000;

/** What smuggles, or may be thought to, in front of more. */
const CORPUS = [
  'POST /1 HTTP/1.1\r\nHost: blog.test\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
  'POST /2 HTTP/1.1\r\nHost: blog.test\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello',
  'POST /3 HTTP/1.1\r\nHost: blog.test\r\nTransfer-Encoding : chunked\r\n\r\n0\r\n\r\n',
  'POST /4 HTTP/1.1\r\nHost: blog.test\r\nTransfer-Encoding: xchunked\r\nContent-Length: 5\r\n\r\nhello',
  'POST /5 HTTP/1.1\r\nHost: blog.test\r\nTransfer-Encoding:\x0bchunked\r\n\r\n0\r\n\r\n',
  'POST /6 HTTP/1.1\r\nHost: blog.test\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n0\r\n\r\n',
  'POST /7 HTTP/1.1\nHost: blog.test\nContent-Length: 5\n\nhello',
  'GET /8 HTTP/1.1\r\nHost: blog.test\r\n X: folded\r\n\r\n',
  'GET /9 HTTP/1.1\r\nHost: blog.test\r\nHost: other.test\r\n\r\n',
  'GET http://other.test/10 HTTP/1.1\r\nHost: blog.test\r\n\r\n',
  'POST /11 HTTP/1.1\r\nHost: blog.test\r\nTransfer-Encoding: chunked\r\n\r\n5;\n\r\nhello\r\n0\r\n\r\n',
  'POST /12 HTTP/1.1\r\nHost: blog.test\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello0\r\n\r\n',
  'POST /13 HTTP/1.1\r\nHost: blog.test\r\nTransfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\nhello\r\n0\r\n\r\n',
  'POST /14 HTTP/1.1\r\nHost: blog.test\r\nContent-Length: +5\r\n\r\nhello',
  'GET /15 HTTP/1.1\r\nHost: blog.test\r\nContent-Length: 5\r\n\r\n',
  'POST /16 HTTP/1.0\r\nHost: blog.test\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
  'GET /17 HTTP/1.1\r\nHost: blog.test\r\nConnection: Host\r\n\r\n',
  'GET /18 HTTP/1.1\r\nHost: blog.test\0\r\n\r\n',
];
const MORE = 'GET /more HTTP/1.1\r\nHost: blog.test\r\n\r\n';
const GOOD = [
  MORE,
  'POST /x HTTP/1.1\r\nHost: blog.test\r\nContent-Length: 5\r\n\r\nhello',
  'POST /y HTTP/1.1\r\nHost: blog.test\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n',
];
const SPOILERS = ['', '\r', '\n', '\r\n', ' ', '\t', ':', '\0', '\x7f', ';', ',', '0', 'f', '-', '\x0b', '\xa0'];

let rig: EdgeRig;
/** What the unit has got, by the connection that it came on. */
const got = new Set<Buffer[]>();

/** Those of connections that are gone. */
const ended: Buffer[][] = [];

beforeAll(async () => {
  rig = await EdgeRig.start({ tls: true, timeouts: { headMs: PATIENCE_MS, lingerMs: 50 } });
  const certificates = [{ id: 'c1', names: ['blog.test'], ...(await testCertificate('blog.test')) }];
  await rig.plane.present({
    set: { ...NO_CERTIFICATES, version: 1, certificates },
    ticketKeys: Buffer.alloc(48, 7).toString('base64'),
  });
  const unit = await rig.httpUnit((request, response) => {
    request.resume().on('end', () => response.end('ok'));
    request.on('error', () => {});
  });
  const spy = await rig.rawUnit((socket) => {
    const pieces: Buffer[] = [];
    got.add(pieces);
    socket.once('close', () => ended.push(pieces));
    const behind = connectTcp(unit.port, '127.0.0.1');
    socket.on('data', (piece: Buffer) => pieces.push(piece));
    socket.pipe(behind).on('error', () => socket.destroy());
    behind.pipe(socket).on('error', () => behind.destroy());
  });
  const route = { app: 'blog', hosts: ['blog.test'], targets: [spy], note: '' } as const;
  await rig.apply({ routes: [{ ...route, https: 'both' }] });
});
afterAll(() => rig.stop());

interface Outcome {
  readonly statuses: readonly string[];
  readonly requests: unknown;
}

async function outcome(isSecure: boolean, bytes: Buffer): Promise<Outcome> {
  // Connections that are kept go on.
  for (const pieces of got) pieces.length = 0;
  for (const pieces of ended.splice(0)) got.delete(pieces);
  const socket: Socket = isSecure
    ? connect({ host: '127.0.0.1', port: rig.tlsPort, servername: 'blog.test', rejectUnauthorized: false })
    : connectTcp({ host: '127.0.0.1', port: rig.port });
  let text = '';
  socket.on('error', () => {});
  socket.setTimeout(PATIENCE_MS, () => socket.destroy());
  socket.on('data', (piece: Buffer) => (text += piece.toString('latin1')));
  const closed = once(socket, 'close');
  await once(socket, isSecure ? 'secureConnect' : 'connect');
  socket.end(bytes);
  await closed;
  const statuses = text.match(/HTTP\/1\.1 [0-9]{3}/g) ?? [];
  const requests = await Promise.all([...got].map((pieces) => requestsByNode(Buffer.concat(pieces))));
  // The edge keeps no order among the connections to a unit.
  return { statuses, requests: requests.flat().map(({ method, target, body }) => `${method} ${target} ${body}`) };
}

async function same(bytes: Buffer): Promise<Outcome> {
  const plain = await outcome(false, bytes);
  expect(await outcome(true, bytes), JSON.stringify(bytes.toString('latin1'))).toEqual(plain);
  return plain;
}

it.each(CORPUS)('%j is followed over TLS by nothing that is not over TCP', async (text) => {
  const { requests } = await same(Buffer.from(text + MORE, 'latin1'));
  expect(JSON.stringify(requests)).not.toContain('forged');
});

it(
  'requests that are spoiled at random',
  async () => {
    let answered = 0;
    const spoil = fc.tuple(fc.double({ min: 0, max: 1, noNaN: true }), fc.nat(3), fc.constantFrom(...SPOILERS));
    const texts = fc.tuple(
      fc.array(fc.constantFrom(...GOOD, ...CORPUS), { minLength: 1, maxLength: 3 }),
      fc.array(spoil, { maxLength: 2 }),
    );
    await fc.assert(
      fc.asyncProperty(texts, async ([parts, spoils]) => {
        let text = parts.join('');
        for (const [where, remove, insert] of spoils) {
          const at = Math.floor(where * text.length);
          text = text.slice(0, at) + insert + text.slice(at + remove);
        }
        answered += (await same(Buffer.from(text, 'latin1'))).statuses.filter((one) => one.endsWith('200')).length;
      }),
      { ...RUNS, examples: GOOD.map((text): [[string[], []]] => [[[text], []]]) },
    );
    expect(answered).toBeGreaterThanOrEqual(GOOD.length);
  },
  LIMIT_MS + 120_000,
);
