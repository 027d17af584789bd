/** Readers whose connections are cut again and again see every entry once and in order, by either way of following. */
import { get, type IncomingMessage } from 'node:http';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { followLog } from '../../src/cli/apps/follow-log.ts';
import { createClient } from '../../src/client/client.ts';
import { type DomainApi, startDomainApi } from '../support/domain-api.ts';
import { ADMIN } from '../support/memory-api.ts';

const COUNT = 200;
/** The first answer is cut after so much, in the middle of whatever is sent then; each later one may be twice as long. */
const CUT_AFTER_BYTES = 4_000;

let api: DomainApi;
let token: string;
let proxy: Server;
let cuts: number;
let stop: AbortController;
const sockets = new Set<Socket>();

beforeEach(async () => {
  stop = new AbortController();
  cuts = 0;
  api = await startDomainApi();
  await api.world.createApp('shop');
  token = await createClient({ baseUrl: api.baseUrl }).users.login(ADMIN.email, ADMIN.password);
  proxy = createServer((client) => pass(client, Number(new URL(api.baseUrl).port)));
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
});
afterEach(async () => {
  stop.abort();
  for (const socket of sockets) socket.destroy();
  await new Promise((resolve) => proxy.close(resolve));
  await api.dispose();
});

function pass(client: Socket, port: number): void {
  const server = connect({ host: '127.0.0.1', port });
  let answered = 0;
  for (const socket of [client, server]) {
    sockets.add(socket);
    socket.on('error', () => {});
    socket.on('close', () => sockets.delete(socket));
  }
  client.on('close', () => server.destroy());
  client.pipe(server);
  const most = CUT_AFTER_BYTES * 2 ** cuts;
  server.on('data', (bytes: Buffer) => {
    const isWhole = answered + bytes.length <= most;
    client[isWhole ? 'write' : 'end'](bytes.subarray(0, most - answered));
    answered += bytes.length;
    if (isWhole) return;
    cuts += 1;
    server.destroy();
  });
}

