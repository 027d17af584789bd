import { stat } from 'node:fs/promises';
import { once } from 'node:events';
import { join } from 'node:path';
import { connect, type ConnectionOptions, type TLSSocket } from 'node:tls';
import { afterEach, beforeAll, expect, it } from 'vitest';
import { RawClient } from '../../../../test/support/edge-rig.ts';
import { testCertificate } from '../../../../test/support/test-certificates.ts';
import { SLOW } from '../../../../test/support/slow.ts';
import { until } from '../../../../test/support/until.ts';
import type { Certificate, CertificateSet, RouteTable } from '../../../domain/routes/router.ts';
import type { EdgeRouterOptions } from './edge-options.ts';
import { createEdgeRouter } from './edge-router.ts';
import { EdgeWorld } from './edge-world.ts';
import { itLong } from '../../../../test/support/long-cases.ts';

const WORKERS = SLOW ? [1, 2] : [2];
const ANY_PORT = { host: '127.0.0.1', port: 0 };
const GET = 'GET / HTTP/1.1\r\nHost: blog.test\r\n\r\n';
const world = new EdgeWorld();
let certificate: Certificate;

beforeAll(async () => {
  certificate = { id: 'c1', names: ['blog.test'], ...(await testCertificate('blog.test')) };
});
afterEach(() => world.dispose());

const setOf = (version: number, certificates = [certificate]): CertificateSet => ({
  ...{ version, certificates, httpChallenges: [], alpnChallenges: [] },
});

async function unit(name: string): Promise<RouteTable> {
  const { version, routes } = await world.unit(name);
  return { version, routes };
}

function addressOf(listen: string | null): { host: string; port: number } {
  const [host = '', port = ''] = (listen ?? '').split(':');
  return { host, port: Number(port) };
}

async function secure(listen: string | null, options: ConnectionOptions = {}): Promise<TLSSocket> {
  const how = { servername: 'blog.test', rejectUnauthorized: false, ...options };
  const socket = connect({ ...addressOf(listen), ...how });
  socket.on('error', () => {});
  await once(socket, 'secureConnect');
  return socket;
}

async function answer(client: RawClient): Promise<string> {
  client.received = '';
  client.send(GET);
  const received = await client.until(/\r\n\r\n(?:one|two)$/);
  return received.slice(received.indexOf('\r\n\r\n') + 4);
}

/** The options of an edge that has started, with the addresses it has. */
function again(options: EdgeRouterOptions, router: { listen: string; tlsListen: string | null }): EdgeRouterOptions {
  return { ...options, listen: addressOf(router.listen), tls: addressOf(router.tlsListen) };
}

it.each(WORKERS)('serves by its certificates on disk when nobody sends it any, %i worker(s)', async (workers) => {
  const options = await world.home({ tls: ANY_PORT, workers });
  const first = await world.start(options);
  await first.apply(await unit('one'));
  await first.applyCertificates(setOf(5));
  for (const name of ['certificates.json', 'tickets.json'])
    expect((await stat(join(options.stateDir, name))).mode & 0o777).toBe(0o600);
  const pid = await world.pid(options);
  await first.close();
  process.kill(pid, 'SIGKILL');
  const second = await world.start(again(options, first));
  expect(await second.certificates()).toEqual({ version: 5, ids: ['c1'], unusable: [] });
  const client = RawClient.over(await secure(second.tlsListen));
  expect(await answer(client)).toBe('one');
  client.socket.destroy();
});

it.each(WORKERS)(
  'is replaced without a connection cut or a session lost, and the old one serves by new certificates, %i worker(s)',
  async (workers) => {
    const options = await world.home({ tls: ANY_PORT, workers });
    const first = await world.start(options);
    await first.apply(await unit('one'));
    await first.applyCertificates(setOf(1));
    let session: Buffer | undefined;
    const socket = await secure(first.tlsListen);
    socket.on('session', (given: Buffer) => (session = given));
    const open = RawClient.over(socket);
    expect(await answer(open)).toBe('one');
    const pid = await world.pid(options);
    await first.close();

    const second = await world.start({ ...again(options, first), limits: { queuePerTarget: 3 } });
    expect(await world.pid(options)).not.toBe(pid);
    expect(second.tlsListen).toBe(first.tlsListen);
    await second.apply(await unit('two'));
    expect(await answer(open)).toBe('two');
    const resumed = await secure(second.tlsListen, { session });
    expect(session).toBeDefined();
    expect(resumed.isSessionReused()).toBe(true);
    await second.applyCertificates(setOf(2, []));
    await expect(secure(second.tlsListen)).rejects.toThrow(/unrecognized.name/);
    for (const client of [open.socket, resumed]) client.destroy();
  },
);

itLong('starts anew where TLS is switched on, moved, or switched off', async () => {
  const options = await world.home();
  const plain = await world.start(options);
  expect(plain.tlsListen).toBeNull();
  await plain.applyCertificates(setOf(1));
  await plain.close();
  const on = await world.start({ ...options, listen: addressOf(plain.listen), tls: ANY_PORT });
  expect(on.listen).toBe(plain.listen);
  const client = await secure(on.tlsListen);
  client.destroy();
  await on.close();
  const off = await world.start({ ...options, listen: addressOf(plain.listen) });
  expect(off.tlsListen).toBeNull();
  const { port } = addressOf(on.tlsListen);
  await until(
    async () =>
      secure(`127.0.0.1:${port}`).then(
        () => false,
        () => true,
      ),
    {
      ...{ timeoutMs: 60_000, everyMs: 20, what: 'the TLS port to be free' },
    },
  );
});

it('says which setting names an address that is taken', async () => {
  const options = await world.home({ tls: ANY_PORT });
  const first = await world.start(options);
  const taken = addressOf(first.tlsListen);
  const other = await world.home({ tls: taken });
  await expect(createEdgeRouter(other)).rejects.toMatchObject({
    code: 'config.invalid',
    message: expect.stringMatching(
      `^Process \\d+ \\(.*\\) already listens on 127.0.0.1:${taken.port}: end it or set TANCHO_TLS_LISTEN to another address.$`,
    ) as string,
  });
});
