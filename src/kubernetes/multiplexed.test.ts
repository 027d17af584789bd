import { createSecureServer, type Http2SecureServer, type ServerHttp2Stream } from 'node:http2';
import type { AddressInfo, Socket } from 'node:net';
import { afterEach, beforeAll, expect, it } from 'vitest';
import { testCertificate, type TestCertificate } from '../../test/support/test-certificates.ts';
import { KubernetesClient } from './client.ts';
import { isStatus } from './kubernetes-error.ts';
import type { ContainerLog } from './logs.ts';
import { ApiServer } from './testing/api-server.ts';

const FOLLOWED = 150;
const AT = '2026-03-04T05:06:07.000000000Z';
let certificate: TestCertificate;
const closes: (() => Promise<unknown>)[] = [];

beforeAll(async () => void (certificate = await testCertificate('localhost')));
afterEach(async () => {
  for (const close of closes.splice(0).reverse()) await close();
});

const clientOf = (port: number): KubernetesClient =>
  new KubernetesClient({
    cluster: {
      ...{ server: new URL(`https://localhost:${port}`), authorities: certificate.chain },
      ...{ isVerified: true, serverName: null },
    },
    ...{ namespace: 'apps', description: 'a server of logs', refused: () => {} },
    login: async () => ({ headers: { authorization: 'Bearer let-me-in' }, certificate: null }),
  });

interface LogServer {
  readonly client: KubernetesClient;
  readonly connections: ReadonlySet<Socket>;
  /** By name of the pod. */
  readonly streams: ReadonlyMap<string, ServerHttp2Stream>;
}

