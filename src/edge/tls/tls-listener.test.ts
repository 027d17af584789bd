import { once } from 'node:events';
import { connect as connectTcp } from 'node:net';
import { connect, type ConnectionOptions, type TLSSocket } from 'node:tls';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { EdgeRig, RawClient, type RigSettings } from '../../../test/support/edge-rig.ts';
import { testCertificate, type TestCertificate } from '../../../test/support/test-certificates.ts';
import { NO_CERTIFICATES } from './live-certificates.ts';

let rig: EdgeRig;
let own: TestCertificate;
let version = 0;
const TICKETS = Buffer.alloc(48, 7).toString('base64');
const GET = 'GET / HTTP/1.1\r\nHost: blog.test\r\n\r\n';

beforeAll(async () => {
  own = await testCertificate('blog.test');
});
afterEach(() => rig.stop());

async function start(settings: RigSettings = {}): Promise<void> {
  rig = await EdgeRig.start({ tls: true, ...settings });
  await present();
}

async function present(over: Partial<TestCertificate> = {}, ticketKeys = TICKETS): Promise<void> {
  const certificates = [{ id: 'c1', names: ['blog.test'], ...own, ...over }];
  await rig.plane.present({ set: { ...NO_CERTIFICATES, version: ++version, certificates }, ticketKeys });
}

async function secure(
  options: ConnectionOptions = {},
  onSession: (session: Buffer) => void = () => {},
): Promise<TLSSocket> {
  const socket = connect({
    ...{ host: '127.0.0.1', port: rig.tlsPort, servername: 'blog.test', rejectUnauthorized: false },
    ...options,
  });
  socket.on('error', () => {});
  socket.on('session', onSession);
  await once(socket, 'secureConnect');
  return socket;
}

async function tlsClient(options?: ConnectionOptions): Promise<RawClient> {
  return RawClient.over(await secure(options));
}

