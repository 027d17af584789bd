import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { EdgeRig, type RawClient, type RigSettings } from '../../../test/support/edge-rig.ts';

const GET = 'GET / HTTP/1.1\r\nHost: blog.test\r\n\r\n';

describe('connections of clients', () => {
  let rig: EdgeRig;
  afterEach(() => rig.stop());

  /** Starts an edge; the unit answers `/slow` upon release(). */
  async function start(settings: RigSettings): Promise<{ release: () => void }> {
    rig = await EdgeRig.start(settings);
    const slow = { release: (): void => {} };
    const unit = await rig.httpUnit((request, response) => {
      if (request.url === '/slow') slow.release = () => response.end('late');
      else response.end('at once');
    });
    await rig.route(unit);
    return slow;
  }

  const silent = async (count: number): Promise<RawClient[]> => {
    const clients: RawClient[] = [];
    for (let n = 0; n < count; n++) clients.push(await rig.client());
    return clients;
  };
  const closedOf = (clients: readonly RawClient[]): number => clients.filter((client) => client.closed).length;

  it('on which nothing is asked make room for others, requests for nobody', async () => {
    const slow = await start({ limits: { clientConnections: 10 } });
    const busy = await rig.client();
    busy.send(GET.replace('/ ', '/slow '));
    await expect.poll(() => slow.release.toString().includes('late')).toBe(true);
    const half = await silent(5);
    for (const client of half) client.send('GET / HTTP/1.1\r\nHost: bl');
    const flood = await silent(40);
    const late = await rig.client();
    late.send(GET);
    await late.until(/at once$/);
    await expect.poll(() => closedOf(half)).toBe(5);
    expect(closedOf(flood)).toBeGreaterThan(30);
    slow.release();
    await busy.until(/late$/);
    expect((await rig.plane.traffic('blog')).failures).toBe(0);
  });

  it('of one address are bounded, those of a trusted proxy are not', async () => {
    await start({ limits: { connectionsPerAddress: 3 } });
    const clients = await silent(8);
    await expect.poll(() => closedOf(clients)).toBe(5);
    expect(clients.slice(5).some((client) => client.closed)).toBe(false);
    await rig.stop();
    await start({ limits: { connectionsPerAddress: 3 }, trustedProxies: ['127.0.0.1'] });
    const proxy = await silent(8);
    for (const client of proxy) client.send(GET);
    for (const client of proxy) await client.until(/at once$/);
  });

  it('that have become websockets keep nobody else out, as many as an address has', async () => {
    rig = await EdgeRig.start({ limits: { clientConnections: 8 } });
    const unit = await rig.rawUnit((socket) => {
      socket.on('data', (bytes) => {
        const isUpgrade = bytes.toString('latin1').includes('Upgrade: websocket');
        if (isUpgrade)
          socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n');
        else socket.write('HTTP/1.1 200 OK\r\nContent-Length: 7\r\n\r\nat once');
      });
    });
    await rig.route(unit);
    const opened: Socket[] = [];
    for (let at = 0; at < 8; at += 1) {
      const socket = connect({ port: rig.port, host: '127.0.0.1', localAddress: `127.0.0.${2 + (at % 2)}` });
      socket.on('error', () => {});
      opened.push(socket);
      socket.write('GET / HTTP/1.1\r\nHost: blog.test\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n');
      await once(socket, 'data');
    }
    const other = await rig.client();
    other.send(GET);
    await other.until(/at once$/);
    await expect.poll(() => opened.filter(({ closed }) => closed).length).toBe(1);
    for (const socket of opened) socket.destroy();
  });

  it('end when nothing ever comes', async () => {
    await start({ timeouts: { firstByteMs: 50 } });
    const [client] = await silent(1);
    expect(await client?.rest()).toBe('');
  });
});
