import { afterEach, describe, expect, it } from 'vitest';
import type { Target } from '../../domain/routes/router.ts';
import { EdgeRig, type RawClient, type RigSettings } from '../../../test/support/edge-rig.ts';

const HEAD = 'POST / HTTP/1.1\r\nHost: blog.test\r\nContent-Length: 10\r\n\r\n';

describe('uploads', () => {
  let rig: EdgeRig;
  afterEach(() => rig.stop());

  /** Starts an edge with a unit that answers with the size of what it got. */
  async function start(settings: RigSettings = {}): Promise<Target> {
    rig = await EdgeRig.start(settings);
    const unit = await rig.httpUnit((request, response) => {
      let size = 0;
      request.on('data', (chunk: Buffer) => (size += chunk.length));
      request.on('end', () => response.end(`size ${size}`));
      request.on('error', () => {});
    });
    await rig.route(unit);
    return unit;
  }

  const inFlight = (unit: Target): Promise<number> => rig.plane.drained([unit.unit], 0);
  const begun = async (bytes: string): Promise<RawClient> => {
    const client = await rig.client();
    client.send(bytes);
    return client;
  };
  /** Once it is answered, all that was sent before it has been read. */
  const roundTrip = async (): Promise<void> => {
    const client = await begun('GET / HTTP/1.1\r\nHost: blog.test\r\n\r\n');
    await client.until(/size 0$/);
    client.socket.destroy();
  };

  it('ask for a unit when there is something to send to it', async () => {
    const unit = await start();
    const clients = [await begun(HEAD), await begun(HEAD)];
    await roundTrip();
    expect(await inFlight(unit)).toBe(0);
    for (const client of clients) client.send('x'.repeat(10));
    for (const client of clients) expect(await client.until(/size 10$/)).toMatch(/^HTTP\/1\.1 200/);
    const whole = await begun(`${HEAD}${'x'.repeat(10)}`);
    expect(await whole.until(/size 10$/)).toMatch(/^HTTP\/1\.1 200/);
    const expecting = await begun(HEAD.replace('\r\n\r\n', '\r\nExpect: 100-continue\r\n\r\n'));
    await expecting.until(/^HTTP\/1\.1 100 Continue\r\n\r\n/);
    expecting.send('x'.repeat(10));
    await expecting.until(/size 10$/);
  });

  it('of one client take no more than its share of an app', async () => {
    const unit = await start({ limits: { uploadsPerClient: 3 } });
    const clients: RawClient[] = [];
    for (let n = 0; n < 3; n++) clients.push(await begun(`${HEAD}x`));
    await roundTrip();
    await expect.poll(() => inFlight(unit)).toBe(3);
    const refused = await begun(`${HEAD}x`);
    expect(await refused.rest()).toMatch(/^HTTP\/1\.1 429 Too Many Requests\r\n[^]*Retry-After: 1\r\n/);
    clients[0]?.send('x'.repeat(9));
    await clients[0]?.until(/size 10$/);
    clients[1]?.socket.destroy();
    await roundTrip();
    const next = await begun(`${HEAD}${'x'.repeat(10)}`);
    expect(await next.until(/size 10$/)).toMatch(/^HTTP\/1\.1 200/);
    expect((await rig.plane.traffic('blog')).failures).toBe(0);
  });

  it('that have come are no longer counted, however long they wait for a unit', async () => {
    rig = await EdgeRig.start({
      limits: { uploadsPerClient: 1, connectionsPerTarget: 1 },
      timeouts: { queueMs: 600_000, uploadFreeMs: 600_000 },
    });
    const held: (() => void)[] = [];
    const unit = await rig.httpUnit((request, response) => {
      request.resume();
      if (request.method === 'GET') held.push(() => response.end('got'));
      else request.on('end', () => response.end('posted'));
    });
    await rig.route(unit);
    const first = await begun('GET / HTTP/1.1\r\nHost: blog.test\r\n\r\n');
    await expect.poll(() => held.length).toBe(1);
    const clients: RawClient[] = [];
    for (let n = 0; n < 3; n++) {
      clients.push(await begun(`${HEAD}${'x'.repeat(10)}`));
      await expect.poll(() => inFlight(unit)).toBe(2 * n + 2);
      const late = await begun(HEAD);
      expect(await rig.exchange('GET / HTTP/1.0\r\nHost: nobody.test\r\n\r\n')).toMatch(/^HTTP\/1\.1 404/);
      late.send('x'.repeat(10));
      await expect.poll(() => inFlight(unit)).toBe(2 * n + 3);
      clients.push(late);
    }
    held[0]?.();
    await first.until(/got$/);
    for (const client of clients) expect(await client.until(/posted$/)).toMatch(/^HTTP\/1\.1 200/);
  });

  it('that never get on are ended, however steadily they trickle', async () => {
    await start({ limits: { uploadBytesPerSecond: 1_000_000 }, timeouts: { uploadFreeMs: 100 } });
    const client = await begun(HEAD.replace('10', '100000000'));
    const trickle = setInterval(() => client.send('x'), 5);
    const answer = await client.rest();
    clearInterval(trickle);
    expect(answer).toMatch(/^HTTP\/1\.1 408 Request Timeout\r\n/);
    const silent = await begun(HEAD);
    expect(await silent.rest()).toMatch(/^HTTP\/1\.1 408 Request Timeout\r\n/);
    expect((await rig.plane.traffic('blog')).failures).toBe(0);
  });
});
