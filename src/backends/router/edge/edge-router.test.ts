import { rm, stat } from 'node:fs/promises';
import { get as httpGet } from 'node:http';
import { createServer as createNetServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { SLOW } from '../../../../test/support/slow.ts';
import type { RouteTable } from '../../../domain/routes/router.ts';
import { routerConformance } from '../conformance.ts';
import { tlsConformance } from '../conformance-tls.ts';
import { EdgeConnection } from './edge-connection.ts';
import type { EdgeRouterOptions } from './edge-options.ts';
import { createEdgeRouter } from './edge-router.ts';
import { EdgeWorld, edgeHome } from './edge-world.ts';
import { itLong } from '../../../../test/support/long-cases.ts';

for (const workers of SLOW ? [1, 2] : [2]) {
  routerConformance(`edge, ${workers} worker(s)`, async () => {
    const { options, remove } = await edgeHome({ workers, timeouts: { unreachedMs: 100 } });
    const router = await createEdgeRouter(options);
    return {
      router,
      dispose: async () => {
        await router.stop();
        await remove();
      },
    };
  });
  tlsConformance(`edge, ${workers} worker(s)`, {
    start: async () => {
      const { options, remove } = await edgeHome({ workers, tls: { host: '127.0.0.1', port: 0 } });
      const router = await createEdgeRouter(options);
      return {
        router,
        dispose: async () => {
          await router.stop();
          await remove();
        },
      };
    },
  });
}

describe('edge router', () => {
  const world = new EdgeWorld();
  afterEach(() => world.dispose());
  const newHome = (overrides?: Partial<EdgeRouterOptions>) => world.home(overrides);
  const start = (options: EdgeRouterOptions) => world.start(options);
  const pidOf = (options: EdgeRouterOptions) => world.pid(options);
  const unit = async (body: string): Promise<RouteTable> => {
    const { version, routes } = await world.unit(body);
    return { version, routes };
  };

  it('leaves the edge running when closed, and adopts it the next time', async () => {
    const options = await newHome();
    const first = await start(options);
    await first.apply(await unit('one'));
    const pid = await pidOf(options);
    await first.close();
    expect(await body(first.listen)).toBe('one');

    const second = await start(options);
    expect(second.listen).toBe(first.listen);
    expect(await pidOf(options)).toBe(pid);
    expect((await second.traffic('blog')).requests).toBe(1);
  });

  it('keeps its socket and its pid to the owner', async () => {
    const options = await newHome();
    await start(options);
    expect((await stat(join(options.runDir, 'edge.sock'))).mode & 0o777).toBe(0o600);
    expect((await stat(join(options.runDir, 'edge.pid'))).mode & 0o777).toBe(0o600);
  });

  it('replaces a running edge whose options differ, on the same port', async () => {
    const options = await newHome();
    const first = await start(options);
    await first.apply(await unit('one'));
    const pid = await pidOf(options);
    await first.close();
    const port = Number(first.listen.split(':')[1]);

    const second = await start({ ...options, listen: { host: '127.0.0.1', port }, limits: { queuePerTarget: 3 } });
    expect(second.listen).toBe(first.listen);
    expect(await pidOf(options)).not.toBe(pid);
    expect(await body(second.listen)).toBe('one');
  });

  it('starts a killed edge again on the same port with the last table', async () => {
    const options = await newHome();
    const router = await start(options);
    const table = await unit('one');
    await router.apply(table);
    const pid = await pidOf(options);
    process.kill(pid, 'SIGKILL');
    // The killed one may still answer for a moment.
    await eventually(async () => expect(await pidOf(options)).not.toBe(pid));
    await eventually(async () => expect(await body(router.listen)).toBe('one'));
    await router.apply({ ...table, version: 1_000, routes: [] });
    expect(await body(router.listen)).toContain('404');
  });

  itLong('serves from the table on disk when nobody sends it one', async () => {
    const options = await newHome();
    const first = await start(options);
    await first.apply(await unit('kept'));
    const port = Number(first.listen.split(':')[1]);
    const pid = await pidOf(options);
    await first.close();
    process.kill(pid, 'SIGKILL');

    const second = await start({ ...options, listen: { host: '127.0.0.1', port } });
    expect(await body(second.listen)).toBe('kept');
  });

  it('says in one line which address is taken and which setting names it', async () => {
    const blocker = createNetServer();
    await new Promise<void>((resolve) => blocker.listen(0, '127.0.0.1', resolve));
    world.undo(() => new Promise((resolve) => blocker.close(resolve)));
    const { port } = blocker.address() as AddressInfo;
    const options = await newHome({ listen: { host: '127.0.0.1', port } });
    await expect(createEdgeRouter(options)).rejects.toMatchObject({
      code: 'config.invalid',
      message: expect.stringMatching(
        `^Process \\d+ \\(.*\\) already listens on 127.0.0.1:${port}: end it or set TANCHO_EDGE_LISTEN to another address.$`,
      ) as string,
    });
    await expect(createEdgeRouter({ ...options, workers: 2 })).rejects.toMatchObject({ code: 'config.invalid' });
  });

  itLong('refuses a host that is not of this machine, and a path too long for a socket', async () => {
    const options = await newHome();
    const elsewhere = createEdgeRouter({ ...options, listen: { host: '192.0.2.1', port: 0 } });
    await expect(elsewhere).rejects.toMatchObject({ code: 'config.invalid' });
    const long = createEdgeRouter({ ...options, runDir: `${options.runDir}/${'x'.repeat(100)}` });
    await expect(long).rejects.toMatchObject({ code: 'config.invalid' });
  });

  it.each([1, 2])(
    'learns of what is new in a table only, and serves by all of it, with %i worker(s)',
    async (workers) => {
      const options = await newHome({ workers });
      const router = await start(options);
      const asked = vi.spyOn(EdgeConnection.prototype, 'ask');
      // That it is looked at now and then is no news of the table.
      const reported = (): string[] =>
        asked.mock.calls
          .splice(0)
          .map(([op]) => op)
          .filter((op) => op !== 'hello');
      world.undo(async () => asked.mockRestore());
      const [one, two] = [(await unit('one')).routes, (await unit('two')).routes];
      const others = Array.from({ length: 20 }, (_, at) => {
        const app = `app-${at}`;
        return { app, hosts: [`${app}.test`], targets: [], note: `${app} rests`, https: 'both' } as const;
      });
      await router.apply({ version: 100, routes: [...others, ...one] });
      const changed = [...others.slice(0, 4), ...others.slice(5), ...two];
      await router.apply({ version: 101, routes: changed });
      expect(reported()).toEqual(['apply', 'change']);
      expect(await router.table()).toEqual({ version: 101, routes: changed });
      // Connections are shared out among the workers.
      for (let n = 0; n < 6; n++) expect(await body(router.listen)).toBe('two');
      // What another one has sent meanwhile is not what the change is of.
      const other = await start(options);
      await other.apply({ version: 102, routes: [...changed, ...others.slice(4, 5)] });
      reported();
      await router.apply({ version: 103, routes: changed.slice(1) });
      expect(reported()).toEqual(['change', 'apply']);
      expect(await router.table()).toEqual({ version: 103, routes: changed.slice(1) });
      process.kill(await pidOf(options), 'SIGKILL');
      await expect.poll(() => body(router.listen).catch(() => '')).toBe('two');
    },
  );

  it('refuses a table that makes no sense and goes on with the old one', async () => {
    const router = await start(await newHome());
    const table = await unit('one');
    await router.apply(table);
    const bad = { ...table, version: 9, routes: [{ ...table.routes[0], hosts: ['no host'] }] } as RouteTable;
    await expect(router.apply(bad)).rejects.toMatchObject({ code: 'unavailable' });
    expect(await body(router.listen)).toBe('one');
  });

  it('ends the process with stop', async () => {
    const options = await newHome({ workers: 2 });
    const router = await createEdgeRouter(options);
    const pid = await pidOf(options);
    await router.stop();
    await router.stop();
    await expect.poll(() => stat(`/proc/${pid}/cwd`).catch(() => null)).toBeNull();
    await expect(body(router.listen)).rejects.toThrow();
    await expect(stat(join(options.runDir, 'edge.sock'))).rejects.toThrow();
  });

  itLong('ends it with stop, although somebody has removed what it is found by', async () => {
    const options = await newHome();
    const router = await createEdgeRouter(options);
    const pid = await pidOf(options);
    await rm(options.runDir, { recursive: true });
    await router.stop();
    await expect.poll(() => stat(`/proc/${pid}/cwd`).catch(() => null)).toBeNull();
    await expect(body(router.listen)).rejects.toThrow();
  });
});

function body(listen: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const request = httpGet(`http://${listen}/`, { headers: { host: 'blog.test' }, agent: false }, (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (part: string) => (text += part));
      response.on('end', () => resolve(text));
      response.on('error', reject);
    });
    request.on('error', reject);
  });
}

async function eventually(check: () => Promise<void>): Promise<void> {
  const deadline = performance.now() + 60_000;
  for (;;) {
    try {
      return await check();
    } catch (error) {
      if (performance.now() > deadline) throw error;
    }
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}
