import type { Socket } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import type { Target } from '../../domain/routes/router.ts';
import { EdgeRig } from '../../../test/support/edge-rig.ts';
import type { RigSettings } from '../../../test/support/edge-rig.ts';

const GET = 'GET / HTTP/1.1\r\nHost: blog.test\r\n\r\n';
const GET_LAST = 'GET / HTTP/1.1\r\nHost: blog.test\r\nConnection: close\r\n\r\n';
const OK = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok';

async function inFlight(rig: EdgeRig, unit: Target, count: number): Promise<void> {
  while ((await rig.plane.drained([unit.unit], 1)) < count) await new Promise((resolve) => setTimeout(resolve, 5));
}

describe('failures', () => {
  const rigs: EdgeRig[] = [];
  afterEach(async () => {
    await Promise.all(rigs.splice(0).map((rig) => rig.stop()));
  });
  const start = async (settings: RigSettings = {}): Promise<EdgeRig> => {
    const rig = await EdgeRig.start(settings);
    rigs.push(rig);
    return rig;
  };

  /** A raw unit that answers the n-th request of each connection by `react`. */
  const scripted = async (
    rig: EdgeRig,
    react: (socket: Socket, count: number, text: string) => void,
  ): Promise<string[]> => {
    const requests: string[] = [];
    const unit = await rig.rawUnit((socket) => {
      let count = 0;
      socket.on('data', (chunk: Buffer) => {
        const text = chunk.toString('latin1');
        requests.push(text);
        react(socket, ++count, text);
      });
      socket.on('end', () => socket.end());
    });
    await rig.route(unit);
    return requests;
  };

  /** Serves one request well and drops the connection at the second. */
  const dropsTheSecond = (socket: Socket, count: number): void => {
    if (count === 1) socket.write(OK);
    else socket.destroy();
  };

  it('repeats a request once when a kept connection dies under it', async () => {
    const rig = await start();
    const requests = await scripted(rig, dropsTheSecond);
    const client = await rig.client();
    client.send(GET);
    await client.until(/ok$/);
    client.send(GET_LAST);
    expect(await client.rest()).toMatch(/ok[^]*200 OK[^]*ok$/);
    expect(requests).toHaveLength(3);
    expect(await rig.plane.traffic('blog')).toMatchObject({ requests: 2, failures: 0 });
  });

  it('repeats an idempotent request with the body it has already sent', async () => {
    const rig = await start();
    const requests = await scripted(rig, dropsTheSecond);
    const client = await rig.client();
    client.send(GET);
    await client.until(/ok$/);
    client.send('PUT / HTTP/1.1\r\nHost: blog.test\r\nConnection: close\r\nContent-Length: 5\r\n\r\nhello');
    expect(await client.rest()).toMatch(/200 OK[^]*ok[^]*200 OK/);
    expect(requests.at(-1)).toMatch(/^PUT [^]*hello$/);
  });

  it('does not repeat a request that may have been acted on', async () => {
    const rig = await start();
    const requests = await scripted(rig, dropsTheSecond);
    const client = await rig.client();
    client.send(GET);
    await client.until(/ok$/);
    client.send('POST / HTTP/1.1\r\nHost: blog.test\r\nConnection: close\r\nContent-Length: 5\r\n\r\nhello');
    expect(await client.rest()).toMatch(/502 Bad Gateway/);
    expect(requests).toHaveLength(2);
    expect((await rig.plane.traffic('blog')).failures).toBe(1);
  });

  it('asks another unit when a unit dies under a request that may be repeated', async () => {
    const rig = await start();
    const dying = await rig.rawUnit((socket) => socket.once('data', () => socket.destroy()));
    const alive = await rig.httpUnit((_request, response) => response.end('alive'));
    await rig.route(dying, alive);
    for (let count = 0; count < 4; count++) expect(await rig.exchange(GET_LAST)).toMatch(/alive/);
    expect((await rig.plane.traffic('blog')).failures).toBe(0);
  });

  it('asks another unit when one dies under a kept connection and takes a last new one', async () => {
    const rig = await start();
    let dropped = 0;
    let connections = 0;
    const dying = await rig.rawUnit((socket) => {
      let isServing = ++connections === 1;
      socket.on('data', () => {
        if (isServing) {
          isServing = false;
          socket.write(OK);
        } else {
          dropped++;
          socket.destroy();
        }
      });
    });
    const alive = await rig.httpUnit(({ url }, response) => {
      if (url !== '/hold') response.end('alive');
    });
    await rig.route(alive);
    const holder = await rig.client();
    holder.send('GET /hold HTTP/1.1\r\nHost: blog.test\r\n\r\n');
    await inFlight(rig, alive, 1);
    // The one with fewer requests is asked first.
    await rig.route(dying, alive);
    const client = await rig.client();
    client.send(GET);
    await client.until(/ok$/);
    client.send(GET);
    await client.until(/alive$/);
    expect(dropped).toBe(2);
    expect(await rig.plane.traffic('blog')).toMatchObject({ failures: 0 });
  });

  it('answers 502 when every unit drops the request', async () => {
    const rig = await start();
    const requests = await scripted(rig, (socket) => socket.destroy());
    const answer = await rig.exchange(GET_LAST);
    expect(answer).toMatch(/^HTTP\/1\.1 502 Bad Gateway\r\n/);
    expect(answer).toContain('app: blog');
    expect(answer).not.toContain('127.0.0.1');
    expect(requests).toHaveLength(1);
  });

  it('does not use a kept connection that the unit has closed or may be about to close', async () => {
    const rig = await start();
    let connections = 0;
    const unit = await rig.rawUnit((socket) => {
      connections++;
      socket.on('data', () => socket.write('HTTP/1.1 200 OK\r\nKeep-Alive: timeout=1\r\nContent-Length: 2\r\n\r\nok'));
    });
    await rig.route(unit);
    await rig.exchange(GET_LAST);
    await rig.exchange(GET_LAST);
    expect(connections).toBe(2);
  });

  it('answers 504 when the unit takes too long to answer', async () => {
    const rig = await start({ timeouts: { answerMs: 60 } });
    await scripted(rig, () => {});
    expect(await rig.exchange(GET_LAST)).toMatch(/^HTTP\/1\.1 504 Gateway Timeout\r\n[^]*app: blog/);
    expect((await rig.plane.traffic('blog')).failures).toBe(1);
  });

  it('answers 408 to a head that trickles in and to a body that does not come, and closes idle connections', async () => {
    const rig = await start({ timeouts: { firstByteMs: 60, headMs: 60, stallMs: 60, idleMs: 60 } });
    await scripted(rig, () => {});
    expect(await rig.exchange('GET / HTTP/1.1\r\nHost: bl')).toMatch(/^HTTP\/1\.1 408/);
    expect(await rig.exchange('POST / HTTP/1.1\r\nHost: blog.test\r\nContent-Length: 9\r\n\r\nhel')).toMatch(
      /^HTTP\/1\.1 408/,
    );
    expect(await rig.exchange('')).toBe('');
    expect((await rig.plane.traffic('blog')).failures).toBe(0);
  });

  it('a head that trickles in does not live longer for trickling', async () => {
    const rig = await start({ timeouts: { headMs: 100 } });
    const client = await rig.client();
    const drip = setInterval(() => client.send('a'), 10);
    expect(await client.rest()).toMatch(/^HTTP\/1\.1 408/);
    clearInterval(drip);
  });

  it('cuts off a client that stops reading and a unit that stops sending', async () => {
    const rig = await start({ timeouts: { stallMs: 60, silenceMs: 60 } });
    const unit = await rig.httpUnit((_request, response) => {
      response.writeHead(200, { 'content-length': 100 });
      response.write('part');
    });
    await rig.route(unit);
    expect(await rig.exchange(GET)).toMatch(/part$/);
    expect((await rig.plane.traffic('blog')).failures).toBe(1);

    const flood = await rig.httpUnit((_request, response) => void response.write(Buffer.alloc(50_000_000)));
    await rig.route(flood);
    const client = await rig.client();
    client.socket.pause();
    client.send(GET);
    await inFlight(rig, flood, 1);
    expect(await rig.plane.drained([flood.unit], 5_000)).toBe(0);
    client.socket.resume();
    await client.rest();
    expect(client.received.length).toBeLessThan(50_000_000);
  });

  it('queues beyond the limit of connections, and answers 503 beyond the queue', async () => {
    const rig = await start({ limits: { connectionsPerTarget: 1, queuePerTarget: 1 }, timeouts: { queueMs: 5_000 } });
    const finish: (() => void)[] = [];
    let arrived = (): void => {};
    const inside = new Promise<void>((resolve) => (arrived = resolve));
    const unit = await rig.httpUnit((_request, response) => {
      finish.push(() => response.end('ok'));
      arrived();
    });
    await rig.route(unit);
    const clients = [await rig.client(), await rig.client(), await rig.client()];
    clients[0]?.send(GET_LAST);
    await inside;
    clients[1]?.send(GET_LAST);
    clients[2]?.send(GET_LAST);
    const refused = await Promise.race([clients[1]?.rest(), clients[2]?.rest()]);
    expect(refused).toMatch(/^HTTP\/1\.1 503 [^]*Retry-After: 1\r\n/);
    finish[0]?.();
    expect(await clients[0]?.rest()).toMatch(/ok$/);
    while (finish.length < 2) await new Promise((resolve) => setTimeout(resolve, 5));
    finish[1]?.();
    await Promise.all(clients.map((client) => client.rest()));
    const statuses = clients.map((client) => client.received.slice(9, 12)).sort();
    expect(statuses).toEqual(['200', '200', '503']);
    expect(await rig.plane.traffic('blog')).toMatchObject({ requests: 3, failures: 1 });
  });

  it('gives up waiting in the queue in time', async () => {
    const rig = await start({ limits: { connectionsPerTarget: 1 }, timeouts: { queueMs: 60 } });
    await scripted(rig, () => {});
    const first = await rig.client();
    first.send(GET);
    expect(await rig.exchange(GET_LAST)).toMatch(/^HTTP\/1\.1 503/);
  });

  it('lets a client finish reading that has closed its sending side', async () => {
    const rig = await start();
    const unit = await rig.httpUnit((_request, response) => void setTimeout(() => response.end('late'), 30));
    await rig.route(unit);
    const client = await rig.client();
    client.send(GET);
    client.socket.end();
    expect(await client.rest()).toMatch(/late$|late\r\n0\r\n\r\n$/);
  });
});
