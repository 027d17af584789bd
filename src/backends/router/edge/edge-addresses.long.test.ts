/** An edge that is replaced by one at other addresses: what stays is handed on, also from an edge that knows no other addresses. */
import { readFile, writeFile } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { builtProgram } from '../../../../test/support/built.ts';
import { RawClient } from '../../../../test/support/edge-rig.ts';
import { freePort } from '../../../../test/support/free-port.ts';
import { until } from '../../../../test/support/until.ts';
import { listening } from '../../../lib/listening.ts';
import type { EdgeRouterOptions } from './edge-options.ts';
import { createEdgeRouter } from './edge-router.ts';
import { EdgeWorld } from './edge-world.ts';

const LOOPBACK = '127.0.0.1';
const REQUEST = 'GET / HTTP/1.1\r\nHost: blog.test\r\nConnection: close\r\n\r\n';
/** No redirect is followed: any whole answer of the edge will do. */
const ANSWER = /^HTTP\/1\.1 (?:200|308) /;
const CLIENTS = 4;
/** Between two connections of a client. At full speed they take the processor from the edge that starts. */
const PAUSE_MS = 2;

const world = new EdgeWorld();
afterEach(() => world.dispose());

const at = (port: number): { host: string; port: number } => ({ host: LOOPBACK, port });
const portOf = (listen: string | null): number => Number((listen ?? ':0').split(':').at(-1));

/** What comes over one new connection; throws where there is none, or where it is cut. */
async function asked(port: number): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = '';
    const socket = connect({ host: LOOPBACK, port }, () => socket.write(REQUEST));
    socket.on('data', (data: Buffer) => (text += data.toString()));
    socket.on('error', reject);
    socket.on('close', () => resolve(text));
  });
}

interface Asking {
  readonly count: () => number;
  readonly stop: () => Promise<string[]>;
}

const pause = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, PAUSE_MS));

/** Asks all the time, each time over a new connection; resolves with what failed. */
function askAllTheTime(port: number): Asking {
  const failures: string[] = [];
  let count = 0;
  let isRunning = true;
  const one = async (): Promise<void> => {
    while (isRunning) {
      const text = await asked(port).catch((error: Error) => error.message);
      if (!ANSWER.test(text)) failures.push(text);
      count += 1;
      if (PAUSE_MS > 0) await pause();
    }
  };
  const all = Array.from({ length: CLIENTS }, one);
  return {
    count: () => count,
    async stop() {
      isRunning = false;
      await Promise.all(all);
      return failures;
    },
  };
}

/** A program whose edge hands on what it has and nothing else, as those did that knew of no other addresses. */
async function earlierProgram(): Promise<string> {
  const dist = await world.program();
  const change = async (file: string, from: string, to: string): Promise<void> => {
    const path = join(dist, 'edge', file);
    const text = await readFile(path, 'utf8');
    expect(text).toContain(from);
    await writeFile(path, text.replace(from, to));
  };
  await change('edge.js', ', binds: true', '');
  await change('control/operations.js', 'checkListeners(request.listeners)', "{ plain: 'ours' }");
  return dist;
}

type Change = Partial<EdgeRouterOptions>;

describe.each([1, 2])('an edge of %s worker(s)', (workers) => {
  async function through(options: EdgeRouterOptions, changes: readonly Change[]): Promise<void> {
    let router = await world.start(options);
    const { version, routes } = await world.unit('one');
    await router.apply({ version, routes });
    const port = portOf(router.listen);
    const kept = RawClient.over(connect(at(port)));
    const asking = askAllTheTime(port);
    const more = async (): Promise<void> => {
      const before = asking.count();
      await until(() => asking.count() > before + 50, { what: 'answers' });
    };
    for (const change of changes) {
      await more();
      await router.close();
      router = await world.start({ ...options, listen: at(port), ...change });
      const tls = change.tls ?? null;
      expect(router.listen).toBe(`${LOOPBACK}:${port}`);
      expect(router.tlsListen).toBe(tls === null ? null : `${LOOPBACK}:${tls.port}`);
      if (tls !== null) await connected(tls.port);
    }
    // Open since before the first change, and not cut by any: an edge that leaves gives such connections ten seconds.
    kept.send(REQUEST);
    await more();
    expect(await asking.stop()).toEqual([]);
    expect(await kept.until(/\r\n\r\n/)).toMatch(ANSWER);
  }

  it('turns nobody away whose address stays, where TLS is turned on, moved, turned off', async () => {
    const [first, second] = [await freePort(), await freePort()];
    const options = await world.home({ workers });
    await through(options, [{ tls: at(first) }, { tls: at(second) }, { tls: null }]);
    for (const port of [first, second])
      await until(
        () =>
          connected(port).then(
            () => false,
            () => true,
          ),
        { what: 'a free port' },
      );
  });

  it('turns nobody away where it is another build, too, and the one before hands on nothing but what it has', async () => {
    const options = await world.home({ workers, programDir: await earlierProgram() });
    await through(options, [{ programDir: await builtProgram(), tls: at(await freePort()) }]);
  });

  it('goes on at its address for TLS while the other one moves', async () => {
    const [plain, other, tls] = [await freePort(), await freePort(), await freePort()];
    const options = await world.home({ workers, listen: at(plain), tls: at(tls) });
    const first = await world.start(options);
    await first.close();
    let refused = 0;
    let isRunning = true;
    const knocking = (async () => {
      while (isRunning) {
        await connected(tls).catch(() => (refused += 1));
        if (PAUSE_MS > 0) await pause();
      }
    })();
    await world.start({ ...options, listen: at(other) });
    isRunning = false;
    await knocking;
    expect(refused).toBe(0);
    await connected(other);
    await until(
      () =>
        connected(plain).then(
          () => false,
          () => true,
        ),
      { what: 'the address before to be free' },
    );
  });
});

it('goes on when another program has the address that is wanted', async () => {
  const options = await world.home();
  const first = await world.start(options);
  const pid = await world.pid(options);
  await first.close();
  const server = createServer();
  await listening(server, at(0));
  world.undo(async () => server.close());
  const taken = (server.address() as { port: number }).port;
  const changed = { ...options, listen: at(portOf(first.listen)), tls: at(taken) };
  await expect(createEdgeRouter(changed)).rejects.toMatchObject({ code: 'config.invalid' });
  expect(await asked(portOf(first.listen))).toContain('HTTP/1.1');
  expect(await world.pid(options)).toBe(pid);
});

it('gives way first where it has the port that is wanted at another host', async () => {
  const options = await world.home();
  const first = await world.start(options);
  await first.close();
  const port = portOf(first.listen);
  const second = await world.start({ ...options, listen: { host: '0.0.0.0', port } });
  expect(second.listen).toBe(`0.0.0.0:${port}`);
  expect(await asked(port)).toContain('HTTP/1.1');
});

async function connected(port: number): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    const socket = connect(at(port), () => {
      socket.destroy();
      resolve();
    });
    socket.on('error', reject);
  });
}
