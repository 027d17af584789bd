import { once } from 'node:events';
import { connect } from 'node:net';
import { afterEach, expect, it } from 'vitest';
import { TrustedProxies } from '../lib/trusted-proxies.ts';
import { closeServer, listenOnTcp } from './listeners.ts';

let close: () => Promise<void> = async () => {};
afterEach(() => close());

/** What comes on a connection on which `said` is all that is ever said, to its end. */
async function heardAfter(said: string): Promise<string> {
  const { server, address } = await listenOnTcp(
    { request: (_, response) => response.end('served'), upgrade: () => false },
    { host: '127.0.0.1', port: 0 },
    new TrustedProxies([]),
    { headersTimeoutMs: 200, timeoutsCheckMs: 50 },
  );
  close = () => closeServer(server, 0);
  const socket = connect(address.port, address.host);
  socket.write(said);
  let heard = '';
  for await (const bytes of socket) heard += String(bytes);
  return heard;
}

it('says nothing on a connection that was opened ahead and never used: a browser would take it for the answer to what it asks next', async () => {
  expect(await heardAfter('')).toBe('');
});

it('answers 408 where the head of a request does not come to its end, which browsers send again', async () => {
  expect(await heardAfter('GET / HTTP/1.1\r\nHost: a\r\n')).toMatch(/^HTTP\/1\.1 408 Request Timeout\r\n/);
});

it('answers 400 to what is no HTTP, and 431 to a head that is too long', async () => {
  expect(await heardAfter('nonsense\r\n\r\n')).toMatch(/^HTTP\/1\.1 400 Bad Request\r\n/);
  await close();
  const long = `GET / HTTP/1.1\r\nX-Long: ${'x'.repeat(100_000)}\r\n`;
  expect(await heardAfter(long)).toMatch(/^HTTP\/1\.1 431 /);
});

it('cuts off what became of a request when its time is over, also where that is no HTTP any more', async () => {
  const taken = Promise.withResolvers<void>();
  const handlers = {
    request: () => {},
    upgrade() {
      taken.resolve();
      return true;
    },
  };
  const listen = { host: '127.0.0.1', port: 0 };
  const { server, address } = await listenOnTcp(handlers, listen, new TrustedProxies([]));
  close = () => closeServer(server, 0);
  const socket = connect(address.port, address.host);
  const ended = once(socket, 'close');
  socket.write('GET / HTTP/1.1\r\nHost: a\r\nConnection: upgrade\r\nUpgrade: other\r\n\r\n');
  await taken.promise;
  await close();
  await ended;
});
