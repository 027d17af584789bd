/** Clients at one address that ask for much, and do not take it, keep an app from nobody else. */
import { afterEach, describe, expect, it } from 'vitest';
import type { Target } from '../../domain/routes/router.ts';
import { EdgeRig, type RawClient } from '../../../test/support/edge-rig.ts';

const LIMITS = { connectionsPerTarget: 8, queuePerTarget: 4 };
const LARGE = Buffer.alloc(32 * 1024 * 1024);
const from = (address: string, path: string): string =>
  `GET ${path} HTTP/1.1\r\nHost: blog.test\r\nConnection: close\r\nX-Forwarded-For: ${address}\r\n\r\n`;

describe('an app all of whose connections are taken', () => {
  let rig: EdgeRig;
  let unit: Target;
  const held: (() => void)[] = [];
  afterEach(async () => {
    for (const finish of held.splice(0)) finish();
    await rig.stop();
  });

  async function start(): Promise<void> {
    rig = await EdgeRig.start({ limits: LIMITS, trustedProxies: ['127.0.0.1'], timeouts: { queueMs: 60_000 } });
    unit = await rig.httpUnit((request, response) => {
      if (request.url === '/large') response.end(LARGE);
      else if (request.url === '/held') held.push(() => response.end('at last'));
      else response.end('ok');
    });
    await rig.route(unit);
  }

  /** They read nothing. */
  async function asking(count: number, address: string, path: string): Promise<RawClient[]> {
    const clients: RawClient[] = [];
    for (let at = 0; at < count; at += 1) {
      const client = await rig.client();
      client.socket.pause();
      client.send(from(address, path));
      clients.push(client);
    }
    return clients;
  }

  const inFlight = (count: number): Promise<void> =>
    expect.poll(async () => rig.plane.drained([unit.unit], 0)).toBe(count);

  it('by answers that nobody takes, in a queue of the same, answers others', async () => {
    await start();
    await asking(12, '192.0.2.1', '/large');
    await inFlight(12);
    expect(await rig.exchange(from('192.0.2.2', '/'))).toMatch(/^HTTP\/1\.1 200 [^]*ok$/);
    expect((await rig.plane.traffic('blog')).requests).toBeGreaterThan(0);
  });

  it('gives a place in its queue to another address, and none to that of which most are in it', async () => {
    await start();
    const crowd = await asking(12, '192.0.2.1', '/held');
    for (const client of crowd) client.socket.resume();
    await inFlight(12);
    expect(await rig.exchange(from('192.0.2.1', '/'))).toMatch(/^HTTP\/1\.1 503 /);
    const other = rig.exchange(from('192.0.2.2', '/'));
    await expect.poll(() => crowd.filter(({ received }) => received.startsWith('HTTP/1.1 503')).length).toBe(1);
    for (const finish of held.splice(0)) finish();
    expect(await other).toMatch(/^HTTP\/1\.1 200 [^]*ok$/);
  });

  it('ends nothing where all come from one address, as behind a proxy that is not known', async () => {
    await start();
    const clients = await asking(8, '192.0.2.1', '/large');
    await inFlight(8);
    const late = await asking(1, '192.0.2.1', '/');
    await inFlight(9);
    for (const client of [...clients, ...late]) client.socket.resume();
    for (const client of clients) expect((await client.rest()).length).toBeGreaterThan(LARGE.length);
    expect(await late[0]?.rest()).toMatch(/ok$/);
  });
});
