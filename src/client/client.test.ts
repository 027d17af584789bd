import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { type Client, createClient } from './client.ts';
import { ClientError } from './errors.ts';

interface Seen {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

type Handler = (request: Seen, response: ServerResponse) => void;

function start(handler: Handler, listen: number | string = 0): Promise<{ server: Server; seen: Seen[] }> {
  const seen: Seen[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const { method = '', url = '', headers } = request;
      const one = { method, url, headers, body: Buffer.concat(chunks).toString() };
      seen.push(one);
      handler(one, response);
    });
  });
  closers.push(
    () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  );
  return new Promise((resolve) => {
    if (typeof listen === 'string') server.listen(listen, () => resolve({ server, seen }));
    else server.listen(listen, '127.0.0.1', () => resolve({ server, seen }));
  });
}

async function platform(handler: Handler, token?: string): Promise<{ client: Client; seen: Seen[]; url: string }> {
  const { server, seen } = await start(handler);
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { client: createClient({ baseUrl: url }, token), seen, url };
}

const json = (value: unknown): Handler => {
  return (_, response) => response.setHeader('content-type', 'application/json').end(JSON.stringify(value));
};
const stream = (...lines: readonly unknown[]): Handler => {
  const text = lines.map((line) => (typeof line === 'string' ? line : JSON.stringify(line))).join('\n');
  return (_, response) => response.setHeader('content-type', 'application/x-json-stream').end(`${text}\n`);
};

async function failure(work: Promise<unknown>): Promise<ClientError> {
  try {
    await work;
  } catch (error) {
    if (error instanceof ClientError) return error;
    throw error;
  }
  throw new Error('expected a ClientError');
}

