import { type ClientHttp2Session, connect } from 'node:http2';
import { once } from 'node:events';
import { afterEach, beforeAll, expect, it } from 'vitest';
import { EdgeRig, type RigSettings } from '../../../test/support/edge-rig.ts';
import { RawHttp2 } from '../../../test/support/raw-http2.ts';
import { testCertificate, type TestCertificate } from '../../../test/support/test-certificates.ts';
import { NO_CERTIFICATES } from '../tls/live-certificates.ts';

/** Longer than any test. */
const LONG_MS = 600_000;

let rig: EdgeRig;
let own: TestCertificate;
let undo: () => void = () => {};

beforeAll(async () => {
  own = await testCertificate('blog.test');
});
afterEach(async () => {
  undo();
  await rig.stop();
});

async function start(answerMs: number, settings: RigSettings = {}): Promise<void> {
  rig = await EdgeRig.start({ tls: true, ...settings });
  const certificates = [{ id: 'c1', names: ['blog.test'], ...own }];
  await rig.plane.present({ set: { ...NO_CERTIFICATES, version: 1, certificates }, ticketKeys: '' });
  await rig.route(await rig.httpUnit((_request, response) => void setTimeout(() => response.end('ok'), answerMs)));
}

async function rawClient(): Promise<RawHttp2> {
  const client = await RawHttp2.connect(rig.tlsPort);
  undo = () => client.socket.destroy();
  return client;
}

async function ask(session: ClientHttp2Session): Promise<string> {
  const stream = session.request({ ':authority': 'blog.test', ':path': '/' });
  let text = '';
  stream.setEncoding('utf8').on('data', (part: string) => (text += part));
  await once(stream, 'close');
  return text;
}

it('clients are asked to leave when another edge has taken over, and what they have sent is finished', async () => {
  await start(50);
  const session = connect(`https://127.0.0.1:${rig.tlsPort}`, { servername: 'blog.test', rejectUnauthorized: false });
  undo = () => session.destroy();
  expect(await ask(session)).toBe('ok');
  const drained = rig.plane.drain(LONG_MS);
  expect(await Promise.all([ask(session), ask(session), ask(session)])).toEqual(['ok', 'ok', 'ok']);
  await drained;
  expect(session.closed).toBe(true);
});

it('a request sent before the client hears that another edge has taken over is answered, too', async () => {
  await start(0);
  const client = await rawClient();
  const drained = rig.plane.drain(LONG_MS);
  for (let sent = 0; sent < 5 && !client.isLeft; sent++) {
    client.ask();
    await client.has(({ answered, asked, isLeft }) => answered.length === asked.length || isLeft, 'an answer');
  }
  await drained;
  await client.has(({ isClosed }) => isClosed, 'the end of the connection');
  expect(client.answered).toEqual(client.asked.filter((number) => number <= client.lastSeen));
  expect(client.answered.length).toBeGreaterThan(0);
});

it('a client that goes on asking learns at last which of its requests nobody has seen', async () => {
  await start(0, { timeouts: { leaveMs: 200 } });
  const client = await rawClient();
  const drained = rig.plane.drain(LONG_MS);
  while (!client.isLeft) {
    client.ask();
    await client.has(({ answered, asked, isLeft }) => answered.length === asked.length || isLeft, 'an answer');
  }
  client.ask();
  await drained;
  await client.has(({ isClosed }) => isClosed, 'the end of the connection');
  expect(client.answered.length).toBeGreaterThan(0);
  expect(client.answered).toEqual(client.asked.filter((number) => number <= client.lastSeen));
  expect(client.asked.at(-1)).toBeGreaterThan(client.lastSeen);
});

it('a connection whose client does not close it is closed all the same', async () => {
  await start(0, { timeouts: { idleMs: 50, lingerMs: 50 } });
  const client = await rawClient();
  client.socket.pause();
  client.ask();
  await rig.plane.drain(LONG_MS);
});
