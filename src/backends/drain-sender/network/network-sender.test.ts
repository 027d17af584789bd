import { createServer as createHttpServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { type AddressInfo, createServer as createTcpServer, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { expect, it } from 'vitest';
import { testCertificate } from '../../../../test/support/test-certificates.ts';
import { checkTarget } from '../../../domain/drains/drain.ts';
import { DeliveryFailure } from '../../../domain/drains/drain-sender.ts';
import type { LogEntry } from '../../../domain/logs/entry.ts';
import { createAddressGuard } from '../../../lib/guarded/address-guard.ts';
import { createNetworkSender, type NetworkSenderOptions } from './network-sender.ts';

const LINE: LogEntry = {
  seq: 7,
  at: '2026-03-04T05:06:07.089Z',
  app: 'shop',
  source: 'web',
  unit: 'shop/0',
  unitId: 'aaaaaaaaaaaa',
  release: 3,
  message: 'grüße "you"',
};
const LINES: LogEntry[] = [
  LINE,
  { ...LINE, seq: 8 },
  { ...LINE, seq: 9, source: 'worker', unit: 'shop/1', message: '' },
];
const never = new AbortController().signal;

interface Target {
  readonly url: string;
  readonly format?: string;
  readonly headers?: Record<string, string>;
}

function send({ url, format = '', headers = {} }: Target, options: Partial<NetworkSenderOptions> = {}) {
  const guard = createAddressGuard({ allow: [], allowLoopback: true, ownPorts: () => [] });
  return createNetworkSender({ guard, ...options }).send(checkTarget({ url, format, headers }), LINES, never);
}

async function listening<T>(server: Server, run: (port: number) => Promise<T>): Promise<T> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  try {
    return await run((server.address() as AddressInfo).port);
  } finally {
    await new Promise((resolve) => server.close(resolve));
  }
}

async function posted(format: string): Promise<{ head: IncomingMessage; body: string; answer: string }> {
  let head: IncomingMessage | undefined;
  let body = '';
  const server = createHttpServer((request, response) => {
    head = request;
    request.on('data', (part: Buffer) => (body += part.toString()));
    request.on('end', () => response.writeHead(202).end('thank you'));
  });
  const answer = await listening(server, (port) =>
    send({ url: `http://127.0.0.1:${port}/in`, format, headers: { Authorization: 'Bearer secret-token' } }),
  );
  if (head === undefined) throw new Error('nothing was asked');
  return { head, body, answer };
}

it('sends JSON lines, with the headers of the drain', async () => {
  const { head, body, answer } = await posted('ndjson');
  expect(answer).toBe('202 Accepted: thank you');
  expect([head.method, head.url]).toEqual(['POST', '/in']);
  expect(head.headers).toMatchObject({ authorization: 'Bearer secret-token', 'content-type': 'application/x-ndjson' });
  const lines = body
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>);
  expect(lines).toHaveLength(3);
  expect(lines[0]).toEqual({
    ...{ time: LINE.at, app: 'shop', source: 'web', unit: 'shop/0', unit_id: 'aaaaaaaaaaaa', release: 3 },
    ...{ message: 'grüße "you"', cursor: 'c7' },
  });
});

it('sends what Loki takes, with equal lines kept apart', async () => {
  const { body } = await posted('loki');
  const first = `${Date.parse(LINE.at)}000007`;
  expect(JSON.parse(body)).toEqual({
    streams: [
      {
        stream: { app: 'shop', source: 'web', unit: 'shop/0' },
        values: [
          [first, LINE.message],
          [`${Date.parse(LINE.at)}000008`, LINE.message],
        ],
      },
      {
        stream: { app: 'shop', source: 'worker', unit: 'shop/1' },
        values: [[`${Date.parse(LINE.at)}000009`, '']],
      },
    ],
  });
});

it('sends OTLP in JSON, a resource per unit', async () => {
  const { head, body } = await posted('otlp');
  expect(head.headers['content-type']).toBe('application/json');
  const { resourceLogs } = JSON.parse(body) as {
    resourceLogs: { resource: { attributes: object[] }; scopeLogs: { logRecords: object[] }[] }[];
  };
  expect(resourceLogs).toHaveLength(2);
  expect(resourceLogs[0]?.resource.attributes).toContainEqual({ key: 'service.name', value: { stringValue: 'shop' } });
  expect(resourceLogs[0]?.scopeLogs[0]?.logRecords[0]).toMatchObject({
    timeUnixNano: `${Date.parse(LINE.at)}000000`,
    body: { stringValue: LINE.message },
  });
});