describe('requests', () => {
  it('carry the token, ask for JSON, and encode what goes into the path', async () => {
    const { client, seen } = await platform(json({ Name: 'a', Units: [] }), 'tok');
    await client.apps.info('a/../b?x=1');
    expect(seen[0]?.url).toBe('/apps/a%2F..%2Fb%3Fx%3D1');
    expect(seen[0]?.headers).toMatchObject({ authorization: 'bearer tok', accept: 'application/json' });
  });

  it('keep a path of the base address', async () => {
    const { url, seen } = await platform(json([]));
    await createClient({ baseUrl: `${url}/paas/` }).apps.list();
    expect(seen[0]?.url).toBe('/paas/apps');
    expect(seen[0]?.headers.authorization).toBeUndefined();
  });

  it.each<[string, (client: Client) => Promise<unknown>, string, string]>([
    [
      'users.create',
      (c) => c.users.create('a@b.cc', 'secret'),
      'POST /users',
      '{"email":"a@b.cc","password":"secret"}',
    ],
    ['users.logout_everywhere', (c) => c.users.logoutEverywhere(), 'DELETE /users/sessions', ''],
    ['users.logout', (c) => c.users.logout(), 'DELETE /users/tokens', ''],
    [
      'keys.add',
      (c) => c.keys.add('ssh-ed25519 AAAA', 'k'),
      'POST /users/keys',
      '{"key":"ssh-ed25519 AAAA","name":"k"}',
    ],
    ['keys.remove', (c) => c.keys.remove('k'), 'DELETE /users/keys', '{"name":"k"}'],
    ['teams.create', (c) => c.teams.create('t'), 'POST /teams', '{"name":"t"}'],
    ['teams.remove', (c) => c.teams.remove('t'), 'DELETE /teams/t', ''],
    ['teams.addMember', (c) => c.teams.addMember('t', 'a@b.cc'), 'PUT /teams/t/a%40b.cc', ''],
    ['teams.removeMember', (c) => c.teams.removeMember('t', 'a@b.cc'), 'DELETE /teams/t/a%40b.cc', ''],
    ['apps.remove', (c) => c.apps.remove('x'), 'DELETE /apps/x', ''],
    ['apps.restart', (c) => c.apps.restart('x'), 'POST /apps/x/restart', ''],
    ['apps.start', (c) => c.apps.start('x', { process: 'web' }), 'POST /apps/x/start?process=web', ''],
    ['apps.stop', (c) => c.apps.stop('x'), 'POST /apps/x/stop', ''],
    ['apps.swap', (c) => c.apps.swap('x', 'y', { force: true }), 'PUT /swap?app1=x&app2=y&force=true', ''],
    ['apps.setUnits', (c) => c.apps.setUnits('x', 'clock', 0), 'PUT /apps/x/processes/clock/units?units=0', ''],
    ['apps.addUnits', (c) => c.apps.addUnits('x', 2), 'PUT /apps/x/units?units=2', ''],
    [
      'apps.removeUnits',
      (c) => c.apps.removeUnits('x', 1, { process: 'clock' }),
      'DELETE /apps/x/units?units=1&process=clock',
      '',
    ],
    ['deploys.rollback', (c) => c.deploys.rollback('x', 'v2'), 'POST /apps/x/deploy/rollback', '{"image":"v2"}'],
    ['apps.update', (c) => c.apps.update('x', { pool: 'p' }), 'PUT /apps/x', '{"pool":"p"}'],
    [
      'apps.update settings',
      (c) => c.apps.update('x', { startCommands: { web: 'a' }, root: '', keepDevPackages: false }),
      'PUT /apps/x',
      '{"startCommands":{"web":"a"},"root":"","keepDevPackages":false}',
    ],
    ['apps.grant', (c) => c.apps.grant('x', 't'), 'PUT /apps/x/teams/t', ''],
    ['apps.revoke', (c) => c.apps.revoke('x', 't'), 'DELETE /apps/x/teams/t', ''],
    ['events.list', (c) => c.events.list({ app: 'x', failed: true }), 'GET /events?target.value=x&erroronly=true', ''],
    ['healers.list', (c) => c.healers.list(), 'GET /healers', ''],

    ['pools.create', (c) => c.pools.create('p', { public: true }), 'POST /pools', '{"name":"p","public":true}'],
    [
      'pools.update',
      (c) => c.pools.update('p', { engine: 'e', options: { shelf: 'upper' } }),
      'PUT /pools/p',
      '{"engine":"e","options":{"shelf":"upper"}}',
    ],
    ['pools.remove', (c) => c.pools.remove('p'), 'DELETE /pools/p', ''],
    ['pools.addTeams', (c) => c.pools.addTeams('p', ['a', 'b']), 'POST /pools/p/team?team=a&team=b', ''],
    ['pools.removeTeams', (c) => c.pools.removeTeams('p', ['a']), 'DELETE /pools/p/team?team=a', ''],
    ['apps.addCnames', (c) => c.apps.addCnames('x', ['a.io']), 'POST /apps/x/cname', '{"cname":["a.io"]}'],
    ['apps.removeCnames', (c) => c.apps.removeCnames('x', ['a.io']), 'DELETE /apps/x/cname', '{"cname":["a.io"]}'],
    ['apps.run', (c) => c.apps.run('x', 'ls -l', { once: true, output() {} }), 'POST /apps/x/run?once=true', 'ls -l'],
    [
      'env.set',
      (c) => c.env.set('x', { A: '1' }, { private: true }),
      'POST /apps/x/env?private=true&noRestart=false',
      '{"A":"1"}',
    ],
    ['env.unset', (c) => c.env.unset('x', ['A'], { noRestart: true }), 'DELETE /apps/x/env?noRestart=true', '["A"]'],
  ])('%s', async (_, call, line, body) => {
    const { client, seen } = await platform((_request, response) => response.end());
    await call(client);
    expect(`${seen[0]?.method} ${seen[0]?.url}`).toBe(line);
    expect(seen[0]?.body).toBe(body);
  });

  it('speak over a unix socket', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'tancho-client-'));
    closers.push(() => rm(folder, { recursive: true }));
    const socketPath = join(folder, 'api.sock');
    await start(json({ version: '1' }), socketPath);
    expect(await createClient({ socketPath }).info()).toEqual({ version: '1' });
  });
});

