/** What apps can have done with their requests: seen by raw clients, with real units behind. */
import { createServer as createHttpServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { type AddressInfo, createServer } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import type { Route, RouteRules, Target } from '../../domain/routes/router.ts';
import { EdgeRig, type RigSettings } from '../../../test/support/edge-rig.ts';
import { until } from '../../../test/support/until.ts';

let rig: EdgeRig;
/** Requests that have begun and not ended. */
let open = 0;
afterEach(() => rig.stop());

function blog(rules: RouteRules | undefined, ...targets: Target[]): Route {
  const route = { app: 'blog', hosts: ['blog.test'], targets, note: 'Nothing serves.', https: 'redirect' } as const;
  return { ...route, ...(rules !== undefined && { rules }) };
}

const route = (rules: RouteRules | undefined, ...targets: Target[]): Promise<void> =>
  rig.apply({ routes: [blog(rules, ...targets)] });

const get = (path = '/', fields = ''): Promise<string> =>
  rig.exchange(`GET ${path} HTTP/1.1\r\nHost: blog.test\r\n${fields}Connection: close\r\n\r\n`);

const post = (framing: string, body: string): Promise<string> =>
  rig.exchange(`POST / HTTP/1.1\r\nHost: blog.test\r\n${framing}\r\nConnection: close\r\n\r\n${body}`);

/** A unit that says its name and how long the body was. */
function unit(name: string): Promise<Target> {
  return rig.httpUnit((request, response) => {
    let size = 0;
    request.on('data', (chunk: Buffer) => (size += chunk.length));
    request.on('end', () => response.end(`${name} ${size}`));
  });
}

/** It answers the first request of each connection, and drops it at the second. */
async function endingUnit() {
  let [served, dropped] = [false, false];
  const server = createServer((socket) => {
    socket.on('error', () => {});
    socket.once('data', () => {
      served = true;
      socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok');
      socket.once('data', () => {
        dropped = true;
        socket.destroy();
      });
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    target: { unit: `ending-${port}`, host: '127.0.0.1', port },
    hasServed: () => served,
    hasDropped: () => dropped,
    /** Connections that there are stay. */
    stopListening: () => void server.close(),
  };
}

async function start(settings?: RigSettings): Promise<void> {
  open = 0;
  rig = await EdgeRig.start(settings);
  rig.plane.reportTraffic((counts) => {
    for (const count of counts) open = count.open;
  });
}

describe('maintenance', () => {
  it('answers in place of the app, with and without units, and is no failure', async () => {
    await start();
    const target = await unit('one');
    for (const targets of [[target], []]) {
      await route({ maintenance: { page: '' } }, ...targets);
      const answer = await get();
      expect(answer).toMatch(/^HTTP\/1\.1 503 /);
      expect(answer).toMatch(/\r\nRetry-After: [1-9]/);
      expect(answer).toContain('down for maintenance');
    }
    expect(await rig.plane.traffic('blog')).toMatchObject({ requests: 2, failures: 0 });
    await route(undefined, target);
    expect(await get()).toContain('one 0');
  });

  it("shows the app's own page as it is", async () => {
    await start();
    await route({ maintenance: { page: '<h1>Zur\u00fcck um acht</h1>' } });
    const answer = await get();
    expect(answer).toMatch(/\r\nContent-Type: text\/html; charset=utf-8\r\n/);
    expect(Buffer.from(answer, 'latin1').toString()).toContain('<h1>Zurück um acht</h1>');
    expect(answer).not.toContain('request:');
  });

  it('does not wait for a body', async () => {
    await start();
    await route({ maintenance: { page: '' } }, await unit('one'));
    expect(await post('Content-Length: 1000000', '')).toMatch(/^HTTP\/1\.1 503 /);
  });
});

describe('requests whose units all refuse the connection', () => {
  it('wait for a table with others, body and all, and go by that', async () => {
    await start({ timeouts: { unreachedMs: 120_000 } });
    const [one, two] = [await unit('one'), await unit('two')];
    await Promise.all([rig.kill(one), rig.kill(two)]);
    await route(undefined, one, two);
    const answers = Promise.all([get(), post('Content-Length: 3', 'abc')]);
    await until(() => open === 2, { what: 'two requests to wait' });
    // One that changes nothing for them.
    await route(undefined, one, two);
    await until(() => open === 2, { what: 'both to wait again' });
    await route(undefined, await unit('late'));
    expect((await answers).map((answer) => answer.slice(-6))).toEqual(['late 0', 'late 3']);
    expect(await rig.plane.traffic('blog')).toMatchObject({ requests: 2, failures: 0 });
  });

  it('ask them again without another table', async () => {
    await start({ timeouts: { unreachedMs: 120_000 }, limits: { heldPerApp: 1 } });
    const server = createHttpServer((_request, response) => response.end('back'));
    const listens = (port: number) => new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
    await listens(0);
    const { port } = server.address() as AddressInfo;
    await new Promise((resolve) => server.close(resolve));
    await route(undefined, { unit: 'back', host: '127.0.0.1', port });
    const answers = [get(), get()];
    // One waits, so that there is no place for the other.
    expect(await Promise.race(answers)).toMatch(/^HTTP\/1\.1 502 /);
    await listens(port);
    expect((await Promise.all(answers)).map((answer) => answer.slice(9, 12)).sort()).toEqual(['200', '502']);
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });

  it('wait also when the first to be asked has ended under a kept connection, and others with it', async () => {
    await start({ timeouts: { unreachedMs: 120_000 } });
    const ending = [await endingUnit(), await endingUnit(), await endingUnit()];
    await route(undefined, ...ending.map(({ target }) => target));
    while (ending.some(({ hasServed }) => !hasServed())) await get();
    for (const { stopListening } of ending) stopListening();
    const answer = get();
    await until(() => open === 1, { what: 'a request to wait' });
    await until(() => ending.some(({ hasDropped }) => hasDropped()), { what: 'a unit to end under it' });
    await route(undefined, await unit('late'));
    expect(await answer).toContain('late 0');
    expect((await rig.plane.traffic('blog')).failures).toBe(0);
  });

  it('are answered 502 and count as failures when their time is over, or too many wait', async () => {
    await start({ timeouts: { unreachedMs: 100 }, limits: { heldPerApp: 1 } });
    const gone = await unit('gone');
    await rig.kill(gone);
    await route(undefined, gone);
    for (const answer of await Promise.all([get(), get(), get()])) expect(answer).toMatch(/^HTTP\/1\.1 502 /);
    expect(await rig.plane.traffic('blog')).toMatchObject({ requests: 3, failures: 3 });
  });

  it('are answered at once where a unit has seen them', async () => {
    await start({ timeouts: { unreachedMs: 120_000 } });
    await route(undefined, await rig.rawUnit((socket) => socket.once('data', () => socket.destroy())));
    expect(await get()).toMatch(/^HTTP\/1\.1 502 /);
  });
});

describe('held requests', () => {
  const UNSERVED: RouteRules = { hold: { when: 'unserved', seconds: 60 } };

  it('wait while nothing serves, body and all, and go to the unit that does then', async () => {
    await start();
    await route(UNSERVED);
    const answers = Promise.all([get(), post('Content-Length: 3', 'abc')]);
    await until(() => open === 2, { what: 'two requests to wait' });
    // Another table that does not serve them either.
    await route(UNSERVED);
    await route(UNSERVED, await unit('late'));
    const [first, second] = await answers;
    expect([first, second].map((answer) => answer.slice(-6))).toEqual(['late 0', 'late 3']);
    expect(await rig.plane.traffic('blog')).toMatchObject({ requests: 2, failures: 0 });
  });

  it('all wait when they are to, also while units serve', async () => {
    await start();
    const target = await unit('one');
    await route({ hold: { when: 'always', seconds: 60 } }, target);
    const answer = get();
    await until(() => open === 1, { what: 'a request to wait' });
    await route(undefined, target);
    expect(await answer).toContain('one 0');
  });

  it('are answered 503 when their time is over, and no failures', async () => {
    await start();
    await route({ hold: { when: 'always', seconds: 1 } });
    const answer = await get();
    expect(answer).toMatch(/^HTTP\/1\.1 503 /);
    expect(answer).toMatch(/\r\nRetry-After: [1-9]/);
    expect(answer).toContain('has waited');
    expect((await rig.plane.traffic('blog')).failures).toBe(0);
  });

  it('are bounded: what is beyond is answered at once', async () => {
    await start({ limits: { heldPerApp: 1 } });
    await route(UNSERVED);
    const waiting = await rig.client();
    waiting.send('GET / HTTP/1.1\r\nHost: blog.test\r\n\r\n');
    await until(() => open === 1, { what: 'a request to wait' });
    expect(await get()).toMatch(/^HTTP\/1\.1 503 /);
    // One that leaves makes room.
    waiting.socket.resetAndDestroy();
    await until(() => open === 0, { what: 'it to be forgotten' });
    const answer = get();
    await until(() => open === 1, { what: 'another to wait' });
    await route(UNSERVED, await unit('late'));
    expect(await answer).toContain('late');
  });

  it('end with maintenance', async () => {
    await start();
    await route(UNSERVED);
    const answer = get();
    await until(() => open === 1, { what: 'a request to wait' });
    await route({ maintenance: { page: '' } });
    expect(await answer).toContain('down for maintenance');
  });
});

describe('a limit of bodies', () => {
  it('refuses what is announced as longer, and lets the rest through', async () => {
    await start();
    await route({ maxBodyBytes: 4 }, await unit('one'));
    expect(await post('Content-Length: 5', 'abcde')).toMatch(/^HTTP\/1\.1 413 Content Too Large\r\n/);
    expect(await post('Content-Length: 4', 'abcd')).toContain('one 4');
    expect(await post('Transfer-Encoding: chunked', '1\r\na\r\n3\r\nbcd\r\n0\r\n\r\n')).toContain('one 4');
    expect((await rig.plane.traffic('blog')).failures).toBe(0);
  });

  it('cuts off what is longer without having said so', async () => {
    await start();
    let size = 0;
    let isGone = false;
    const target = await rig.httpUnit((request) => {
      request.on('data', (chunk: Buffer) => (size += chunk.length)).on('error', () => {});
      request.on('close', () => (isGone = true));
    });
    await route({ maxBodyBytes: 4 }, target);
    const client = await rig.client();
    client.send('POST / HTTP/1.1\r\nHost: blog.test\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n');
    await until(() => size === 3, { what: 'the unit to have what it may' });
    client.send('3\r\ndef\r\n0\r\n\r\n');
    expect(await client.rest()).toMatch(/^HTTP\/1\.1 413 /);
    await until(() => isGone, { what: 'the unit to hear of it' });
    expect(size).toBe(3);
  });
});

it('a time of its own for answers ends what takes longer', async () => {
  await start({ timeouts: { answerMs: 600_000 } });
  await route({ answerSeconds: 1 }, await rig.httpUnit(() => {}));
  expect(await get()).toMatch(/^HTTP\/1\.1 504 /);
});

it('a limit of requests at one time refuses those beyond, until one has ended', async () => {
  await start();
  const pending: ServerResponse[] = [];
  const target = await rig.httpUnit((_request: IncomingMessage, response) => void pending.push(response));
  await route({ maxRequests: 2 }, target);
  const answers = [get(), get()];
  await until(() => pending.length === 2, { what: 'two requests to be at the unit' });
  expect(await get()).toMatch(/^HTTP\/1\.1 503 /);
  pending[0]?.end('first');
  await Promise.race(answers);
  const third = get();
  await until(() => pending.length === 3, { what: 'the third to be at the unit' });
  for (const response of pending) response.end('rest');
  expect(await third).toContain('rest');
  expect((await rig.plane.traffic('blog')).failures).toBe(0);
});

describe('an access log', () => {
  const lines = async (): Promise<string[]> => (await rig.plane.takeAccessLog()).map(({ line }) => line);

  it('has a line for each request, however it ended, and none of other apps', async () => {
    await start();
    const target = await rig.httpUnit((request, response) => {
      if (request.url === '/lost') request.socket.destroy();
      else response.end('0123456789');
    });
    await route({ accessLog: true }, target);
    await get('/a?b="c', 'X-Request-Id: trace-1\r\n');
    await get('/lost');
    await route({ accessLog: true });
    await post('Content-Length: 2', 'ab');
    await route(undefined, target);
    await get('/quiet');
    const [whole = '', lost = '', unserved = '', ...more] = await lines();
    expect(whole).toMatch(
      /^method=GET path="\/a\?b=%22c" host=blog\.test request_id=trace-1 fwd="127\.0\.0\.1" unit=u1 service=[0-9]+ms status=200 bytes=10 protocol=http$/,
    );
    expect(lost).toMatch(/path="\/lost" .* status=502 bytes=0 /);
    expect(unserved).toMatch(/^method=POST path="\/" .* unit=- .* status=503 /);
    expect(more).toEqual([]);
    expect(await lines()).toEqual([]);
  });

  it('has the switch of a websocket, and clients that leave', async () => {
    await start();
    let asked = 0;
    const target = await rig.httpUnit(
      () => void asked++,
      (_request, socket) =>
        socket.end('HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n'),
    );
    await route({ accessLog: true }, target);
    await rig.exchange('GET /ws HTTP/1.1\r\nHost: blog.test\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n');
    const leaving = await rig.client();
    leaving.send('GET /slow HTTP/1.1\r\nHost: blog.test\r\n\r\n');
    await until(() => asked === 1, { what: 'the request to be there' });
    leaving.socket.resetAndDestroy();
    await until(() => open === 0, { what: 'the client to be gone' });
    const [switched = '', left = '', ...more] = await lines();
    expect(switched).toMatch(/path="\/ws" .* unit=u1 .* status=101 /);
    expect(left).toMatch(/path="\/slow" .* status=499 /);
    expect(more).toEqual([]);
  });
});

describe('sticky requests', () => {
  const cookieIn = (answer: string): string => /\r\nSet-Cookie: (tancho_unit=[^;]+)/.exec(answer)?.[1] ?? '';

  it('come to the unit that the client has been to, and to another when it is gone', async () => {
    await start();
    const [one, two] = [await unit('one'), await unit('two')];
    await route({ sticky: true }, one, two);
    const first = await get();
    expect(first).toMatch(/\r\nSet-Cookie: tancho_unit=[\w-]{22}; Path=\/; HttpOnly; SameSite=Lax\r\n/);
    const cookie = cookieIn(first);
    const name = first.includes('one 0') ? 'one' : 'two';
    for (let n = 0; n < 8; n++) {
      const answer = await get('/', `Cookie: a=b; ${cookie}; c=d\r\n`);
      expect(answer).toContain(`${name} 0`);
      expect(answer).not.toContain('Set-Cookie');
    }
    const [gone, left, leftName] = name === 'one' ? [one, two, 'two'] : [two, one, 'one'];
    await route({ sticky: true }, left);
    const moved = await get('/', `Cookie: ${cookie}\r\n`);
    expect(moved).toContain(`${leftName} 0`);
    expect(cookieIn(moved)).not.toBe(cookie);
    // One that refuses is passed over, too.
    await rig.kill(gone);
    await route({ sticky: true }, gone, left);
    expect(await get('/', `Cookie: ${cookie}\r\n`)).toContain(`${leftName} 0`);
  });

  it('take no other cookie for theirs, and show nothing of the unit', async () => {
    await start();
    await route({ sticky: true }, await unit('one'));
    for (const value of ['', 'x', '../../etc', `${'A'.repeat(22)}"`, 'A'.repeat(400)]) {
      const answer = await get('/', `Cookie: tancho_unit=${value}\r\n`);
      expect(answer).toContain('one 0');
      expect(cookieIn(answer)).toMatch(/^tancho_unit=[\w-]{22}$/);
      expect(answer).not.toMatch(/u[0-9]+;/);
    }
  });

  it('get no cookie where the app has not asked for it', async () => {
    await start();
    await route(undefined, await unit('one'));
    expect(await get()).not.toContain('Set-Cookie');
  });
});
