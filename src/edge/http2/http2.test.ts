import { once } from 'node:events';
import { type ClientHttp2Session, type ClientHttp2Stream, connect, constants } from 'node:http2';
import { connect as connectTls } from 'node:tls';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { EdgeRig, RawClient, type RigSettings } from '../../../test/support/edge-rig.ts';
import { frame, HEADERS, NO_WINDOW, RawHttp2 } from '../../../test/support/raw-http2.ts';
import { testCertificate, type TestCertificate } from '../../../test/support/test-certificates.ts';
import { until } from '../../../test/support/until.ts';
import type { RouteRules, Target } from '../../domain/routes/router.ts';
import { NO_CERTIFICATES } from '../tls/live-certificates.ts';

let rig: EdgeRig;
let own: TestCertificate;
const sessions: ClientHttp2Session[] = [];

beforeAll(async () => {
  own = await testCertificate('blog.test');
});
afterEach(async () => {
  for (const session of sessions.splice(0)) session.destroy();
  await rig.stop();
});

async function start(settings: RigSettings = {}): Promise<void> {
  rig = await EdgeRig.start({ tls: true, ...settings });
  const certificates = [{ id: 'c1', names: ['blog.test'], ...own }];
  await rig.plane.present({ set: { ...NO_CERTIFICATES, version: 1, certificates }, ticketKeys: '' });
}

function session(): ClientHttp2Session {
  const made = connect(`https://blog.test:${rig.tlsPort}`, {
    maxSessionMemory: 512,
    ...{ host: '127.0.0.1', servername: 'blog.test', rejectUnauthorized: false },
    createConnection: () =>
      connectTls({
        ...{ host: '127.0.0.1', port: rig.tlsPort, servername: 'blog.test', rejectUnauthorized: false },
        ALPNProtocols: ['h2'],
      }),
  });
  made.on('error', () => {});
  sessions.push(made);
  return made;
}

interface Http2Answer {
  readonly status: number;
  readonly headers: Record<string, unknown>;
  readonly body: Buffer;
  /** 0: whole. */
  readonly code: number;
}

async function answerOf(stream: ClientHttp2Stream): Promise<Http2Answer> {
  const parts: Buffer[] = [];
  let headers: Record<string, unknown> = {};
  stream.on('response', (given) => (headers = given));
  stream.on('data', (part: Buffer) => parts.push(part));
  stream.on('error', () => {});
  // Not by once(): it gives up at an error.
  await new Promise((resolve) => stream.on('close', resolve));
  return { status: Number(headers[':status'] ?? 0), headers, body: Buffer.concat(parts), code: stream.rstCode };
}

function ask(client: ClientHttp2Session, headers: Record<string, string> = {}, body?: Buffer): Promise<Http2Answer> {
  const stream = client.request(
    { ':authority': 'blog.test', ':path': '/', ...headers },
    { endStream: body === undefined },
  );
  if (body !== undefined) stream.end(body);
  return answerOf(stream);
}

describe('what an app has set', () => {
  async function route(rules: RouteRules, ...targets: Target[]): Promise<void> {
    const blog = { app: 'blog', hosts: ['blog.test'], targets, note: '', https: 'redirect', rules } as const;
    await rig.apply({ routes: [blog] });
  }

  it('counts for streams as for any request: maintenance, bodies, waiting, cookies', async () => {
    await start();
    const target = await rig.httpUnit((request, response) => {
      request.resume().on('end', () => response.end('served'));
    });
    const client = session();
    await route({ maintenance: { page: '<h1>Zur\u00fcck um acht</h1>' } }, target);
    const down = await ask(client);
    expect(down).toMatchObject({ status: 503, code: 0 });
    expect(down.body.toString()).toBe('<h1>Zurück um acht</h1>');
    await route({ maxBodyBytes: 3 }, target);
    expect((await ask(client, { ':method': 'POST' }, Buffer.from('four'))).status).toBe(413);
    expect((await ask(client, { ':method': 'POST' }, Buffer.from('one'))).status).toBe(200);
    await route({ hold: { when: 'unserved', seconds: 60 } });
    const waiting = ask(client);
    await route({ sticky: true }, target);
    const served = await waiting;
    expect(served.body.toString()).toBe('served');
    expect(String(served.headers['set-cookie'])).toMatch(
      /^tancho_unit=[\w-]{22}; Path=\/; HttpOnly; SameSite=Lax; Secure$/,
    );
    expect((await rig.plane.traffic('blog')).failures).toBe(0);
  });
});

