import { createHash } from 'node:crypto';
import { connect, type Socket } from 'node:net';
import { Worker } from 'node:worker_threads';
import { afterEach, describe, expect, it } from 'vitest';
import type { Target } from '../../domain/routes/router.ts';
import { EdgeRig } from '../../../test/support/edge-rig.ts';
import type { RawClient, RigSettings } from '../../../test/support/edge-rig.ts';

const UPGRADE =
  'GET /chat HTTP/1.1\r\nHost: blog.test\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n' +
  'Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n';
const WEBSOCKET_GUID = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11';

const NOTHING = (): void => {};

/** A listener whose queue is full and who takes nobody: a connection to it is neither made nor refused. */
async function silentTarget(unit: string): Promise<{ target: Target; close: () => Promise<unknown> }> {
  const worker = new Worker(
    `const { parentPort } = require('node:worker_threads');
     const server = require('node:net').createServer().listen({ port: 0, host: '127.0.0.1', backlog: 1 }, () => {
       parentPort.postMessage(server.address().port);
       Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
     });`,
    { eval: true },
  );
  const port = await new Promise<number>((resolve) => worker.once('message', resolve));
  const queued: Socket[] = [];
  // Of the third nothing is heard: the queue has room for two.
  for (const isHeard of [true, true, false]) {
    const socket = connect(port, '127.0.0.1').on('error', NOTHING);
    queued.push(socket);
    if (isHeard) await new Promise((resolve) => socket.once('connect', resolve));
  }
  const close = (): Promise<unknown> => {
    for (const socket of queued) socket.destroy();
    return worker.terminate();
  };
  return { target: { unit, host: '127.0.0.1', port }, close };
}

async function inFlight(rig: EdgeRig, unit: Target, count: number): Promise<void> {
  while ((await rig.plane.drained([unit.unit], 1)) < count) await new Promise((resolve) => setTimeout(resolve, 5));
}

