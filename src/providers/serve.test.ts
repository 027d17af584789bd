import { createConnection } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { until } from '../../test/support/until.ts';
import { request, type HttpAnswer } from '../../test/support/world.ts';
import { ProviderError, type ProviderHandlers, unknownInstance } from './contract.ts';
import { type RunningProvider, type ServeOptions, serveProvider } from './serve.ts';

const AUTH = `Basic ${Buffer.from('service:pass:word').toString('base64')}`;
const FORM = { authorization: AUTH, 'content-type': 'application/x-www-form-urlencoded' };

let running: RunningProvider | null = null;
let lines: string[] = [];
afterEach(async () => {
  await running?.stop();
  [running, lines] = [null, []];
});

/** Handlers that record what they were asked and do nothing else. */
function recording(more: Partial<ProviderHandlers> = {}): { asked: unknown[]; handlers: ProviderHandlers } {
  const asked: unknown[] = [];
  const note =
    (operation: string) =>
    async (given: unknown): Promise<void> =>
      void asked.push([operation, given]);
  const handlers: ProviderHandlers = {
    plans: async () => [{ name: 'small', description: 'Small' }],
    create: note('create'),
    info: async (instance) => (await note('info')(instance), [{ label: 'Size', value: '1 kB' }]),
    status: async () => 'up',
    bind: async (given) => (await note('bind')(given), { URL: 'x://y' }),
    unbind: note('unbind'),
    remove: note('remove'),
    ...more,
  };
  return { asked, handlers };
}

async function start(handlers: ProviderHandlers, more: Partial<ServeOptions> = {}): Promise<string> {
  const place = {
    host: '127.0.0.1',
    port: 0,
    username: 'service',
    password: 'pass:word',
    log: (l: string) => lines.push(l),
  };
  running = await serveProvider({ ...place, handlers, ...more });
  return running.url;
}

type Sent = { body?: string; headers?: Record<string, string> };
const send = (url: string, method: string, path: string, { body, headers }: Sent = {}): Promise<HttpAnswer> =>
  request(url, method, path, { headers: { ...FORM, ...headers }, ...(body === undefined ? {} : { body }) });

describe('who is let in', () => {
  it.each<[string, string | undefined]>([
    ['nobody without credentials', undefined],
    ['no other scheme', 'bearer pass:word'],
    ['no wrong password', `Basic ${Buffer.from('service:wrong').toString('base64')}`],
    ['no wrong name', `Basic ${Buffer.from('other:pass:word').toString('base64')}`],
    ['nothing that is not encoded', 'Basic service:pass:word'],
  ])('%s', async (_, authorization) => {
    const { asked, handlers } = recording();
    const url = await start(handlers);
    for (const [method, path] of [
      ['GET', '/resources/plans'],
      ['POST', '/resources'],
      ['GET', '/nowhere'],
    ] as const) {
      const headers = authorization === undefined ? {} : { authorization };
      const answer = await request(url, method, path, { headers, ...(method === 'POST' ? { body: 'name=x' } : {}) });
      expect([answer.status, answer.headers['www-authenticate']]).toEqual([401, 'Basic realm="provider"']);
    }
    expect(asked).toEqual([]);
  });

  it('is known by name and password', async () => {
    const url = await start(recording().handlers);
    expect((await send(url, 'GET', '/resources/plans')).json()).toEqual([{ name: 'small', description: 'Small' }]);
  });
});

