/** One edge takes over from another: what is open goes on, what waits is accepted, nobody is turned away. */
import { readdir, writeFile } from 'node:fs/promises';
import { Agent, get as httpGet, type IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { WebSocket, WebSocketServer } from 'ws';
import { SLOW } from '../../../../test/support/slow.ts';
import { until } from '../../../../test/support/until.ts';
import type { EdgeRouterOptions } from './edge-options.ts';
import { createEdgeRouter } from './edge-router.ts';
import { EdgeWorld } from './edge-world.ts';
import { itLong } from '../../../../test/support/long-cases.ts';

/** Edges, one after the other. */
const ROUNDS = SLOW ? 3 : 1;
/** Between two requests of a connection. At full speed they take the processor from the edge that starts. */
const PAUSE_MS = SLOW ? 0 : 2;

const world = new EdgeWorld();
afterEach(() => world.dispose());

/** Other options make another edge of the same program. */
function changed(options: EdgeRouterOptions, listen: string, round: number): EdgeRouterOptions {
  const [host = '', port = ''] = listen.split(':');
  return { ...options, listen: { host, port: Number(port) }, limits: { queuePerTarget: 200 + round } };
}

interface ClientAnswer {
  readonly status: number;
  readonly text: string;
  readonly connection: string;
}

function ask(listen: string, agent: Agent, path = '/'): Promise<ClientAnswer> {
  return new Promise((resolve, reject) => {
    const request = httpGet(`http://${listen}${path}`, { headers: { host: 'blog.test' }, agent }, (response) => {
      resolve(read(response));
    });
    request.on('error', reject);
  });
}

async function read(response: IncomingMessage): Promise<ClientAnswer> {
  let text = '';
  for await (const part of response) text += String(part);
  return { status: response.statusCode ?? 0, text, connection: response.headers.connection ?? '' };
}

function keepAlive(maxSockets: number): Agent {
  const agent = new Agent({ keepAlive: true, maxSockets });
  world.undo(async () => agent.destroy());
  return agent;
}

/** Requests one after the other on so many connections until stopped; resolves with what failed. */
function load(listen: string, connections: number): { count: () => number; stop: () => Promise<string[]> } {
  const agent = keepAlive(connections);
  const failures: string[] = [];
  let count = 0;
  let isRunning = true;
  const one = async (): Promise<void> => {
    while (isRunning) {
      await ask(listen, agent).then(
        ({ status, text }) => status === 200 || failures.push(`${status} ${text}`),
        (error: Error) => failures.push(error.message),
      );
      count += 1;
      if (PAUSE_MS > 0) await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
    }
  };
  const all = Array.from({ length: connections }, one);
  return {
    count: () => count,
    async stop() {
      isRunning = false;
      await Promise.all(all);
      return failures;
    },
  };
}

describe.each(SLOW ? [1, 2] : [2])('an edge of %s worker(s) that is replaced', (workers) => {
  it('fails no request, again and again, and cuts no websocket', async () => {
    const options = await world.home({ workers });
    let router = await world.start(options);
    const { server, ...table } = await world.unit('one');
    const sockets = new WebSocketServer({ server });
    sockets.on('connection', (socket) => socket.on('message', (data) => socket.send(String(data))));
    await router.apply(table);
    const { listen } = router;
    const socket = new WebSocket(`ws://${listen}/`, { headers: { host: 'blog.test' } });
    world.undo(async () => socket.terminate());
    const echoes: string[] = [];
    socket.on('message', (data) => echoes.push(String(data)));
    await new Promise((resolve, reject) => socket.once('open', resolve).once('error', reject));

    const running = load(listen, 8);
    const pids = new Set([await world.pid(options)]);
    for (let round = 1; round <= ROUNDS; round++) {
      const before = running.count();
      await until(() => running.count() > before + 100, { what: 'requests before the change' });
      await router.close();
      router = await world.start(changed(options, listen, round));
      expect(router.adopted).toBe(false);
      expect(router.listen).toBe(listen);
      pids.add(await world.pid(options));
      socket.send(`round ${round}`);
      await until(() => echoes.length === round, { what: 'the echo' });
    }
    const before = running.count();
    await until(() => running.count() > before + 100, { what: 'requests after the last change' });
    expect(await running.stop()).toEqual([]);
    expect(pids.size).toBe(ROUNDS + 1);
    expect(echoes).toEqual(['round 1', 'round 2', 'round 3'].slice(0, ROUNDS));
    expect(socket.readyState).toBe(WebSocket.OPEN);
  });

  it('finishes what is begun, goes by new tables until then, and informs its clients to leave', async () => {
    const options = await world.home({ workers });
    const first = await world.start(options);
    let finish = (): void => {};
    const { server: _old, ...oldTable } = await world.unit('old', (request, response) => {
      if (request.url === '/slow') finish = () => response.end('at last');
      else response.end('old');
    });
    await first.apply(oldTable);
    const { listen } = first;
    const [slow, idle] = [keepAlive(1), keepAlive(1)];
    const pending = ask(listen, slow, '/slow');
    pending.catch(() => {});
    await until(async () => (await first.drained(['old'], 0)) === 1, { what: 'the slow request' });
    expect(await ask(listen, idle)).toMatchObject({ text: 'old', connection: '' });
    await first.close();

    const second = await world.start(changed(options, listen, 1));
    expect(await second.drained(['old'], 0)).toBe(1);
    const { server: _new, ...newTable } = await world.unit('new');
    await second.apply(newTable);
    // Over the connection that the edge before has kept.
    expect(await ask(listen, idle)).toMatchObject({ status: 200, text: 'new', connection: 'close' });
    const { requests } = await second.traffic('blog');
    expect(requests).toBeGreaterThanOrEqual(2);
    expect((await second.trafficOf(['blog'])).get('blog')).toMatchObject({ requests });
    const drained = second.drained(['old'], 30_000);
    finish();
    expect(await pending).toMatchObject({ status: 200, text: 'at last' });
    expect(await drained).toBe(0);
  });
});

describe('an edge', () => {
  itLong('goes on serving when the one that is to replace it cannot start', async () => {
    const options = await world.home();
    const first = await world.start(options);
    const { server: _, ...table } = await world.unit('one');
    await first.apply(table);
    const pid = await world.pid(options);
    await first.close();
    const broken = await world.program();
    await writeFile(join(broken, 'edge/main.js'), 'process.exit(3);\n');
    await expect(createEdgeRouter({ ...options, programDir: broken })).rejects.toMatchObject({ code: 'unavailable' });
    expect(await ask(first.listen, keepAlive(1))).toMatchObject({ status: 200, text: 'one' });
    expect(await world.pid(options)).toBe(pid);
  });

  itLong(
    'is another one when a file it imports from outside its folder has changed, and runs from a copy of its own',
    async () => {
      const programDir = await world.program();
      const options = await world.home({ programDir });
      const first = await world.start(options);
      const pid = await world.pid(options);
      const programs = (): Promise<string[]> => readdir(join(options.stateDir, 'programs'));
      const [ofFirst] = await programs();
      await first.close();
      await writeFile(join(programDir, 'daemon.js'), '// no part of the edge');
      const same = await world.start(options);
      expect(same.adopted).toBe(true);
      await same.close();
      await writeFile(join(programDir, 'lib/host-port.js'), '\n// changed\n', { flag: 'a' });
      const second = await world.start(options);
      expect(second.adopted).toBe(false);
      expect([same.hasServed, second.hasServed]).toEqual([true, true]);
      expect(await world.pid(options)).not.toBe(pid);
      await until(() => !isRunning(pid), { what: 'the end of the first' });
      await second.close();
      await writeFile(join(programDir, 'lib/host-port.js'), '\n// changed again\n', { flag: 'a' });
      await world.start(options);
      expect(await programs()).not.toContain(ofFirst);
    },
  );

  itLong('keeps its program for as long as it finishes something, for it may load some of it only then', async () => {
    const options = await world.home();
    const first = await world.start(options);
    const { server, ...table } = await world.unit('one');
    new WebSocketServer({ server });
    await first.apply(table);
    const socket = new WebSocket(`ws://${first.listen}/`, { headers: { host: 'blog.test' } });
    world.undo(async () => socket.terminate());
    await new Promise((resolve, reject) => socket.once('open', resolve).once('error', reject));
    const programs = (): Promise<string[]> => readdir(join(options.stateDir, 'programs'));
    const [own = ''] = await programs();
    await first.close();
    const programDir = await world.program();
    await writeFile(join(programDir, 'lib/host-port.js'), '\n// changed\n', { flag: 'a' });
    const listen = changed(options, first.listen, 1).listen;
    expect((await world.start({ ...options, listen, programDir })).adopted).toBe(false);
    expect(await programs()).toHaveLength(2);
    expect(await programs()).toContain(own);
  });

  it('leaves nothing when it is stopped, also of those it has taken over from', async () => {
    const options = await world.home();
    const first = await world.start(options);
    const { server, ...table } = await world.unit('one');
    new WebSocketServer({ server });
    await first.apply(table);
    const { listen } = first;
    const pids = [await world.pid(options)];
    const socket = new WebSocket(`ws://${listen}/`, { headers: { host: 'blog.test' } });
    const closed = new Promise((resolve) => socket.once('close', resolve));
    socket.on('error', () => {});
    await new Promise((resolve) => socket.once('open', resolve));
    await first.close();
    const second = await world.start(changed(options, listen, 1));
    pids.push(await world.pid(options));
    expect(() => process.kill(pids[0] ?? 0, 0)).not.toThrow();
    await second.stop();
    await closed;
    await until(() => pids.every((pid) => !isRunning(pid)), { what: 'the end of both' });
    await expect(ask(listen, keepAlive(1))).rejects.toThrow(/ECONNREFUSED/);
  });
});

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