/** It answers each log with one line, and leaves it open; that of `silent` it does not answer. */
async function logServer(): Promise<LogServer> {
  const server: Http2SecureServer = createSecureServer({ cert: certificate.chain, key: certificate.key });
  const [connections, streams] = [new Set<Socket>(), new Map<string, ServerHttp2Stream>()];
  server.on('secureConnection', (socket: Socket) => connections.add(socket).size);
  server.on('stream', (stream, { ':path': path = '', authorization }) => {
    stream.on('error', () => {});
    const name = /pods\/([^/]+)\/log/.exec(path)?.[1] ?? '';
    streams.set(name, stream);
    if (name === 'silent') return;
    const isKnown = authorization === 'Bearer let-me-in' && name !== 'gone';
    stream.respond({ ':status': isKnown ? 200 : 404 });
    if (!isKnown) return void stream.end(JSON.stringify({ kind: 'Status', reason: 'NotFound', message: `no ${name}` }));
    stream.write(`${AT} of ${name}\n`);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const client = clientOf((server.address() as AddressInfo).port);
  closes.push(async () => {
    client.close();
    for (const socket of connections) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  });
  return { client, connections, streams };
}

const logOf = (client: KubernetesClient, name: string, signal = new AbortController().signal): ContainerLog =>
  client.log({ name, namespace: 'apps' }, { container: 'app', follow: true }, signal);

it('follows many logs over few connections, each to its own end', async () => {
  const { client, connections, streams } = await logServer();
  const names = Array.from({ length: FOLLOWED }, (_, index) => `pod-${index}`);
  const logs = names.map((name) => logOf(client, name));
  const first = await Promise.all(logs.map((log) => log.next()));
  expect(first.map(({ value }) => value?.map(({ text }) => text))).toEqual(names.map((name) => [`of ${name}`]));
  expect(connections.size).toBe(2);
  streams.get('pod-7')?.end(`${AT} and that was all\n`);
  expect(await logs[7]?.next()).toEqual({ done: false, value: [{ at: AT, text: 'and that was all' }] });
  expect((await logs[7]?.next())?.done).toBe(true);
  streams.get('pod-8')?.write(`${AT} more\n`);
  expect((await logs[8]?.next())?.value).toEqual([{ at: AT, text: 'more' }]);
});

it('ends a log that nobody wants any more on the server, and no other', async () => {
  const { client, streams } = await logServer();
  const stop = new AbortController();
  const [unwanted, wanted] = [logOf(client, 'unwanted', stop.signal), logOf(client, 'wanted')];
  await Promise.all([unwanted.next(), wanted.next()]);
  const gone = unwanted.next();
  stop.abort();
  await expect(gone).rejects.toThrow('not wanted');
  await expect.poll(() => streams.get('unwanted')?.closed).toBe(true);
  streams.get('wanted')?.write(`${AT} still here\n`);
  expect((await wanted.next()).value).toEqual([{ at: AT, text: 'still here' }]);
});

it('may be left at any moment: while it is being opened, or has just been refused', async () => {
  const { client, streams } = await logServer();
  const late = new AbortController();
  await expect(logOf(client, 'gone', late.signal).next()).rejects.toThrow('no gone');
  late.abort();
  const stop = new AbortController();
  const unwanted = logOf(client, 'silent', stop.signal).next();
  await expect.poll(() => streams.has('silent')).toBe(true);
  stop.abort();
  await expect(unwanted).rejects.toThrow();
  await expect.poll(() => streams.get('silent')?.closed).toBe(true);
  expect((await logOf(client, 'wanted').next()).value).toEqual([{ at: AT, text: 'of wanted' }]);
});

it('says what the server has refused, and breaks off with the connection', async () => {
  const { client, connections } = await logServer();
  const refused = await logOf(client, 'gone')
    .next()
    .catch((error: unknown) => error);
  expect(isStatus(refused, 404)).toBe(true);
  const log = logOf(client, 'pod');
  await log.next();
  for (const socket of connections) socket.destroy();
  await expect(log.next()).rejects.toThrow('broke off');
  expect((await logOf(client, 'pod').next()).value).toEqual([{ at: AT, text: 'of pod' }]);
});

it('gives up at once what is lost with its connection before it was answered', async () => {
  const { client, connections, streams } = await logServer();
  const unanswered = logOf(client, 'silent').next();
  await expect.poll(() => streams.has('silent')).toBe(true);
  for (const socket of connections) socket.destroy();
  await expect(unanswered).rejects.toThrow('before the answer');
  expect((await logOf(client, 'pod').next()).value).toEqual([{ at: AT, text: 'of pod' }]);
});

it('many that wait together are followed after those that are not answered, and leave when nobody wants them', async () => {
  const { client, streams } = await logServer();
  const stop = new AbortController();
  const oneOfMany = { container: 'app', follow: true, isOneOfMany: true };
  const manyOf = (name: string): Promise<unknown>[] =>
    Array.from({ length: 40 }, () => client.log({ name, namespace: 'apps' }, oneOfMany, stop.signal).next());
  const silent = Promise.allSettled(manyOf('silent'));
  expect(await Promise.all(manyOf('wanted'))).toHaveLength(40);
  streams.get('silent')?.respond({ ':status': 200 });
  streams.get('silent')?.write(`${AT} at last\n`);
  await expect.poll(() => streams.get('silent')?.headersSent).toBe(true);
  stop.abort();
  const ends = (await silent).map(({ status }) => status);
  expect(ends.filter((status) => status === 'rejected').length).toBeGreaterThanOrEqual(39);
});

it('follows logs of a server without HTTP/2 over connections of their own', async () => {
  const server = new ApiServer({
    tls: { cert: certificate.chain, key: certificate.key },
    nodes: {
      log: (_pod, _query, response) => void response.end(`${AT} as ever\n`),
      stats: () => ({}),
      exec: () => {},
    },
  });
  await server.start();
  server.store.create('pods', { metadata: { name: 'pod', namespace: 'apps' } });
  const client = new KubernetesClient(server.access());
  closes.push(async () => {
    client.close();
    await server.close();
  });
  const lines: string[] = [];
  for await (const part of logOf(client, 'pod')) lines.push(...part.map(({ text }) => text));
  expect(lines).toEqual(['as ever']);
});
