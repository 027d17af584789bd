import { mkdtemp, rename, rm, stat, writeFile } from 'node:fs/promises';
import { createServer, request as httpRequest, type IncomingMessage, type RequestOptions } from 'node:http';
import { type AddressInfo, connect, createServer as createSocketServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { login, somebodyWithApp, targetAt } from '../../test/contract/target.ts';
import { ADMIN, type MemoryApi, memoryUseCases, startMemoryApi } from '../../test/support/memory-api.ts';
import { PlatformError } from '../domain/errors.ts';
import type { Logger } from '../lib/logger.ts';
import { TrustedProxies } from '../lib/trusted-proxies.ts';

let home: string;
const started: MemoryApi[] = [];

beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'tancho-api-'));
});
afterEach(async () => {
  await Promise.all(started.splice(0).map(({ server }) => server.close()));
  await rm(home, { recursive: true });
});

async function start(options: Parameters<typeof startMemoryApi>[0] = {}): Promise<MemoryApi> {
  const api = await startMemoryApi(options);
  started.push(api);
  return api;
}

interface Line {
  readonly level: string;
  readonly fields: Record<string, unknown>;
}

function recorder(): { logger: Logger; lines: Line[] } {
  const lines: Line[] = [];
  const at = (level: string) => (fields: object) =>
    void lines.push({ level, fields: fields as Record<string, unknown> });
  return { logger: { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') }, lines };
}

interface Got {
  readonly status: number;
  readonly text: string;
}

function overSocket(socketPath: string, method: string, path: string, headers = {}, body = ''): Promise<Got> {
  return send({ socketPath, method, path, headers, agent: false }, body);
}

function send(options: RequestOptions, body: string): Promise<Got> {
  return new Promise((resolve, reject) => {
    const sent = httpRequest(options, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
      response.on('end', () => resolve({ status: response.statusCode ?? 0, text }));
    });
    sent.on('error', reject).end(body);
  });
}

async function appOf(api: MemoryApi): Promise<{ token: string; app: string }> {
  const target = await targetAt({ baseUrl: api.baseUrl, adminEmail: ADMIN.email, adminPassword: ADMIN.password });
  return somebodyWithApp(target, await login(target, ADMIN.email, ADMIN.password));
}

it('says what is wrong with a path that cannot be decoded, and logs it as every other request', async () => {
  const { logger, lines } = recorder();
  const { baseUrl } = await start({ logger });
  const answer = await fetch(`${baseUrl}/apps/%E0%A4%A`);
  expect([answer.status, answer.headers.get('x-tancho-error')]).toEqual([400, 'input.invalid']);
  expect(await answer.text()).toContain('"%25"');
  expect((await fetch(`${baseUrl}/apps/${'x'.repeat(1_025)}`)).status).toBe(400);
  await expect.poll(() => lines.filter(({ fields }) => fields['error'] === 'input.invalid').length).toBe(2);
});

it('refuses what a page of another site makes a browser send, also where the browser says no more than its origin', async () => {
  const { baseUrl, server } = await start();
  const { port } = server.address;
  const register = async (n: number, headers: Record<string, string>): Promise<number> => {
    const body = JSON.stringify({ email: `u${n}@example.com`, password: 'secret12' });
    const options = {
      port,
      host: '127.0.0.1',
      method: 'POST',
      path: '/users',
      headers: { 'content-type': 'text/plain', ...headers },
    };
    return (await send(options, body)).status;
  };
  for (const [n, headers] of [
    { 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'same-site' },
    { origin: 'http://other.example' },
    { origin: `http://127.0.0.1:${port + 1}` },
    { origin: 'null' },
  ].entries())
    expect(await register(n, headers), JSON.stringify(headers)).toBe(403);
  for (const [n, headers] of [
    {},
    { origin: baseUrl },
    { 'sec-fetch-site': 'same-origin', origin: 'https://behind.a.proxy' },
  ].entries())
    expect(await register(10 + n, headers), JSON.stringify(headers)).toBe(200);
});

it('registers those only who call this machine by its own name, where registration is for this machine', async () => {
  const { baseUrl } = await start({ registrationOpen: 'from-here' });
  const register = async (n: number, headers: Record<string, string>): Promise<number> => {
    const body = JSON.stringify({ email: `u${n}@example.com`, password: 'secret12' });
    const { port } = new URL(baseUrl);
    return (await send({ host: '127.0.0.1', port, method: 'POST', path: '/users', headers, agent: false }, body))
      .status;
  };
  expect(await register(1, {})).toBe(200);
  expect(await register(2, { host: 'localhost:8080' })).toBe(200);
  expect(await register(3, { host: 'rebound.example.com' })).toBe(403);
  expect(await register(4, { 'x-forwarded-for': '203.0.113.9' })).toBe(403);
  expect(await register(5, { 'x-forwarded-port': '443' })).toBe(403);
  expect(await register(6, { via: '1.1 front' })).toBe(403);
});

describe('the address of a caller', () => {
  /** What throttles and records get to know of requests that claim to come from a client. */
  const addressSeen = async (trustedProxies: readonly string[]): Promise<string> => {
    const { useCases } = memoryUseCases(() => new Date(), true);
    let seen = '';
    const login: typeof useCases.users.login = (email, password, address) => {
      seen = address;
      return useCases.users.login(email, password, address);
    };
    const users = { ...useCases.users, login };
    const { baseUrl } = await start({
      useCases: { ...useCases, users },
      trustedProxies: new TrustedProxies(trustedProxies),
    });
    const headers = { 'x-forwarded-for': '6.6.6.6, 203.0.113.9', 'content-type': 'application/json' };
    const body = JSON.stringify({ password: 'a wrong one' });
    const answer = await fetch(`${baseUrl}/users/nobody@example.com/tokens`, { method: 'POST', headers, body });
    expect(answer.ok).toBe(false);
    await answer.arrayBuffer();
    return seen;
  };

  it('is the one that a trusted proxy names', async () => {
    expect(await addressSeen(['127.0.0.0/8'])).toBe('203.0.113.9');
  });

  it('is the one that the edge names at its own door', async () => {
    const edgeDoor = join(home, 'edge-door.sock');
    const { useCases } = memoryUseCases(() => new Date(), true);
    let seen = '';
    const login: typeof useCases.users.login = (email, password, address) => {
      seen = address;
      return useCases.users.login(email, password, address);
    };
    await start({ useCases: { ...useCases, users: { ...useCases.users, login } }, edgeDoor });
    const headers = { 'x-forwarded-for': '203.0.113.9, 10.0.0.1', 'content-type': 'application/json' };
    const body = JSON.stringify({ password: 'a wrong one' });
    await overSocket(edgeDoor, 'POST', '/users/nobody@example.com/tokens', headers, body);
    expect(seen).toBe('203.0.113.9');
    expect((await overSocket(edgeDoor, 'GET', '/users/info')).status).toBe(401);
  });

  it('is that of the connection for everybody else, whatever they say', async () => {
    expect(await addressSeen([])).toBe('127.0.0.1');
    expect(await addressSeen(['192.0.2.1'])).toBe('127.0.0.1');
  });
});

describe('the unix socket', () => {
  it('belongs to its owner alone and speaks for the first admin', async () => {
    const socketPath = join(home, 'api.sock');
    await start({ socketPath, registrationOpen: false });
    expect(((await stat(socketPath)).mode & 0o777).toString(8)).toBe('600');
    const who = await overSocket(socketPath, 'GET', '/users/info');
    expect(JSON.parse(who.text)).toEqual({ Email: ADMIN.email, Teams: ['main'] });
    const account = JSON.stringify({ email: 'ann@example.com', password: 'secret12' });
    expect((await overSocket(socketPath, 'POST', '/users', {}, account)).status).toBe(200);
    const wrong = await overSocket(socketPath, 'GET', '/users/info', { authorization: 'bearer nonsense' });
    expect(wrong.status).toBe(401);
  });

  it('is never mistaken for it who sends over TCP and is gone before being looked at', async () => {
    const { baseUrl, server } = await start({ socketPath: join(home, 'api.sock'), registrationOpen: false });
    const body = JSON.stringify({ email: 'eve@example.com', password: 'secret12' });
    const head = `POST /users HTTP/1.1\r\nHost: x\r\nContent-Length: ${body.length}\r\n\r\n`;
    for (let i = 0; i < 20; i += 1) {
      await new Promise<void>((gone) => {
        const socket = connect(server.address.port, '127.0.0.1', () => {
          socket.write(head + body, () => socket.resetAndDestroy());
        });
        socket.on('error', () => {}).on('close', () => gone());
      });
    }
    const answer = await fetch(`${baseUrl}/users/eve@example.com/tokens`, { method: 'POST', body });
    expect(answer.status).toBe(404);
  });

  it('replaces one that nobody answers, but never a living one or another file', async () => {
    const socketPath = join(home, 'api.sock');
    const first = await start({ socketPath });
    await expect(start({ socketPath })).rejects.toMatchObject({ code: 'config.invalid' });
    await first.server.close();
    await leaveStaleSocket(socketPath);
    expect((await stat(socketPath)).isSocket()).toBe(true);
    await start({ socketPath });
    expect((await overSocket(socketPath, 'GET', '/healthcheck')).text).toBe('WORKING');
    const file = join(home, 'file');
    await writeFile(file, 'precious');
    await expect(start({ socketPath: file })).rejects.toMatchObject({ code: 'config.invalid' });
    await expect(start({ socketPath: join(home, 'x'.repeat(120)) })).rejects.toThrow('too long');
  });
});

/** A socket file as a killed server leaves it: renamed away from the listener that would remove it. */
async function leaveStaleSocket(path: string): Promise<void> {
  const server = createSocketServer();
  await new Promise<void>((listening) => server.listen(`${path}.old`, listening));
  await rename(`${path}.old`, path);
  await new Promise((closed) => server.close(closed));
}

describe('the server', () => {
  it('names the address and the setting when the port is taken', async () => {
    const other = createServer();
    await new Promise<void>((listening) => other.listen(0, '127.0.0.1', listening));
    const { port } = other.address() as AddressInfo;
    await expect(startMemoryApi({ listen: { host: '127.0.0.1', port } })).rejects.toMatchObject({
      code: 'config.invalid',
      message: expect.stringContaining(`127.0.0.1:${port}`) as string,
      hint: expect.stringContaining('TANCHO_API_LISTEN') as string,
    });
    await new Promise((closed) => other.close(closed));
  });

  it('is unwell until it is ready', async () => {
    let ready = false;
    const demandReady = async (): Promise<void> => {
      if (!ready) throw new PlatformError('unavailable', 'The database is out of reach.');
    };
    const { baseUrl } = await start({ ready: demandReady });
    expect((await fetch(`${baseUrl}/healthcheck`)).status).toBe(503);
    // By which Kubernetes sees that it is alive.
    expect((await fetch(`${baseUrl}/info`)).status).toBe(200);
    ready = true;
    const answer = await fetch(`${baseUrl}/healthcheck`);
    expect([answer.status, await answer.text()]).toEqual([200, 'WORKING']);
  });

  it('answers whoever comes during the start at once, at each of its doors, and serves them after it', async () => {
    const [socketPath, edgeDoor] = [join(home, 'api.sock'), join(home, 'edge-door.sock')];
    const { promise: opened, resolve } = Promise.withResolvers<void>();
    const { baseUrl, server } = await start({ socketPath, edgeDoor, opened });
    const answer = await fetch(`${baseUrl}/healthcheck`);
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '1']);
    expect(answer.headers.get('x-tancho-error')).toBe('unavailable');
    expect(await answer.text()).toBe('The server is starting.\nTry again in a moment.\n');
    const json = { accept: 'application/json' };
    const pushed = await fetch(`${baseUrl}/git/shop.git/x`, { method: 'POST', body: 'x'.repeat(1_000), headers: json });
    expect(await pushed.json()).toMatchObject({ status: 503, code: 'unavailable' });
    const offer = { connection: 'upgrade', upgrade: 'websocket', 'sec-websocket-version': '13' };
    const { port } = server.address;
    const statuses = async () => [
      (await overSocket(socketPath, 'GET', '/healthcheck')).status,
      (await overSocket(edgeDoor, 'GET', '/healthcheck')).status,
      (await send({ port, host: '127.0.0.1', path: '/apps/shop/shell', headers: offer, agent: false }, '')).status,
    ];
    expect(await statuses()).toEqual([503, 503, 503]);
    resolve();
    expect(await statuses()).toEqual([200, 200, 401]);
  });

  it('hands everything below /git/ over, unread', async () => {
    const { baseUrl } = await start({
      gitHandler(request, response) {
        if (request.url?.includes('refuse') === true) return false;
        request.pipe(response.setHeader('x-url', request.url ?? ''));
        return true;
      },
    });
    const body = Buffer.alloc(192 * 1024, 7);
    const taken = await fetch(`${baseUrl}/git/shop.git/x?y=1`, { method: 'POST', body });
    expect(taken.headers.get('x-url')).toBe('/git/shop.git/x?y=1');
    expect(Buffer.from(await taken.arrayBuffer()).equals(body)).toBe(true);
    expect((await fetch(`${baseUrl}/git/refuse`)).status).toBe(404);
  });

  it('measures bodies as they come when their length is not announced', async () => {
    const { baseUrl } = await start();
    const sent = httpRequest(`${baseUrl}/users`, { method: 'POST', agent: false });
    const status = new Promise((resolve, reject) => {
      sent.on('error', reject).on('response', (response) => resolve(response.resume().statusCode));
    });
    for (let i = 0; i < 3; i += 1) sent.write(Buffer.alloc(32 * 1024, ' '));
    expect(await status).toBe(413);
    sent.destroy();
  });

  it('keeps the text of unexpected failures to itself and its log', async () => {
    const { logger, lines } = recorder();
    const api = await start({ logger });
    const { token } = await appOf(api);
    Object.assign(api.platform.apps, { list: () => Promise.reject(new Error('canary-4711')) });
    for (const accept of ['*/*', 'application/json']) {
      const answer = await fetch(`${api.baseUrl}/apps`, { headers: { authorization: token, accept } });
      expect([answer.status, answer.headers.get('x-tancho-error')]).toEqual([500, 'internal']);
      expect(await answer.text()).not.toContain('canary-4711');
    }
    const failed = lines.filter(({ level }) => level === 'error');
    expect(failed).toHaveLength(2);
    expect(String(failed[0]?.fields['err'])).toContain('canary-4711');
  });

  it('logs one line per request: changes and errors at info, reads at debug, never a query or a token', async () => {
    const { logger, lines } = recorder();
    const api = await start({ logger });
    const { token, app } = await appOf(api);
    lines.splice(0);
    const headers = { authorization: `bearer ${token}`, 'x-request-id': 'my-request-1' };
    await (await fetch(`${api.baseUrl}/apps/${app}/env?env=canary`, { headers })).text();
    await (await fetch(`${api.baseUrl}/apps/${app}/env`, { headers, method: 'POST', body: '{"A":"canary"}' })).text();
    await (await fetch(`${api.baseUrl}/nothing?x=canary`, { headers })).text();
    await expect.poll(() => lines.length).toBe(3);
    expect(lines.map(({ level, fields }) => [level, fields['status'], fields['operation'], fields['error']])).toEqual([
      ['debug', 200, 'env.get', undefined],
      ['info', 200, 'env.set', undefined],
      ['info', 404, undefined, 'route.not_found'],
    ]);
    expect(lines[1]?.fields).toMatchObject({ reqId: 'my-request-1', path: `/apps/${app}/env` });
    expect(JSON.stringify(lines)).not.toMatch(new RegExp(`canary|${token}`));
  });

  it('answers what is not HTTP with 400 and lives on', async () => {
    const { baseUrl, server } = await start();
    const answer = await new Promise<string>((resolve, reject) => {
      const socket = connect(server.address.port, '127.0.0.1', () => socket.write('nonsense\r\n\r\n'));
      let text = '';
      socket.setEncoding('utf8').on('data', (chunk) => (text += String(chunk)));
      socket.on('error', reject).on('close', () => resolve(text));
    });
    expect(answer).toMatch(/^HTTP\/1\.1 400 /);
    expect((await fetch(`${baseUrl}/info`)).status).toBe(200);
  });
});