describe('switching', () => {
  const rigs: EdgeRig[] = [];
  afterEach(async () => {
    await Promise.all(rigs.splice(0).map((rig) => rig.stop()));
  });
  const start = async (settings: RigSettings = {}): Promise<EdgeRig> => {
    const rig = await EdgeRig.start(settings);
    rigs.push(rig);
    return rig;
  };

  /** Accepts the handshake and sends every byte back. */
  const socketUnit = (rig: EdgeRig, onSocket: (socket: Socket) => void = NOTHING): Promise<Target> =>
    rig.rawUnit((socket) => {
      onSocket(socket);
      socket.once('data', (head: Buffer) => {
        const key = /Sec-WebSocket-Key: (.*)\r\n/.exec(head.toString('latin1'))?.[1] ?? '';
        const accept = createHash('sha1')
          .update(key + WEBSOCKET_GUID)
          .digest('base64');
        socket.write(
          'HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n' +
            `Sec-WebSocket-Accept: ${accept}\r\n\r\n`,
        );
        socket.pipe(socket);
      });
    });
  const upgraded = async (rig: EdgeRig): Promise<RawClient> => {
    const client = await rig.client();
    client.send(UPGRADE);
    expect(await client.until(/\r\n\r\n/)).toMatch(
      /^HTTP\/1\.1 101 [^]*Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK\+xOo=\r\n[^]*Connection: Upgrade\r\n/,
    );
    client.received = '';
    return client;
  };

  it('sends a request elsewhere whose unit is replaced before it takes the connection', async () => {
    const rig = await start({ timeouts: { connectMs: 3_600_000 } });
    const silent = await silentTarget('gone');
    try {
      await rig.route(silent.target);
      const client = await rig.client();
      client.send('POST / HTTP/1.1\r\nHost: blog.test\r\nContent-Length: 2\r\n\r\nhi');
      await inFlight(rig, silent.target, 1);
      await rig.route(await rig.httpUnit((_, response) => response.end('from the new one')));
      expect(await client.until(/new one/)).toMatch(/^HTTP\/1\.1 200 /);
    } finally {
      await silent.close();
    }
  });

  it('passes a websocket through, both ways and whatever its size', async () => {
    const rig = await start();
    await rig.route(await socketUnit(rig));
    const client = await upgraded(rig);
    const frames = 'x'.repeat(200_000);
    for (let count = 0; count < 20; count++) client.send(frames);
    await client.until((received) => received.length >= 20 * frames.length);
    expect(client.received).toBe(frames.repeat(20));
    client.socket.end();
    await client.rest();
    expect(await rig.plane.drained(['u1'], 5_000)).toBe(0);
    expect(await rig.plane.traffic('blog')).toMatchObject({ requests: 1, failures: 0 });
  });

  it('takes bytes that came right behind the handshake, on either side', async () => {
    const rig = await start();
    const unit = await rig.rawUnit((socket) => {
      socket.once('data', () => {
        socket.write('HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\nhello ');
        socket.pipe(socket);
      });
    });
    await rig.route(unit);
    const client = await rig.client();
    client.send(`${UPGRADE}early`);
    expect(await client.until(/early$/)).toMatch(/\r\n\r\nhello early$/);
  });

  it('does not let a request become another kind of HTTP behind its back', async () => {
    const rig = await start();
    let seen = '';
    const unit = await rig.httpUnit((request, response) => {
      seen = request.rawHeaders.join(' ');
      response.end('plain');
    });
    await rig.route(unit);
    const client = await rig.client();
    client.send('GET / HTTP/1.1\r\nHost: blog.test\r\nConnection: Upgrade, close\r\nUpgrade: h2c\r\n\r\n');
    expect(await client.rest()).toMatch(/plain/);
    expect(seen).not.toMatch(/upgrade/i);
  });

  it('waits for no websocket of a removed target, and leaves its end to the unit', async () => {
    const rig = await start();
    const sockets: Socket[] = [];
    const unit = await socketUnit(rig, (socket) => sockets.push(socket));
    await rig.route(unit);
    const [warned, cut] = [await upgraded(rig), await upgraded(rig)];
    await rig.route();
    expect(await rig.plane.drained([unit.unit], 60_000)).toBe(0);
    warned.send('still here');
    await warned.until(/still here/);
    // What a unit does that has got TERM: a close frame, then the end of the connection. Then the process ends.
    sockets[0]?.end('goodbye');
    expect(await warned.rest()).toBe('still heregoodbye');
    cut.send('me too');
    await cut.until(/me too/);
    await rig.kill(unit);
    expect(await cut.rest()).toBe('me too');
    expect(await rig.plane.traffic('blog')).toMatchObject({ requests: 2, failures: 0 });
  });

  it('brings the last words of a unit to a websocket client that reads slowly', async () => {
    const rig = await start();
    const sockets: Socket[] = [];
    const unit = await socketUnit(rig, (socket) => sockets.push(socket));
    await rig.route(unit);
    const client = await upgraded(rig);
    client.socket.pause();
    const words = 'x'.repeat(8 * 1024 * 1024);
    sockets[0]?.end(`${words}goodbye`);
    await rig.route();
    await new Promise((resolve) => setImmediate(resolve));
    client.socket.resume();
    expect((await client.rest()).length).toBe(words.length + 'goodbye'.length);
  });

  it('brings the last words of a unit to a websocket client that still sends', async () => {
    const rig = await start({ timeouts: { lingerMs: 60_000 } });
    const sockets: Socket[] = [];
    await rig.route(await socketUnit(rig, (socket) => sockets.push(socket)));
    const client = await upgraded(rig);
    const errors: unknown[] = [];
    client.socket.on('error', (error) => errors.push(error)).pause();
    const unit = sockets[0] ?? expect.fail('nobody has connected');
    // As of a process that ends right after its goodbye.
    unit.end('goodbye', () => unit.destroy());
    await new Promise((resolve) => unit.once('close', resolve));
    for (let sent = 0; sent < 50; sent++) {
      client.send('more');
      await new Promise((resolve) => setTimeout(resolve, 2));
    }
    client.socket.resume();
    expect(await client.rest()).toBe('goodbye');
    expect(errors).toEqual([]);
  });

  it('ends a websocket whose client has left, although the unit does not notice', async () => {
    const rig = await start({ timeouts: { halfClosedMs: 40 } });
    const handshake = 'HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n';
    const unit = await rig.rawUnit((socket) => {
      socket.allowHalfOpen = true;
      socket.once('data', () => socket.write(handshake));
    });
    await rig.route(unit);
    const client = await rig.client();
    client.send(UPGRADE);
    await client.until(/\r\n\r\n/);
    client.socket.end();
    await client.rest();
  });

  it('keeps the websockets of a target that stays', async () => {
    const rig = await start();
    const unit = await socketUnit(rig);
    await rig.route(unit);
    const client = await upgraded(rig);
    await rig.route();
    await rig.route(unit);
    client.send('still here');
    await client.until(/still here/);
  });

  it('closes kept connections to a removed target at once and lets requests in flight finish', async () => {
    const rig = await start();
    let open = 0;
    let finish = NOTHING;
    const unit = await rig.httpUnit((request, response) => {
      if (request.url === '/slow') finish = () => response.end('late');
      else response.end('quick');
    });
    const counted = await rig.rawUnit((socket) => {
      open++;
      socket.on('data', () => socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok'));
      socket.on('end', () => socket.end());
      socket.on('close', () => open--);
    });
    await rig.route(counted);
    await rig.exchange('GET / HTTP/1.1\r\nHost: blog.test\r\nConnection: close\r\n\r\n');
    expect(open).toBe(1);
    await rig.route(unit);
    while (open > 0) await new Promise((resolve) => setTimeout(resolve, 5));

    const client = await rig.client();
    client.send('GET /slow HTTP/1.1\r\nHost: blog.test\r\nConnection: close\r\n\r\n');
    await inFlight(rig, unit, 1);
    await rig.route(counted);
    const drained = rig.plane.drained([unit.unit], 5_000);
    while (finish === NOTHING) await new Promise((resolve) => setTimeout(resolve, 1));
    finish();
    expect(await client.rest()).toMatch(/late/);
    expect(await drained).toBe(0);
  });

  it('sends requests that wait for a removed target to its successor', async () => {
    const rig = await start({ limits: { connectionsPerTarget: 1 } });
    let busy = (): void => {};
    const taken = new Promise<void>((resolve) => (busy = resolve));
    const old = await rig.rawUnit((socket) => void socket.once('data', busy));
    const successor = await rig.httpUnit((_request, response) => response.end('successor'));
    await rig.route(old);
    const first = await rig.client();
    first.send('GET / HTTP/1.1\r\nHost: blog.test\r\n\r\n');
    await taken;
    const second = await rig.client();
    second.send('GET / HTTP/1.1\r\nHost: blog.test\r\nConnection: close\r\n\r\n');
    await inFlight(rig, old, 2);
    await rig.route(successor);
    expect(await second.rest()).toMatch(/successor/);
  });

  it('loses nothing while tables change under load and old units end', async () => {
    const rig = await start();
    const unitNamed = (): Promise<Target> =>
      rig.httpUnit((request, response) => {
        request.resume();
        request.on('end', () => setTimeout(() => response.end('ok'), Math.random() * 4));
      });
    let current = await unitNamed();
    await rig.route(current);
    let running = true;
    let answered = 0;
    const load = async (method: string): Promise<void> => {
      const client = await rig.client();
      while (running) {
        client.received = '';
        client.send(`${method} / HTTP/1.1\r\nHost: blog.test\r\nContent-Length: 3\r\n\r\nabc`);
        expect(await client.until(/ok\r\n0\r\n\r\n$|ok$/)).toMatch(/^HTTP\/1\.1 200/);
        answered++;
      }
    };
    const loads = Promise.all(['GET', 'POST', 'PUT', 'POST', 'GET', 'POST'].map(load));
    for (let round = 0; round < 20; round++) {
      const next = await unitNamed();
      const before = answered;
      while (answered < before + 10) await new Promise((resolve) => setTimeout(resolve, 1));
      await rig.route(next);
      expect(await rig.plane.drained([current.unit], 5_000)).toBe(0);
      await rig.kill(current);
      current = next;
    }
    running = false;
    await loads;
    expect(await rig.plane.traffic('blog')).toMatchObject({ requests: answered, failures: 0 });
  });

  it('finishes what is in flight when it is stopped, and takes nothing new', async () => {
    const rig = await start();
    let finish = NOTHING;
    const unit = await rig.httpUnit((_request, response) => (finish = () => response.end('late')));
    await rig.route(unit);
    const client = await rig.client();
    const idle = await rig.client();
    client.send('GET / HTTP/1.1\r\nHost: blog.test\r\n\r\n');
    await inFlight(rig, unit, 1);
    const stopped = rig.plane.stop(5_000);
    expect(await idle.rest()).toBe('');
    while (finish === NOTHING) await new Promise((resolve) => setTimeout(resolve, 1));
    await expect(rig.client()).rejects.toThrow();
    finish();
    expect(await client.rest()).toMatch(/Connection: close[^]*late/);
    await stopped;
  });
});
