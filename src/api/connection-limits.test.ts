import { createServer, request } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { afterEach, expect, it } from 'vitest';
import { TrustedProxies } from '../lib/trusted-proxies.ts';
import { limitConnections } from './connection-limits.ts';

const undo: (() => void)[] = [];
afterEach(() => {
  for (const step of undo.splice(0).reverse()) step();
});

it('silent connections make room for requests, and requests for nobody', async () => {
  const server = createServer();
  limitConnections(server, new TrustedProxies([]), { most: 20, mostPerAddress: 10 });
  let release = (): void => {};
  server.on('request', ({ url }, response) => {
    if (url === '/slow') release = () => response.end('late');
    else response.end('at once');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  undo.push(
    () => void server.close(),
    () => server.closeAllConnections(),
  );
  const { port } = server.address() as AddressInfo;
  const ask = (path: string): Promise<string> =>
    new Promise((resolve, reject) => {
      const sent = request({ port, host: '127.0.0.1', path, agent: false }, (response) => {
        let text = '';
        response.on('data', (chunk: Buffer) => (text += chunk.toString()));
        response.on('end', () => resolve(text));
      });
      sent.on('error', reject).end();
    });

  const slow = ask('/slow');
  await expect.poll(() => release.toString().includes('late')).toBe(true);
  const silent: Socket[] = [];
  let closed = 0;
  for (let n = 0; n < 30; n++) {
    const socket = connect({ port, host: '127.0.0.1' });
    socket.on('error', () => {}).resume();
    socket.once('close', () => closed++);
    undo.push(() => void socket.destroy());
    silent.push(socket);
  }
  // Nine are left beside the slow request; another request takes the place of one of them.
  await expect.poll(() => closed).toBe(21);
  expect(await ask('/')).toBe('at once');
  release();
  expect(await slow).toBe('late');
});

it('a connection that has offered another protocol waits like others once it is answered', async () => {
  const server = createServer();
  limitConnections(server, new TrustedProxies([]), { most: 20, mostPerAddress: 1 });
  server.on('request', (_, response) => response.end('plain'));
  server.on('upgrade', (_, socket) => {
    socket.unshift(Buffer.from('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n'));
    server.emit('connection', socket);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  undo.push(
    () => void server.close(),
    () => server.closeAllConnections(),
  );
  const { port } = server.address() as AddressInfo;
  const open = (): { text: string; isClosed: boolean; socket: Socket } => {
    const client = { text: '', isClosed: false, socket: connect({ port, host: '127.0.0.1' }) };
    client.socket.on('error', () => {}).on('data', (chunk: Buffer) => (client.text += chunk.toString()));
    client.socket.once('close', () => (client.isClosed = true));
    undo.push(() => void client.socket.destroy());
    return client;
  };
  const first = open();
  first.socket.write('GET / HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n');
  await expect.poll(() => first.text).toMatch(/plain$/);
  const second = open();
  await expect.poll(() => first.isClosed).toBe(true);
  second.socket.write('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n');
  await expect.poll(() => second.text).toMatch(/plain$/);
});