describe('following a log', () => {
  async function follow(
    api: MemoryApi,
    token: string,
    app: string,
  ): Promise<{ response: IncomingMessage; lines: string[] }> {
    const url = `${api.baseUrl}/apps/${app}/log?lines=2&follow=1`;
    const lines: string[] = [];
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      httpRequest(url, { headers: { authorization: token }, agent: false }, resolve)
        .on('error', reject)
        .end();
    });
    let rest = '';
    response.setEncoding('utf8').on('data', (chunk: string) => {
      const parts = (rest + chunk).split('\n');
      rest = parts.pop() ?? '';
      lines.push(...parts);
    });
    response.on('error', () => {});
    return { response, lines };
  }

  const messages = (line: string | undefined): string[] =>
    (JSON.parse(line ?? '[]') as { Message: string }[]).map((entry) => entry.Message);

  it('sends what there is, then every entry as it comes, and stops when the client leaves', async () => {
    const { logger, lines: logged } = recorder();
    const api = await start({ logger });
    const { token, app } = await appOf(api);
    for (const message of ['a', 'b', 'c']) api.platform.addEntry(app, message);
    const { response, lines } = await follow(api, token, app);
    await expect.poll(() => messages(lines[0])).toEqual(['b', 'c']);
    api.platform.addEntry(app, 'd');
    await expect.poll(() => messages(lines[1])).toEqual(['d']);
    expect(response.headers['content-type']).toBe('application/json; charset=utf-8');
    response.destroy();
    await expect.poll(() => logged.some(({ fields }) => fields['operation'] === 'apps.log')).toBe(true);
  });

  it('ends cleanly when the server closes', async () => {
    const api = await start();
    const { token, app } = await appOf(api);
    const { response, lines } = await follow(api, token, app);
    await expect.poll(() => lines).toEqual(['[]']);
    const ended = new Promise<void>((resolve) => response.once('end', resolve));
    await api.server.close();
    await ended;
    expect(response.complete).toBe(true);
  });
});