describe('answers', () => {
  it('without a body, or null, are empty lists', async () => {
    const { client } = await platform((_, response) => response.writeHead(204).end());
    expect(await client.apps.list()).toEqual([]);
    const { client: other } = await platform(json(null));
    expect(await other.platforms.list()).toEqual([]);
  });

  it('login gives the token', async () => {
    const { client, seen } = await platform(json({ token: 't' }));
    expect(await client.users.login('a@b.cc', 'pw')).toBe('t');
    expect(seen[0]?.url).toBe('/users/a%40b.cc/tokens');
  });

  it('that are no JSON are an error', async () => {
    const { client } = await platform((_, response) => response.end('<html>'));
    expect((await failure(client.apps.info('x'))).code).toBe('client.bad_answer');
  });
});

describe('errors', () => {
  it('a problem document gives every field', async () => {
    const { client } = await platform((_, response) =>
      response.writeHead(404, { 'content-type': 'application/problem+json', 'x-request-id': 'r1' }).end(
        JSON.stringify({
          title: 'Not Found',
          detail: 'App x not found.',
          code: 'app.not_found',
          hint: 'Look.',
          details: { app: 'x' },
        }),
      ),
    );
    const error = await failure(client.apps.info('x'));
    expect({ ...error }).toMatchObject({ status: 404, code: 'app.not_found', hint: 'Look.', requestId: 'r1' });
    expect(error.message).toBe('App x not found.');
    expect(error.details).toEqual({ app: 'x' });
  });

  it('a plain text is the message', async () => {
    const { client } = await platform((_, response) => response.writeHead(502).end('bad gateway\n'));
    const error = await failure(client.apps.restart('x'));
    expect(error.message).toBe('bad gateway');
    expect(error.status).toBe(502);
  });

  it.each<[string, (client: Client) => Promise<unknown>]>([
    ['an answer without a body', (c) => c.teams.removeMember('t', 'a@b.cc')],
    ['JSON', (c) => c.apps.list()],
    ['a stream', (c) => c.apps.restart('x')],
    ['a shell', (c) => c.apps.shell('x', { output: () => undefined })],
  ])('a redirection, where %s is expected, is no success, and says where the platform is', async (_, work) => {
    const { client, seen, url } = await platform(
      ({ url: path }, response) =>
        response.writeHead(308, { location: `https://api.test/paas${path}` }).end('https://api.test\n'),
      'tok',
    );
    const error = await failure(work(client));
    expect(error).toMatchObject({
      code: 'client.redirected',
      status: 0,
      hint: 'The platform is at another address; log in there: tancho login https://api.test/paas',
    });
    expect(error.message).toContain(`What answers at ${url} leads to https://api.test/paas/`);
    expect(seen).toHaveLength(1);
  });

  it('a redirection to the login of something else', async () => {
    const { client } = await platform((_, response) => response.writeHead(302, { location: '/sso?to=1' }).end());
    const { hint, code } = await failure(client.users.logout());
    expect(code).toBe('client.redirected');
    expect(hint).toMatch(/^Is this the address of a Tancho platform\?/);
  });

  it('nobody there', async () => {
    const { client } = await platform(json({}));
    for (const close of closers.splice(0)) await close();
    expect(await failure(client.info())).toMatchObject({ status: 0, code: 'client.unreachable' });
    const socket = createClient({ socketPath: join(tmpdir(), 'tancho-no-such.sock') });
    expect((await failure(socket.info())).message).toMatch(/the socket is not there/);
  });

  it('a connection cut in the middle', async () => {
    const { client } = await platform((_, response) => {
      response.writeHead(200, { 'content-length': 100 });
      response.write('[', () => response.destroy());
    });
    expect(await failure(client.apps.list())).toMatchObject({ code: 'client.unreachable' });
  });

  it('an address that is none', () => {
    expect(() => createClient({ baseUrl: 'localhost:8080' })).toThrow(/not the address of a platform/);
  });
});