describe('calls', () => {
  it('reach the handlers with their fields', async () => {
    const { asked, handlers } = recording();
    const url = await start(handlers);
    const key = { 'idempotency-key': 'k1', 'x-tancho-instance-id': 'i1', 'x-tancho-binding-id': 'b1' };
    const created = await send(url, 'POST', '/resources', {
      body: 'name=my+db&plan=small&team=red&user=ann%40example.com&tags=a&tags=b&parameters.seed=1',
      headers: key,
    });
    expect([created.status, created.text]).toEqual([201, '']);
    const fields = new Map([
      ['name', ['my db']],
      ['plan', ['small']],
      ['team', ['red']],
      ['user', ['ann@example.com']],
      ['tags', ['a', 'b']],
      ['parameters.seed', ['1']],
    ]);
    const made = {
      instance: 'my db',
      plan: 'small',
      team: 'red',
      user: 'ann@example.com',
      idempotencyKey: 'k1',
      instanceId: 'i1',
      bindingId: 'b1',
      fields,
    };
    expect(asked).toEqual([['create', made]]);
    const bound = await send(url, 'POST', '/resources/my%20db/bind-app', { body: 'app-host=shop.example.com' });
    expect([bound.status, bound.json()]).toEqual([201, { URL: 'x://y' }]);
    expect(bound.headers['cache-control']).toBe('no-store');
    expect(asked[1]).toMatchObject(['bind', { instance: 'my db', app: 'shop.example.com', idempotencyKey: '' }]);
  });

  it.each([
    ['in the query', '?app-host=shop.example.com', undefined],
    ['in the form', '', 'app-host=shop.example.com'],
    ['in both', '?app-host=shop.example.com', 'app-host=shop.example.com'],
  ])('DELETE with parameters %s', async (_, query, body) => {
    const { asked, handlers } = recording();
    const url = await start(handlers);
    const answer = await send(url, 'DELETE', `/resources/x/bind-app${query}`, body === undefined ? {} : { body });
    expect(answer.status).toBe(200);
    expect(asked).toMatchObject([['unbind', { instance: 'x', app: 'shop.example.com' }]]);
  });

  it.each([
    ['up', 204],
    ['pending', 202],
    ['down', 500],
  ] as const)('the status %s is %i', async (status, expected) => {
    const url = await start(recording({ status: async () => status }).handlers);
    expect((await send(url, 'GET', '/resources/x/status')).status).toBe(expected);
  });

  it('about units are fine without a handler, but for an unknown instance', async () => {
    const status = async (instance: string) => {
      if (instance !== 'x') throw unknownInstance(instance);
      return 'up' as const;
    };
    const url = await start(recording({ status }).handlers);
    const body = 'app-host=a.example.com&unit-host=127.0.0.1%3A4000';
    expect((await send(url, 'POST', '/resources/x/bind', { body })).status).toBe(201);
    expect((await send(url, 'DELETE', '/resources/x/bind', { body })).status).toBe(200);
    expect((await send(url, 'POST', '/resources/x/bind', { body: 'app-host=a.example.com' })).status).toBe(400);
    expect((await send(url, 'POST', '/resources/y/bind', { body: 'app-host=a.example.com' })).status).toBe(404);
  });
});

describe('what is refused', () => {
  it.each<[string, string, string, Sent, number]>([
    ['an unknown path', 'GET', '/other', {}, 404],
    ['a wrong method', 'PUT', '/resources/x', { body: '' }, 405],
    ['no name', 'POST', '/resources', { body: 'team=red' }, 400],
    ['the name plans', 'POST', '/resources', { body: 'name=plans' }, 400],
    ['a name with a slash', 'POST', '/resources', { body: 'name=a%2Fb' }, 400],
    ['a name with a NUL', 'POST', '/resources', { body: 'name=a%00b' }, 400],
    ['a name that is too long', 'POST', '/resources', { body: `name=${'x'.repeat(256)}` }, 400],
    ['a path that is wrongly encoded', 'GET', '/resources/%zz', {}, 400],
    ['no app', 'POST', '/resources/x/bind-app', { body: '' }, 400],
    ['JSON', 'POST', '/resources', { body: '{}', headers: { 'content-type': 'application/json' } }, 415],
    ['a body that is too long', 'POST', '/resources', { body: `name=${'x'.repeat(70_000)}` }, 413],
    ['too many fields', 'POST', '/resources', { body: 'a=1&'.repeat(501) }, 400],
  ])('%s', async (_, method, path, sent, status) => {
    const { asked, handlers } = recording();
    const url = await start(handlers);
    const answer = await send(url, method, path, sent);
    expect([answer.status, answer.text.length > 0, asked]).toEqual([status, true, []]);
  });

  it('a long body without a length', async () => {
    const url = new URL(await start(recording().handlers));
    const socket = createConnection(Number(url.port), url.hostname);
    socket.on('error', () => undefined);
    let text = '';
    socket.on('data', (data: Buffer) => (text += data.toString()));
    socket.write(`POST /resources HTTP/1.1\r\nHost: x\r\nAuthorization: ${AUTH}\r\nTransfer-Encoding: chunked\r\n\r\n`);
    for (let piece = 0; piece < 10; piece += 1) socket.write(`4000\r\n${'x'.repeat(0x4000)}\r\n`);
    await new Promise((resolve) => socket.once('close', resolve));
    expect(text).toMatch(/^HTTP\/1.1 413 /);
  });

  it.each([
    [new ProviderError('invalid', 'no such plan'), 400],
    [new ProviderError('unknown_instance', 'no such instance'), 404],
    [new ProviderError('exists', 'there already'), 409],
    [new ProviderError('not_ready', 'later'), 412],
    [new ProviderError('unavailable', 'away'), 503],
  ])('by the handler: %s', async (error, status) => {
    const url = await start(recording({ create: () => Promise.reject(error) }).handlers);
    const answer = await send(url, 'POST', '/resources', { body: 'name=x' });
    expect([answer.status, answer.text]).toEqual([status, `${error.message}\n`]);
  });

  it('a fault keeps its text to the log', async () => {
    const url = await start(recording({ create: () => Promise.reject(new Error('secret detail')) }).handlers);
    const answer = await send(url, 'POST', '/resources', { body: 'name=x' });
    expect(answer.status).toBe(500);
    expect(answer.text).not.toContain('secret');
    expect(lines.join('\n')).toContain('POST /resources: Error: secret detail');
  });
});