it.each([
  [401, 'later'],
  [503, 'later'],
  [307, 'later'],
  [400, 'refused'],
  [413, 'too_large'],
] as const)('%i means %s, in words without the secrets that were sent', async (status, problem) => {
  let asked = 0;
  const server = createHttpServer((request: IncomingMessage, response: ServerResponse) => {
    asked += 1;
    request.resume();
    response.writeHead(status, { 'retry-after': '7', location: '/elsewhere' });
    response.end(`no: ${request.headers.authorization} at ${request.url}`);
  });
  await listening(server, async (port) => {
    const url = `http://127.0.0.1:${port}/0123456789abcdef0123?key=secret-query`;
    const failure = await send({ url, headers: { authorization: 'Bearer secret-token' } }).catch((e: unknown) => e);
    expect(failure).toBeInstanceOf(DeliveryFailure);
    expect(failure).toMatchObject({ problem, retryAfterMs: 7_000 });
    const { message } = failure as Error;
    expect(message).toContain(`The receiver answered ${status}`);
    expect(message).not.toMatch(/secret|0123456789abcdef/);
  });
  expect(asked).toBe(1);
});

it('says in words that nobody listens, and that an address is none to be called', async () => {
  const port = await listening(createTcpServer(), async (free) => free);
  const nobody = { problem: 'later', message: 'Nobody listens at the address of the receiver.' };
  await expect(send({ url: `http://127.0.0.1:${port}/` })).rejects.toMatchObject(nobody);
  await expect(send({ url: `syslog://127.0.0.1:${port}` })).rejects.toMatchObject(nobody);
  const nowhere = createAddressGuard({
    ...{ allow: [], allowLoopback: true, ownPorts: () => [] },
    resolve: async () => [],
  });
  for (const url of ['https://logs.example.com/', 'syslog://logs.example.com']) {
    await expect(send({ url }, { guard: nowhere }), url).rejects.toThrow(
      /(^|: )The name logs\.example\.com has no address\.$/,
    );
  }
  const guard = createAddressGuard({ allow: [], allowLoopback: false, ownPorts: () => [] });
  for (const url of [`http://127.0.0.1:${port}/`, `syslog://127.0.0.1:${port}`, 'syslog://0x7f.1:514']) {
    await expect(send({ url }, { guard })).rejects.toThrow('may not be called');
  }
});

/** The frames that one connection carried, by their counts. */
function frames(bytes: Buffer): string[] {
  const found: string[] = [];
  for (let at = 0; at < bytes.length;) {
    const space = bytes.indexOf(' ', at);
    const length = Number(bytes.toString('latin1', at, space));
    found.push(bytes.toString('utf8', space + 1, space + 1 + length));
    at = space + 1 + length;
  }
  return found;
}

function collecting(onConnection: (listener: (socket: Socket) => void) => Server): { server: Server; bytes(): Buffer } {
  const parts: Buffer[] = [];
  const server = onConnection((socket) => {
    socket.on('error', () => undefined);
    socket.on('data', (part: Buffer) => parts.push(part));
  });
  return { server, bytes: () => Buffer.concat(parts) };
}

it('sends octet-counted syslog over TCP', async () => {
  const { server, bytes } = collecting((listener) => createTcpServer(listener));
  const answer = await listening(server, (port) => send({ url: `syslog://127.0.0.1:${port}` }));
  expect(answer).toBe('taken over TCP; syslog has no other answer');
  const found = frames(bytes());
  expect(found).toHaveLength(3);
  expect(found[0]).toMatch(/^<14>1 2026-03-04T05:06:07\.089Z \S+ shop shop\/0 web - grüße "you"$/);
  expect(found[2]).toMatch(/ shop\/1 worker - $/);
});

it('sends syslog over TLS to who has a certificate that is trusted, and to nobody else', async () => {
  const certificate = await testCertificate('localhost');
  const tls = { cert: certificate.chain, key: certificate.key };
  const { server, bytes } = collecting((listener) => createTlsServer(tls, listener));
  server.on('tlsClientError', () => undefined);
  const guard = createAddressGuard({
    ...{ allow: [], allowLoopback: true, ownPorts: () => [] },
    resolve: async () => [{ address: '127.0.0.1', family: 4 }],
  });
  await listening(server, async (port) => {
    const target = { url: `syslog+tls://localhost:${port}` };
    await expect(send(target, { guard })).rejects.toThrow('signed by nobody that this machine trusts');
    expect(bytes()).toHaveLength(0);
    expect(await send(target, { guard, roots: certificate.chain })).toContain('TLS');
    const other = { url: `syslog+tls://other.example.com:${port}` };
    await expect(send(other, { guard, roots: certificate.chain })).rejects.toThrow('is for another host');
  });
  expect(frames(bytes())).toHaveLength(3);
});

it('takes nothing for sent that a syslog receiver has not read to the end', async () => {
  const resetting = createTcpServer((socket) => {
    socket.on('error', () => undefined);
    socket.once('data', () => socket.resetAndDestroy());
  });
  await listening(resetting, async (port) => {
    await expect(send({ url: `syslog://127.0.0.1:${port}` })).rejects.toBeInstanceOf(DeliveryFailure);
  });
  const open: Socket[] = [];
  const silent = createTcpServer({ allowHalfOpen: true }, (socket) => {
    open.push(socket);
    socket.on('error', () => undefined).resume();
  });
  await listening(silent, async (port) => {
    const late = send({ url: `syslog://127.0.0.1:${port}` }, { timeoutMs: 300 });
    await expect(late).rejects.toThrow('did not take the lines, and close the connection after them, in time');
    for (const socket of open) socket.destroy();
  });
});