describe('streams', () => {
  it('give their messages, whatever the chunks, and skip keep-alive lines', async () => {
    const { client } = await platform((_, response) => {
      const bytes = Buffer.from(`{"Message":"une \u00e9t\u00e9\\n"}\n\n{"Message":"two"}\n`);
      const write = (index: number): void => {
        if (index >= bytes.length) response.end();
        else response.write(bytes.subarray(index, index + 1), () => write(index + 1));
      };
      write(0);
    });
    const said: string[] = [];
    await client.apps.restart('x', { say: (message) => said.push(message) });
    expect(said).toEqual(['une \u00e9t\u00e9\n', 'two']);
  });

  it('end with the error of their error frame, after all messages', async () => {
    const frame = { Message: '', Error: 'no units', Code: 'unit.failed', Hint: 'Look at the log.' };
    const { client } = await platform(stream({ Message: 'a' }, frame, 'no units'));
    const said: string[] = [];
    const error = await failure(client.apps.restart('x', { say: (message) => said.push(message) }));
    expect(said).toEqual(['a']);
    expect(error).toMatchObject({ status: 200, message: 'no units', code: 'unit.failed', hint: 'Look at the log.' });
  });

  it('with a line that is no JSON are an error', async () => {
    const { client } = await platform(stream({ Message: 'a' }, 'oops'));
    expect((await failure(client.apps.remove('x'))).code).toBe('client.bad_answer');
  });

  it('of removing an instance are asked for where its service is known', async () => {
    const { client, seen } = await platform((one, response) => {
      if (one.method === 'GET') json([{ service: 'db', instances: ['one'] }])(one, response);
      else if (one.url.startsWith('/services/db/')) stream({ Message: 'not confirmed\n' })(one, response);
      else response.end();
    });
    const said: string[] = [];
    await client.instances.remove('one', { say: (message) => said.push(message) });
    // One that is being removed is in no list.
    await client.instances.remove('two', { force: true, say: (message) => said.push(message) });
    expect(said).toEqual(['not confirmed\n']);
    expect(seen.filter(({ method }) => method === 'DELETE').map(({ url }) => url)).toEqual([
      '/services/db/instances/one?unbindall=false',
      '/services/instances/two?unbindall=false&force=true',
    ]);
  });

  it('of run give output and exit code', async () => {
    const { client } = await platform(stream({ Message: 'out\n' }, { Message: '', Error: 'exit code 3' }));
    let output = '';
    expect(await client.apps.run('x', 'false', { once: true, output: (text) => (output += text) })).toBe(3);
    expect(output).toBe('out\n');
  });

  it('of run that fail otherwise are an error', async () => {
    const { client } = await platform(stream({ Message: '', Error: 'no such app' }));
    expect((await failure(client.apps.run('x', 'a', { once: true, output() {} }))).message).toBe('no such app');
  });

  it('are ended by a signal, with its reason', async () => {
    const { client } = await platform((_, response) => response.write('{"Message":"a"}\n'));
    const stop = new AbortController();
    const work = client.apps.restart('x', { signal: stop.signal, say: () => stop.abort(new Error('enough')) });
    await expect(work).rejects.toThrow('enough');
  });

  it('are not even begun when the signal has fired already', async () => {
    const { client, seen } = await platform(stream({ Message: 'a' }));
    await expect(client.apps.restart('x', { signal: AbortSignal.abort(new Error('no')) })).rejects.toThrow('no');
    expect(seen).toEqual([]);
  });
});

describe('followLog', () => {
  const entry = (text: string) => ({ Date: '', Message: text, Source: 'web', AppName: 'x', Unit: 'x/0' });

  it('gives batches until the signal fires, then ends', async () => {
    const { client, seen } = await platform((_, response) => {
      response.write(`${JSON.stringify([entry('1'), entry('2')])}\n`);
      response.write(`\n${JSON.stringify([entry('3')])}\n`);
    });
    const stop = new AbortController();
    const messages: string[] = [];
    for await (const batch of client.apps.followLog('x', { lines: 5, source: 'web' }, stop.signal)) {
      messages.push(...batch.map(({ Message }) => Message));
      if (messages.length === 3) stop.abort();
    }
    expect(messages).toEqual(['1', '2', '3']);
    expect(seen[0]?.url).toBe('/apps/x/log?lines=5&source=web&follow=1');
  });

  it('closes the connection when the reader stops', async () => {
    let closed: () => void = () => {};
    const closing = new Promise<void>((resolve) => (closed = resolve));
    const { client } = await platform((_, response) => {
      response.on('close', closed);
      response.write(`${JSON.stringify([entry('1')])}\n`);
    });
    for await (const batch of client.apps.followLog('x', { lines: 1 }, new AbortController().signal)) {
      expect(batch).toHaveLength(1);
      break;
    }
    await closing;
  });
});