describe('repeats', () => {
  it('of a step that still runs wait for its end', async () => {
    let release = (): void => {};
    const gate = new Promise<void>((resolve) => (release = resolve));
    let count = 0;
    const bind = async () => {
      count += 1;
      await gate;
      return { N: String(count) };
    };
    const url = await start(recording({ bind }).handlers);
    const step = (key: string) =>
      send(url, 'POST', '/resources/x/bind-app', {
        body: 'app-host=a.example.com',
        headers: { 'idempotency-key': key },
      });
    const both = [step('k'), step('k')];
    await until(() => count > 0, { what: 'the first attempt' });
    // What is asked later is answered: the second attempt has come as well.
    for (let n = 0; n < 3; n++) expect((await send(url, 'GET', '/resources/plans')).status).toBe(200);
    release();
    for (const answer of await Promise.all(both)) expect(answer.json()).toEqual({ N: '1' });
    expect((await step('k')).json()).toEqual({ N: '2' });
  });

  it('of a failure are new attempts, and without a key everything is one', async () => {
    let count = 0;
    const create = async () => {
      count += 1;
      if (count === 1) throw new Error('the first time');
    };
    const url = await start(recording({ create }).handlers);
    const step = (headers: Record<string, string>) => send(url, 'POST', '/resources', { body: 'name=x', headers });
    expect((await step({ 'idempotency-key': 'k' })).status).toBe(500);
    expect((await step({ 'idempotency-key': 'k' })).status).toBe(201);
    await step({});
    await step({});
    expect(count).toBe(4);
  });

  it('join what takes longer than a caller waits', async () => {
    let release = (): void => {};
    const gate = new Promise<void>((resolve) => (release = resolve));
    const url = await start(recording({ remove: () => gate }).handlers, { callMs: 50 });
    const step = () => send(url, 'DELETE', '/resources/x', { headers: { 'idempotency-key': 'k' } });
    expect((await step()).status).toBe(503);
    release();
    expect((await step()).status).toBe(200);
  });
});

it('logs calls without their parameters', async () => {
  const url = await start(recording().handlers);
  await send(url, 'DELETE', '/resources/x/bind-app?app-host=a.example.com&secret=hunter2');
  await until(() => lines.length > 0, { what: 'a line' });
  expect(lines.join('\n')).toMatch(/^DELETE \/resources\/x\/bind-app 200 \d+ ms$/);
});

it('a stop lets calls that run come to their end', async () => {
  let release = (): void => {};
  let begun = false;
  const create = () => {
    begun = true;
    return new Promise<void>((resolve) => (release = resolve));
  };
  const url = await start(recording({ create }).handlers);
  const answer = send(url, 'POST', '/resources', { body: 'name=x', headers: { connection: 'close' } });
  await until(() => begun, { what: 'the call' });
  const stopped = running?.stop();
  release();
  expect((await answer).status).toBe(201);
  await stopped;
  await expect(send(url, 'GET', '/resources/plans')).rejects.toThrow(/ECONNREFUSED/);
});