describe('the TLS listener', () => {
  it('carries bodies of any size both ways, requests in a row, and websockets', async () => {
    await start();
    const unit = await rig.httpUnit(
      (request, response) => {
        response.writeHead(200, { 'content-length': request.headers['content-length'] ?? 0 });
        request.pipe(response);
      },
      (_request, socket) => {
        socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n');
        socket.on('error', () => {});
        socket.on('data', (chunk) => socket.write(chunk));
      },
    );
    await rig.route(unit);
    const client = await tlsClient();
    const body = 'abcdefgh'.repeat(262_144);
    for (const count of [1, 2]) {
      client.send(`POST / HTTP/1.1\r\nHost: blog.test\r\nContent-Length: ${body.length}\r\n\r\n${body}`);
      await client.until((received) => received.length > count * body.length);
      await client.until((received) => received.endsWith(body));
    }
    client.received = '';
    client.send('GET / HTTP/1.1\r\nHost: blog.test\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n');
    await client.until(/^[^]*101 Switching[^]*\r\n\r\n/);
    client.send('frame');
    await client.until(/frame$/);
    client.socket.destroy();
  });

  it('resumes sessions by tickets, also those that another process with the same keys has given', async () => {
    await start();
    const session = async (
      options: ConnectionOptions = {},
    ): Promise<{ session: Buffer | undefined; isReused: boolean }> => {
      let given: Buffer | undefined;
      const socket = await secure(options, (session) => (given = session));
      socket.write('GET / HTTP/1.1\r\nHost: nobody.test\r\n\r\n');
      await once(socket, 'data');
      const isReused = socket.isSessionReused();
      socket.destroy();
      return { session: given, isReused };
    };
    const first = await session();
    expect(first).toEqual({ session: expect.any(Buffer) as Buffer, isReused: false });
    expect((await session({ session: first.session })).isReused).toBe(true);
    await rig.stop();
    await start();
    expect((await session({ session: first.session })).isReused).toBe(true);
    await present({}, Buffer.alloc(48, 8).toString('base64'));
    expect((await session({ session: first.session })).isReused).toBe(false);
  });

  it('speaks TLS 1.2 and 1.3, and nothing older', async () => {
    await start();
    for (const protocol of ['TLSv1.2', 'TLSv1.3'] as const) {
      const socket = await secure({ minVersion: protocol, maxVersion: protocol });
      expect(socket.getProtocol()).toBe(protocol);
      socket.destroy();
    }
    const old = { minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT@SECLEVEL=0' } as const;
    await expect(secure(old)).rejects.toThrow();
  });

  it('gives up on a client that says nothing, or stops in the middle of its greeting or of its handshake', async () => {
    await start({ timeouts: { firstByteMs: 150, headMs: 150 } });
    const hello = await greeting();
    // The last one is a whole greeting, after which the client says no more.
    for (const bytes of ['', hello.subarray(0, 20), hello]) {
      const client = connectTcp(rig.tlsPort, '127.0.0.1');
      client.on('error', () => {});
      client.resume();
      if (bytes.length > 0) client.write(bytes);
      await once(client, 'close');
    }
    expect((await secure()).destroy().destroyed).toBe(true);
  });

  it('takes a greeting in single bytes', async () => {
    await start();
    const hello = await greeting();
    const client = connectTcp({ port: rig.tlsPort, host: '127.0.0.1', noDelay: true });
    for (const octet of hello) {
      client.write(Buffer.of(octet));
      await new Promise((resolve) => setImmediate(resolve));
    }
    const [answer] = (await once(client, 'data')) as [Buffer];
    expect(answer[0]).toBe(22);
    client.destroy();
  });

  it('makes room for a new client by closing those who have not finished their handshake', async () => {
    await start({ limits: { connectionsPerAddress: 4 } });
    const silent = await Promise.all(
      Array.from({ length: 4 }, async () => {
        const socket = connectTcp(rig.tlsPort, '127.0.0.1');
        socket.on('error', () => {});
        await once(socket, 'connect');
        return socket;
      }),
    );
    const ended = once(silent[0] as TLSSocket, 'close');
    silent[0]?.resume();
    const client = await secure();
    await ended;
    for (const socket of [...silent, client]) socket.destroy();
  });

  it('says to who speaks plain HTTP what is spoken here', async () => {
    await start();
    const client = await RawClient.connect(rig.tlsPort);
    client.send(GET);
    expect(await client.rest()).toMatch(/^HTTP\/1\.1 400 [^]*Only HTTPS/);
  });

  it('reads the header of the PROXY protocol before the greeting', async () => {
    await start({ trustedProxies: ['127.0.0.1'], proxyProtocol: true });
    const unit = await rig.httpUnit((request, response) => {
      response.end(`${String(request.headers['x-forwarded-for'])} ${String(request.headers['x-forwarded-proto'])}`);
    });
    await rig.route(unit);
    const raw = connectTcp(rig.tlsPort, '127.0.0.1');
    raw.write('PROXY TCP4 203.0.113.9 127.0.0.1 4711 443\r\n');
    const client = await tlsClient({ socket: raw });
    client.send(GET);
    await client.until(/203\.0\.113\.9 https$/);
    client.socket.destroy();
  });

  it('asks browsers to come by HTTPS only where that is set, and leaves what apps say about it', async () => {
    await start({ hstsSeconds: 600 });
    await rig.route(
      await rig.httpUnit((request, response) => {
        if (request.url === '/own') response.setHeader('strict-transport-security', 'max-age=1');
        response.end('whole');
      }),
    );
    const client = await tlsClient();
    client.send(GET);
    expect(await client.until(/whole$/)).toMatch(/^Strict-Transport-Security: max-age=600\r$/m);
    client.received = '';
    client.send(GET.replace('/', '/own'));
    expect((await client.until(/whole$/)).match(/strict-transport-security: .*/gi)).toEqual([
      'strict-transport-security: max-age=1',
    ]);
    client.socket.destroy();
  });
});

/** What a client sends first. */
async function greeting(): Promise<Buffer> {
  const { createServer } = await import('node:net');
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  const client = connect({ port, host: '127.0.0.1', servername: 'blog.test' });
  client.on('error', () => {});
  const [socket] = (await once(server, 'connection')) as [TLSSocket];
  const [bytes] = (await once(socket, 'data')) as [Buffer];
  for (const end of [socket, client]) end.destroy();
  server.close();
  return bytes;
}