const proxyUrl = (): string => `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
const expected = Array.from({ length: COUNT }, (_, n) => `${n}`);

async function append(from: number, to: number): Promise<void> {
  for (let n = from; n < to; n++) await api.world.parts.journal.note('shop', `${n}`, 'web');
}

it('over the published way, by the command line', async () => {
  await append(0, 10);
  const client = createClient({ baseUrl: proxyUrl() }, token);
  const seen: string[] = [];
  let writing: Promise<void> | null = null;
  const query = { lines: 0, source: 'web' };
  for await (const batch of followLog(client, 'shop', query, { signal: stop.signal, onLost: () => {} })) {
    // Not before the first batch: a follower that has seen nothing yet fails when it is cut off.
    writing ??= append(10, COUNT);
    seen.push(...batch.map(({ Message }) => Message));
    if (seen.length >= COUNT) break;
  }
  await writing;
  expect(seen).toEqual(expected);
  expect(cuts).toBeGreaterThan(1);
});

it('over Server-Sent Events, by the id of the last event', async () => {
  await append(0, 50);
  const writing = append(50, COUNT);
  const seen: string[] = [];
  let lastId = '';
  while (seen.length < COUNT) {
    for await (const { id, data } of eventsOf(await openEvents(lastId))) {
      seen.push((JSON.parse(data) as { Message: string }).Message);
      lastId = id;
      if (seen.length >= COUNT) break;
    }
  }
  await writing;
  expect(seen).toEqual(expected);
  expect(cuts).toBeGreaterThan(1);
});

it('over a websocket, by the cursor of the last entry', async () => {
  await append(0, 50);
  const writing = append(50, COUNT);
  const seen: string[] = [];
  let after = '';
  while (seen.length < COUNT) {
    for (const { Message, Cursor } of await messagesOf(
      openSocket(`lines=0&source=web&after=${after}`),
      COUNT - seen.length,
    )) {
      seen.push(Message);
      after = Cursor;
    }
  }
  await writing;
  expect(seen).toEqual(expected);
  expect(cuts).toBeGreaterThan(1);
});

it('over a websocket in the shape of their variant, until the app is gone', async () => {
  await append(0, 2);
  for (const [path, fields] of [
    ['/apps/shop/log', ['Date', 'Message', 'Source', 'AppName', 'Unit', 'Cursor']],
    ['/b/apps/shop/logs', ['Date', 'Message', 'Source', 'AppName', 'Unit']],
  ] as const) {
    const socket = openSocket('lines=2', `${api.baseUrl}${path}`);
    expect((await messagesOf(socket, 2)).map((entry) => Object.keys(entry))).toEqual([fields, fields]);
  }
  const socket = openSocket('lines=2', `${api.baseUrl}/apps/shop/log`);
  await messagesOf(socket, 2, false);
  const closed = new Promise<number>((resolve) => socket.once('close', resolve));
  await fetch(`${api.baseUrl}/apps/shop`, { method: 'DELETE', headers: { authorization: token } });
  expect(await closed).toBe(1000);
});

it('over a websocket are refused by an ordinary answer', async () => {
  for (const [query, authorization, status] of [
    ['', token, 400],
    ['lines=1&after=x', token, 400],
    ['lines=1&until=1m', token, 400],
    ['lines=1', 'wrong', 401],
  ] as const) {
    const socket = openSocket(query, `${api.baseUrl}/apps/shop/log`, authorization);
    const answer = await new Promise<IncomingMessage>((resolve) =>
      socket.once('unexpected-response', (_, got) => resolve(got)),
    );
    expect(answer.statusCode, query).toBe(status);
    answer.destroy();
  }
});

it('of either variant are events of its own shape, and JSON has the cursor in the union alone', async () => {
  await append(0, 2);
  for (const [path, fields] of [
    ['/apps/shop/log', ['Date', 'Message', 'Source', 'AppName', 'Unit', 'Cursor']],
    ['/a/apps/shop/log', ['Date', 'Message', 'Source', 'AppName', 'Unit']],
    ['/b/apps/shop/logs', ['Date', 'Message', 'Source', 'AppName', 'Unit']],
  ] as const) {
    const headers = { authorization: token };
    const entries = (await (await fetch(`${api.baseUrl}${path}?lines=2`, { headers })).json()) as object[];
    expect(entries.map((entry) => Object.keys(entry))).toEqual([fields, fields]);
    const answer = await openEvents('', `${api.baseUrl}${path}`);
    expect(answer.headers).toMatchObject({ 'content-type': 'text/event-stream; charset=utf-8' });
    for await (const { data } of eventsOf(answer)) {
      expect(Object.keys(JSON.parse(data) as object)).toEqual(fields);
      break;
    }
  }
});

it('that ask for what there is not are refused with words', async () => {
  for (const wrong of ['after=x', 'since=1', 'search=(&regexp=1', 'regexp=maybe', 'until=1m&follow=1']) {
    const answer = await fetch(`${api.baseUrl}/apps/shop/log?lines=1&${wrong}`, { headers: { authorization: token } });
    expect([answer.status, answer.headers.get('x-tancho-error')], wrong).toEqual([400, 'input.invalid']);
  }
});

interface Entry {
  readonly Message: string;
  readonly Cursor: string;
}

function openSocket(query: string, url = `${proxyUrl()}/apps/shop/log`, authorization = token): WebSocket {
  const socket = new WebSocket(`${url.replace('http', 'ws')}?${query}`, { headers: { authorization } });
  return socket.on('error', () => {});
}

/** So many, or fewer where it is closed before. */
function messagesOf(socket: WebSocket, most: number, isLast = true): Promise<Entry[]> {
  return new Promise((resolve) => {
    const found: Entry[] = [];
    const over = (): void => {
      resolve(found);
      if (isLast) socket.terminate();
    };
    socket.once('close', over);
    socket.on('message', (data: Buffer) => {
      found.push(...(JSON.parse(data.toString()) as Entry[]));
      if (found.length >= most) over();
    });
  });
}

function openEvents(lastEventId: string, url = `${proxyUrl()}/apps/shop/log`): Promise<IncomingMessage> {
  const headers = { authorization: token, accept: 'text/event-stream', 'last-event-id': lastEventId };
  return new Promise((resolve, reject) => {
    get(`${url}?lines=0&source=web`, { headers, agent: false, signal: stop.signal }, resolve).on('error', reject);
  });
}

/** Whole events; what was cut off is none. */
async function* eventsOf(answer: IncomingMessage): AsyncGenerator<{ id: string; data: string }> {
  let rest = '';
  try {
    for await (const chunk of answer.setEncoding('utf8') as AsyncIterable<string>) {
      const blocks = (rest + chunk).split('\n\n');
      rest = blocks.pop() ?? '';
      for (const block of blocks) {
        const [, id = ''] = /^id: (.*)$/m.exec(block) ?? [];
        const [, data = ''] = /^data: (.*)$/m.exec(block) ?? [];
        if (data !== '') yield { id, data };
      }
    }
  } catch {
    // The connection was cut.
  }
}