describe('HTTP/2', () => {
  it('brings requests to units like those of HTTP/1.1: fields, bodies of all kinds both ways, many at once', async () => {
    await start();
    await rig.route(
      await rig.httpUnit((request, response) => {
        if (request.url === '/fields') response.end(JSON.stringify(request.headers));
        else if (request.url === '/none') response.writeHead(204).end();
        else if (request.url === '/sized') response.writeHead(200, { 'content-length': 5 }).end('sized');
        else request.pipe(response);
      }),
    );
    const client = session();
    const { body: reported } = await ask(client, { ':path': '/fields', cookie: 'a=1', 'x-forwarded-for': '6.6.6.6' });
    expect(JSON.parse(reported.toString())).toMatchObject({
      ...{ host: 'blog.test', cookie: 'a=1', 'x-forwarded-for': '127.0.0.1', 'x-forwarded-proto': 'https' },
    });
    expect(await ask(client, { ':path': '/none' })).toMatchObject({ status: 204, code: 0 });
    expect((await ask(client, { ':path': '/sized' })).body.toString()).toBe('sized');
    const head = await ask(client, { ':method': 'HEAD', ':path': '/sized' });
    expect(head).toMatchObject({ status: 200, code: 0, body: Buffer.alloc(0) });
    expect(head.headers['content-length']).toBe('5');
    const large = Buffer.alloc(1_500_000, 'abcdefg');
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, index) => {
        const length = index % 2 === 0 ? { 'content-length': String(large.length) } : {};
        return ask(client, { ':method': 'POST', ...length }, large);
      }),
    );
    for (const { status, body, code } of answers) {
      expect([status, code]).toEqual([200, 0]);
      expect(body.equals(large)).toBe(true);
    }
    expect(await rig.plane.traffic('blog')).toMatchObject({ requests: 24, failures: 0 });
  });

  it('streams: pieces arrive as they are sent, and an answer may come before its request is whole', async () => {
    await start();
    await rig.route(
      await rig.httpUnit((request, response) => {
        response.write('early ');
        request.on('data', (piece: Buffer) => response.write(piece));
        request.on('end', () => response.end());
      }),
    );
    const stream = session().request({ ':method': 'POST', ':authority': 'blog.test', ':path': '/' });
    let received = '';
    stream.setEncoding('utf8').on('data', (part: string) => (received += part));
    const has = (text: string): Promise<void> =>
      until(() => Promise.resolve(received.includes(text)), { timeoutMs: 60_000, everyMs: 5, what: text });
    stream.write('one');
    await has('early one');
    stream.write('two');
    await has('onetwo');
    stream.end();
    await once(stream, 'close');
    expect(stream.rstCode).toBe(0);
  });

  it('answers for itself, and reports an answer that was cut short', async () => {
    await start();
    const unit = await rig.rawUnit((socket) => {
      socket.once('data', () => socket.end('HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf'));
    });
    await rig.route(unit);
    const client = session();
    expect((await ask(client)).code).not.toBe(0);
    expect((await rig.plane.traffic('blog')).failures).toBe(1);
    expect(await ask(client, { ':authority': 'nobody.test' })).toMatchObject({ status: 404, code: 0 });
    await rig.route();
    const idle = await ask(client);
    expect(idle).toMatchObject({ status: 503, code: 0 });
    expect(idle.body.toString()).toContain('Not deployed yet.');
  });

  it('lets no unit take a body for whole whose length was announced otherwise', async () => {
    await start();
    const ended: string[] = [];
    await rig.route(
      await rig.httpUnit((request, response) => {
        request.on('end', () => ended.push(request.url ?? ''));
        request.on('error', () => {});
        request.pipe(response);
      }),
    );
    for (const [path, length] of [
      ['/more', '9'],
      ['/less', '2'],
    ] as const) {
      const answer = await ask(
        session(),
        { ':method': 'POST', ':path': path, 'content-length': length },
        Buffer.from('12345'),
      );
      expect(answer.code, path).not.toBe(0);
    }
    expect(ended).toEqual([]);
  });

  it('ends a connection that gives up requests in a flood, and nobody else’s', async () => {
    await start();
    await rig.route(await rig.httpUnit((_request, response) => void setTimeout(() => response.end('ok'), 20)));
    const other = session();
    expect((await ask(other)).body.toString()).toBe('ok');
    const attacker = connectTls({
      ...{ host: '127.0.0.1', port: rig.tlsPort, servername: 'blog.test', rejectUnauthorized: false },
      ALPNProtocols: ['h2'],
    });
    attacker.on('error', () => {});
    attacker.resume();
    await once(attacker, 'secureConnect');
    const gone = once(attacker, 'close');
    attacker.write(Buffer.concat([Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'), frame(4, 0, 0)]));
    for (let id = 1; id < 2_000; id += 2)
      attacker.write(Buffer.concat([frame(1, 5, id, HEADERS), frame(3, 0, id, Buffer.from([0, 0, 0, 8]))]));
    await gone;
    expect((await rig.plane.traffic('blog')).requests).toBeLessThan(500);
    expect((await ask(other)).body.toString()).toBe('ok');
  });

  it('refuses heads that are too large, in bytes or in fields', async () => {
    await start();
    await rig.route(await rig.httpUnit((_request, response) => response.end('ok')));
    const many = Object.fromEntries(Array.from({ length: 200 }, (_, index) => [`x-${index}`, 'y']));
    for (const headers of [{ 'x-large': 'y'.repeat(40_000) }, many]) {
      const client = session();
      const answer = await ask(client, headers);
      expect(answer.status === 431 || answer.code !== 0, String(answer.status)).toBe(true);
    }
    expect((await ask(session())).body.toString()).toBe('ok');
    expect((await rig.plane.traffic('blog')).requests).toBe(1);
  });

  it('leaves a client that has gone alone, and lets its unit know', async () => {
    await start();
    let wasClosed = false;
    let hasArrived = false;
    await rig.route(
      await rig.httpUnit((_request, response) => {
        hasArrived = true;
        response.on('close', () => (wasClosed = true));
      }),
    );
    const stream = session().request({ ':authority': 'blog.test', ':path': '/' });
    stream.on('error', () => {});
    const how = { timeoutMs: 60_000, everyMs: 5 };
    await until(() => Promise.resolve(hasArrived), { ...how, what: 'the request' });
    stream.close(constants.NGHTTP2_CANCEL);
    await until(() => Promise.resolve(wasClosed), { ...how, what: 'the unit to see the end' });
    expect((await rig.plane.traffic('blog')).failures).toBe(0);
  });

  it('gives up a page of its own that its client does not take', async () => {
    await start({ timeouts: { stallMs: 50 } });
    const client = await RawHttp2.connect(rig.tlsPort, NO_WINDOW);
    const number = client.ask();
    await client.has(({ reset }) => reset.includes(number), 'the end of the request');
    client.socket.destroy();
  });

  it('gives one address no more requests at a time than it could have connections, on however many of them', async () => {
    await start({ limits: { connectionsPerAddress: 3 } });
    const [first, second] = [
      await RawHttp2.connect(rig.tlsPort, NO_WINDOW),
      await RawHttp2.connect(rig.tlsPort, NO_WINDOW),
    ];
    const early = [first.ask(), first.ask()];
    await first.has(({ headed }) => headed.length === early.length, 'the answers of the first');
    const [served, refused] = [second.ask(), second.ask()];
    await second.has(({ reset }) => reset.length > 0, 'a refusal');
    expect([second.reset, second.headed]).toEqual([[refused], [served]]);
    first.socket.destroy();
    await expect
      .poll(async () => {
        const number = second.ask();
        await second.has(({ reset, headed }) => [...reset, ...headed].includes(number), 'an answer');
        return second.headed.includes(number);
      })
      .toBe(true);
    second.socket.destroy();
  });

  it('lets go of the unit of a client that has taken nothing and is gone', async () => {
    await start();
    let wasClosed = false;
    await rig.route(
      await rig.httpUnit((_request, response) => {
        response.on('close', () => (wasClosed = true));
        response.write('much');
      }),
    );
    const client = await RawHttp2.connect(rig.tlsPort, NO_WINDOW);
    const number = client.ask();
    await client.has(({ headed }) => headed.includes(number), 'the answer');
    client.socket.end();
    await until(() => Promise.resolve(wasClosed), { timeoutMs: 30_000, everyMs: 5, what: 'the unit to see the end' });
    expect((await rig.plane.traffic('blog')).failures).toBe(0);
  });

  it('can be switched off', async () => {
    await start({ http2: false });
    await rig.route(await rig.httpUnit((_request, response) => response.end('one')));
    const socket = connectTls({
      ...{ host: '127.0.0.1', port: rig.tlsPort, servername: 'blog.test', rejectUnauthorized: false },
      ALPNProtocols: ['h2', 'http/1.1'],
    });
    await once(socket, 'secureConnect');
    expect(socket.alpnProtocol).toBe('http/1.1');
    const client = RawClient.over(socket);
    client.send('GET / HTTP/1.1\r\nHost: blog.test\r\nConnection: close\r\n\r\n');
    expect(await client.rest()).toContain('one');
  });
});
