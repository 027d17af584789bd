import { createServer, type RequestListener, type Server } from 'node:http';
import { createServer as createTcpServer, type AddressInfo, type Server as TcpServer } from 'node:net';
import { afterEach, expect, it } from 'vitest';
import { createMachineProbe } from './machine-probe.ts';

const probe = createMachineProbe({ directory: import.meta.dirname });
/** One that gives up soon, for those who never answer. */
const hasty = createMachineProbe({ directory: import.meta.dirname, timeoutMs: 200 });
const servers: (Server | TcpServer)[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) {
    if ('closeAllConnections' in server) server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
});

async function listen(server: Server | TcpServer): Promise<number> {
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port;
}

const web = (listener: RequestListener): Promise<number> => listen(createServer(listener));

async function unusedPort(): Promise<number> {
  const server = createTcpServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

const ask = (port: number, using = probe) =>
  using.request({ to: `0.0.0.0:${port}`, host: 'shop.test', method: 'GET', path: '/x' });

it('says whether a port takes connections', async () => {
  expect(await probe.connect({ host: '127.0.0.1', port: await web(() => {}) })).toBe('');
  expect(await probe.connect({ host: '127.0.0.1', port: await unusedPort() })).toBe('refuses connections');
});

it('asks with the host and path of a visitor, and reports the status', async () => {
  const seen: string[] = [];
  const port = await web(({ headers, url }, response) => {
    seen.push(`${headers.host} ${url}`);
    response.writeHead(418).end('tea');
  });
  expect(await ask(port)).toEqual({
    kind: 'answered',
    status: 418,
    isRefusal: false,
    type: '',
    location: '',
    text: 'tea',
  });
  expect(seen).toEqual(['shop.test /x']);
});

it("knows the router's own pages", async () => {
  const port = await web((_, response) => {
    const page = '503 Service Unavailable\n\nrequest: abc\n';
    response.writeHead(503, { 'x-request-id': 'abc', 'content-length': page.length }).end(page);
  });
  expect(await ask(port)).toMatchObject({ kind: 'answered', status: 503, isRefusal: true });
});

it('takes the head of an answer that never ends for an answer', async () => {
  const port = await web((_, response) => void response.writeHead(200).write('data: 1\n\n'));
  const answer = await ask(port, hasty);
  expect(answer).toMatchObject({ kind: 'answered', status: 200, isRefusal: false, text: 'data: 1\n\n' });
});

it('reads no more of a body than shows what it is', async () => {
  const port = await web((_, response) => {
    response.writeHead(200, { 'content-type': 'Text/HTML; charset=utf-8', location: '/x' });
    const more = (): void => {
      while (!response.destroyed && response.write('x'.repeat(10_000)));
    };
    response.on('drain', more);
    more();
  });
  const answer = await ask(port);
  expect(answer).toMatchObject({ status: 200, type: 'text/html', location: '/x', text: 'x'.repeat(64 * 1024) });
});

it('distinguishes who takes no connection from who says nothing', async () => {
  expect(await ask(await unusedPort())).toEqual({
    kind: 'unreachable',
    why: 'refuses connections',
    isLate: false,
  });
  const silent = await web(() => {});
  expect(await ask(silent, hasty)).toMatchObject({ why: 'gave no answer within 0.2 seconds', isLate: true });
  const cut = await listen(createTcpServer((socket) => socket.once('data', () => socket.destroy())));
  expect(await ask(cut)).toMatchObject({ kind: 'silent' });
});

it('looks up names, and how much room there is', async () => {
  expect(await probe.resolves('localhost')).toBe(true);
  // Where no name server can be asked, the answer is not known; such a name is never found.
  expect(await probe.resolves('no-such-name.invalid')).not.toBe(true);
  const { freeBytes = -1, totalBytes = -1, freeFiles = -1, totalFiles = -1 } = (await probe.disk()) ?? {};
  expect(totalFiles).toBeGreaterThanOrEqual(freeFiles);
  expect(freeFiles).toBeGreaterThanOrEqual(0);
  expect(totalBytes).toBeGreaterThanOrEqual(freeBytes);
  expect(freeBytes).toBeGreaterThanOrEqual(0);
  expect(await createMachineProbe({ directory: '/no/such/directory' }).disk()).toBeNull();
});
