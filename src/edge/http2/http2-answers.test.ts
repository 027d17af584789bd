/** Whatever a unit answers, it is answered to the client of a stream, or that stream alone ends: HTTP/2 forbids fields that HTTP/1.1 lets pass. */
import { type ClientHttp2Session, type ClientHttp2Stream, connect, constants } from 'node:http2';
import { afterEach, beforeAll, expect, it } from 'vitest';
import { EdgeRig } from '../../../test/support/edge-rig.ts';
import { testCertificate, type TestCertificate } from '../../../test/support/test-certificates.ts';
import { NO_CERTIFICATES } from '../tls/live-certificates.ts';

let rig: EdgeRig;
let own: TestCertificate;
let client: ClientHttp2Session;

beforeAll(async () => {
  own = await testCertificate('blog.test');
});
afterEach(async () => {
  client.destroy();
  await rig.stop();
});

async function start(): Promise<void> {
  rig = await EdgeRig.start({ tls: true });
  const certificates = [{ id: 'c1', names: ['blog.test'], ...own }];
  await rig.plane.present({ set: { ...NO_CERTIFICATES, version: 1, certificates }, ticketKeys: '' });
  client = connect(`https://127.0.0.1:${rig.tlsPort}`, { servername: 'blog.test', rejectUnauthorized: false });
  client.on('error', () => {});
}

async function answered(fields: string, status = 200): Promise<{ status: unknown; body: string; code: number }> {
  await start();
  const answer = `HTTP/1.1 ${status} OK\r\n${fields}Transfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n`;
  await rig.route(await rig.rawUnit((socket) => void socket.once('data', () => socket.end(answer))));
  const stream = client.request({ ':authority': 'blog.test', ':path': '/' });
  let seen: unknown = 0;
  let body = '';
  stream.on('response', (headers) => (seen = headers[':status']));
  stream.on('data', (part: Buffer) => (body += part.toString()));
  stream.on('error', () => {});
  await new Promise((resolve) => stream.on('close', resolve));
  return { status: seen, body, code: stream.rstCode };
}

it.each([
  ['a field that is of HTTP/1.1 only', 'HTTP2-Settings: AAMAAABkAARAAAAAAAIAAAAA\r\n'],
  ['a field twice that there is one of', 'Content-Type: text/plain\r\nContent-Type: text/html\r\n'],
  ['a date twice', 'Date: Fri, 27 Nov 2026 00:00:00 GMT\r\nDate: Fri, 27 Nov 2026 00:00:00 GMT\r\n'],
  ['what only requests have', 'TE: gzip\r\nHost: other.test\r\nUpgrade: h2c\r\nProxy-Connection: close\r\n'],
  ['an empty value', 'X-Empty:\r\nSet-Cookie:\r\n'],
  ['bytes beyond ASCII', 'X-Name: \xe9\xff\r\n'],
  ['many fields', Array.from({ length: 100 }, (_, at) => `X-${at}: ${at}\r\n`).join('')],
])('%s', async (_what, fields) => {
  expect(await answered(fields)).toEqual({ status: 200, body: 'ok', code: 0 });
});

it('a status that says that there is no body', async () => {
  expect(await answered('', 205)).toEqual({ status: 205, body: '', code: 0 });
});

it('an answer to somebody who has given the request up, and whose body nobody has read', async () => {
  await start();
  const { promise: isAsked, resolve: asked } = Promise.withResolvers<() => void>();
  const slow = await rig.rawUnit((socket) => {
    socket.once('data', () => {
      socket.pause();
      asked(() => void socket.end('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok'));
    });
  });
  await rig.route(slow);
  const given = client.request({ ':authority': 'blog.test', ':path': '/', ':method': 'POST' });
  given.on('error', () => {});
  given.write(Buffer.alloc(128 * 1024));
  const answer = await isAsked;
  given.close(constants.NGHTTP2_CANCEL);
  await rig.route(await rig.httpUnit((_request, response) => response.end('another')));
  // Comes after what has ended the first one.
  expect(await bodyOf(client.request({ ':authority': 'blog.test', ':path': '/' }))).toBe('another');
  answer();
  expect(await bodyOf(client.request({ ':authority': 'blog.test', ':path': '/' }))).toBe('another');
});

async function bodyOf(stream: ClientHttp2Stream): Promise<string> {
  let body = '';
  stream.on('data', (part: Buffer) => (body += part.toString()));
  await new Promise((resolve) => stream.on('close', resolve));
  return body;
}
