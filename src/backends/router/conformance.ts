/** What every router must do, whatever it is made of. Run by each implementation's test file. */
import { Agent, createServer, request as httpRequest } from 'node:http';
import type { IncomingHttpHeaders, RequestListener, Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ANSWER_BOUNDS_MS } from '../../lib/answer-counts.ts';
import type { AccessEntry, Route, RouteRules, Router, RouteTable, Target } from '../../domain/routes/router.ts';

/** How many cases the suite has; a suite that loses some fails. */
const ROUTER_CASES = 22;
/** An edge takes new connections in its first half; nothing ends with the second. */
const LEAVE_MS = 2_000;

export interface RouterUnderTest {
  readonly router: Router;
  dispose(): Promise<void>;
}

interface RouterAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** A unit for tests: a real HTTP server that says who it is. */
class TestUnit {
  readonly id: string;
  readonly server: Server;
  seen: IncomingHttpHeaders = {};

  constructor(id: string, listener?: RequestListener) {
    this.id = id;
    this.server = createServer((request, response) => {
      this.seen = request.headers;
      if (listener === undefined) response.end(this.id);
      else listener(request, response);
    });
  }

  async start(): Promise<Target> {
    await new Promise<void>((resolve) => this.server.listen(0, '127.0.0.1', resolve));
    return { unit: this.id, host: '127.0.0.1', port: (this.server.address() as AddressInfo).port };
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }
}

function ask(
  listen: string,
  host: string,
  headers: Record<string, string> = {},
  body?: string,
  path = '/',
): Promise<RouterAnswer> {
  const at = listen.lastIndexOf(':');
  return new Promise((resolve, reject) => {
    const request = httpRequest(
      {
        host: listen.slice(0, at),
        port: Number(listen.slice(at + 1)),
        path,
        method: body === undefined ? 'GET' : 'POST',
        headers: { host, ...headers },
        agent: false,
        timeout: 10_000,
      },
      (response) => {
        const parts: Buffer[] = [];
        response.on('data', (part: Buffer) => parts.push(part));
        response.on('error', reject);
        response.on('end', () =>
          resolve({
            status: response.statusCode ?? 0,
            headers: response.headers,
            body: Buffer.concat(parts).toString(),
          }),
        );
      },
    );
    request.on('timeout', () => request.destroy(new Error('no answer within 10 s')));
    request.on('error', reject);
    request.end(body);
  });
}

export function routerConformance(name: string, create: () => Promise<RouterUnderTest>): void {
  describe(`router conformance: ${name}`, () => {
    let ran = 0;
    let version = 0;
    let dispose = (): Promise<void> => Promise.resolve();
    let router: Router;
    const units: TestUnit[] = [];

    const unit = async (id: string, listener?: RequestListener): Promise<Target> => {
      const made = new TestUnit(id, listener);
      units.push(made);
      return made.start();
    };
    const table = (...routes: Partial<Route>[]): RouteTable => ({
      version: ++version,
      routes: routes.map((route) => ({
        app: 'blog',
        hosts: ['blog.test'],
        targets: [],
        note: 'Nothing here.',
        https: 'redirect',
        ...route,
      })),
    });
    const get = (host: string, headers?: Record<string, string>, path?: string): Promise<RouterAnswer> =>
      ask(router.listen, host, headers, undefined, path);
    const theCase = (title: string, run: () => Promise<void>): void => {
      it(title, async () => {
        ran++;
        await run();
      });
    };

    beforeAll(async () => {
      const tested = await create();
      router = tested.router;
      dispose = () => tested.dispose();
    });
    afterAll(async () => {
      await dispose();
      await Promise.all(units.map((made) => made.stop()));
    });

    theCase('listens on a resolved address', async () => {
      expect(router.listen).toMatch(/^.+:[1-9][0-9]*$/);
      expect(router.name).not.toBe('');
    });

    theCase('answers 404 for a host no route names', async () => {
      await router.apply(table());
      const answer = await get('nobody.test');
      expect(answer.status).toBe(404);
      expect(answer.body).toContain('nobody.test');
    });

    theCase('brings a request to the unit of its host and says where it came from', async () => {
      const target = await unit('a1');
      await router.apply(table({ targets: [target] }));
      const answer = await get('blog.test', { 'x-forwarded-for': '6.6.6.6', 'x-request-id': 'trace-7' });
      expect(answer).toMatchObject({ status: 200, body: 'a1' });
      expect(answer.headers['x-request-id']).toBe('trace-7');
      expect(units.at(-1)?.seen).toMatchObject({
        host: 'blog.test',
        'x-forwarded-for': '127.0.0.1',
        'x-forwarded-proto': 'http',
        'x-forwarded-host': 'blog.test',
        'x-request-id': 'trace-7',
      });
    });

    theCase('finds hosts whatever their case, port or trailing dot', async () => {
      const target = await unit('a2');
      await router.apply(table({ targets: [target] }));
      for (const host of ['BLOG.Test', 'blog.test:8080', 'blog.test.']) expect((await get(host)).body).toBe('a2');
    });

    theCase('takes a wildcard for exactly one label and prefers an exact name', async () => {
      const any = await unit('any');
      const exact = await unit('exact');
      await router.apply(
        table({ app: 'any', hosts: ['*.wild.test'], targets: [any] }, { hosts: ['one.wild.test'], targets: [exact] }),
      );
      expect((await get('two.wild.test')).body).toBe('any');
      expect((await get('one.wild.test')).body).toBe('exact');
      expect((await get('a.b.wild.test')).status).toBe(404);
      expect((await get('wild.test')).status).toBe(404);
    });

    theCase('answers 503 with the note for an app without targets, and does not count it a failure', async () => {
      await router.apply(table({ app: 'idle', hosts: ['idle.test'], note: 'This app has not been deployed yet.' }));
      const answer = await get('idle.test');
      expect(answer.status).toBe(503);
      expect(answer.body).toContain('This app has not been deployed yet.');
      expect(answer.headers['retry-after']).toBeDefined();
      expect(await router.traffic('idle')).toMatchObject({ requests: 1, failures: 0 });
    });

    theCase('shares requests among the targets', async () => {
      const targets = [await unit('s1'), await unit('s2')];
      await router.apply(table({ targets }));
      const bodies = new Set<string>();
      for (let index = 0; index < 20; index++) bodies.add((await get('blog.test')).body);
      expect([...bodies].sort()).toEqual(['s1', 's2']);
    });

    theCase('replaces the whole table', async () => {
      const target = await unit('new');
      await router.apply(table({ hosts: ['old.test'], targets: [target] }));
      await router.apply(table({ hosts: ['new.test'], targets: [target] }));
      expect((await get('old.test')).status).toBe(404);
      expect((await get('new.test')).body).toBe('new');
    });

    theCase('ignores an older table and takes the same one twice', async () => {
      const target = await unit('kept');
      const newer = table({ hosts: ['kept.test'], targets: [target] });
      await router.apply(newer);
      await router.apply(newer);
      await router.apply({ version: newer.version - 1, routes: [] });
      expect((await get('kept.test')).body).toBe('kept');
    });

    theCase('reports the table that is in force', async () => {
      const target = await unit('newest');
      const newest = table({ app: 'newest', hosts: ['newest.test'], targets: [target], note: '' });
      await router.apply(newest);
      await router.apply({ version: newest.version - 1, routes: [] });
      expect(await router.table()).toEqual(newest);
    });

    theCase('loses no request while targets are swapped', async () => {
      const slow: RequestListener = (_request, response) => setTimeout(() => response.end('ok'), 5);
      const [first, second] = [await unit('w1', slow), await unit('w2', slow)];
      await router.apply(table({ app: 'swap', hosts: ['swap.test'], targets: [first] }));
      let swapping = true;
      const statuses = new Set<number>();
      const askOn = async (): Promise<void> => {
        while (swapping) statuses.add((await get('swap.test')).status);
      };
      const load = Promise.all([askOn(), askOn(), askOn(), askOn()]);
      for (let round = 0; round < 20; round++) {
        const [target, old] = round % 2 === 0 ? [second, first] : [first, second];
        await router.apply(table({ app: 'swap', hosts: ['swap.test'], targets: [target] }));
        expect(await router.drained([old.unit], 5_000)).toBe(0);
      }
      swapping = false;
      await load;
      expect([...statuses]).toEqual([200]);
      expect((await router.traffic('swap')).failures).toBe(0);
    });

    theCase('drained: waits for a request in flight, no longer than it is asked to', async () => {
      let finish = (): void => {};
      let arrived = (): void => {};
      const inside = new Promise<void>((resolve) => (arrived = resolve));
      const target = await unit('d1', (_request, response) => {
        finish = () => response.end('late');
        arrived();
      });
      await router.apply(table({ hosts: ['drain.test'], targets: [target] }));
      expect(await router.drained(['d1', 'unheard-of'], 5_000)).toBe(0);
      const pending = get('drain.test');
      await inside;
      await router.apply(table());
      expect(await router.drained(['d1'], 50)).toBe(1);
      const drained = router.drained(['d1'], 5_000);
      finish();
      expect((await pending).body).toBe('late');
      expect(await drained).toBe(0);
    });

    theCase('answers 502 for a target that refuses, names the app, shows no address, and counts it', async () => {
      const gone = await unit('gone');
      await units.at(-1)?.stop();
      await router.apply(table({ app: 'broken', hosts: ['broken.test'], targets: [gone] }));
      const answer = await get('broken.test');
      expect(answer.status).toBe(502);
      expect(answer.body).toContain('broken');
      expect(answer.body).not.toContain(String(gone.port));
      expect(await router.traffic('broken')).toMatchObject({ requests: 1, failures: 1 });
    });

    theCase('counts answers by the class of their status and by their time, and each once', async () => {
      const target = await unit('counted', (request, response) => {
        response.statusCode = Number(request.headers['x-status']);
        if (response.statusCode < 500) response.end();
        else setTimeout(() => response.end(), 20);
      });
      await router.apply(table({ app: 'counted', hosts: ['counted.test'], targets: [target] }));
      for (const status of ['200', '204', '302', '404', '500']) await get('counted.test', { 'x-status': status });
      const answers = async () => (await router.traffic('counted')).answers;
      await expect.poll(async () => (await answers()).classes).toEqual([0, 2, 1, 1, 1]);
      const { times, timeMs } = await answers();
      expect(times).toHaveLength(ANSWER_BOUNDS_MS.length + 1);
      expect(times.reduce((sum, count) => sum + count, 0)).toBe(5);
      // What took twenty milliseconds is in no bucket of less.
      const slow = times.slice(ANSWER_BOUNDS_MS.indexOf(25));
      expect(slow.reduce((sum, count) => sum + count, 0)).toBeGreaterThanOrEqual(1);
      expect(timeMs).toBeGreaterThan(15);
    });

    const ruled = (rules: RouteRules, ...targets: Target[]): RouteTable =>
      table({ app: 'ruled', hosts: ['ruled.test'], targets, rules });

    theCase('answers 503 with the page of maintenance in place of the app, and counts no failure', async () => {
      const target = await unit('ruled');
      await router.apply(ruled({ maintenance: { page: '<h1>Back soon</h1>' } }, target));
      const answer = await get('ruled.test');
      expect(answer).toMatchObject({ status: 503, body: '<h1>Back soon</h1>' });
      expect(answer.headers['content-type']).toContain('text/html');
      expect(answer.headers['retry-after']).toBeDefined();
      expect((await router.traffic('ruled')).failures).toBe(0);
      await router.apply(ruled({}, target));
      expect((await get('ruled.test')).body).toBe('ruled');
    });

    theCase('holds requests while nothing serves, and brings them to the unit that does then', async () => {
      const target = await unit('held');
      const hold = { hold: { when: 'unserved', seconds: 60 } } as const;
      await router.apply(ruled(hold));
      const answer = get('ruled.test');
      await router.apply(ruled(hold));
      await router.apply(ruled(hold, target));
      expect((await answer).body).toBe('held');
      await router.apply(ruled({ hold: { when: 'always', seconds: 1 } }, target));
      expect((await get('ruled.test')).status).toBe(503);
    });

    theCase('brings a client to the same target again, by a cookie that scripts do not see', async () => {
      const targets = [await unit('k1'), await unit('k2'), await unit('k3')];
      await router.apply(ruled({ sticky: true }, ...targets));
      const first = await get('ruled.test');
      const [given = ''] = first.headers['set-cookie'] ?? [];
      expect(given).toMatch(/; Path=\/; HttpOnly; SameSite=Lax$/);
      const cookie = given.slice(0, given.indexOf(';'));
      for (let n = 0; n < 9; n++) expect((await get('ruled.test', { cookie })).body).toBe(first.body);
      await router.apply(ruled({ sticky: true }, ...targets.filter(({ unit: id }) => id !== first.body)));
      expect((await get('ruled.test', { cookie })).status).toBe(200);
    });

    theCase('reports each request of an app that asks for it, once', async () => {
      await router.apply(ruled({ accessLog: true }, await unit('logged')));
      const taken: AccessEntry[] = [];
      for (const path of ['/first', '/second']) await get('ruled.test', {}, path);
      await get('nobody.test');
      await expect.poll(async () => taken.push(...(await router.takeAccessLog()))).toBe(2);
      expect(taken.map(({ app }) => app)).toEqual(['ruled', 'ruled']);
      // Those of the same moment may have come by different workers.
      const lines = taken.map(({ line }) => line).sort();
      expect(lines[0]).toMatch(/\bpath="\/first" .*\bstatus=200\b/);
      expect(lines[1]).toMatch(/\bpath="\/second" .*\bstatus=200\b/);
      expect(Math.abs(Date.now() - (taken[1]?.atMs ?? 0))).toBeLessThan(600_000);
      expect(await router.takeAccessLog()).toEqual([]);
    });

    theCase('refuses longer bodies than the app takes, and waits no longer for answers than it says', async () => {
      const target = await unit('bounded', (request) => void request.resume());
      await router.apply(ruled({ maxBodyBytes: 3, answerSeconds: 1 }, target));
      expect((await ask(router.listen, 'ruled.test', {}, 'four')).status).toBe(413);
      expect((await ask(router.listen, 'ruled.test', {}, 'one')).status).toBe(504);
    });

    theCase('asks another target when one refuses', async () => {
      const gone = await unit('half-gone');
      await units.at(-1)?.stop();
      const alive = await unit('half-alive');
      await router.apply(table({ app: 'half', hosts: ['half.test'], targets: [gone, alive] }));
      for (let index = 0; index < 6; index++) expect((await get('half.test')).body).toBe('half-alive');
      expect(await router.traffic('half')).toMatchObject({ requests: 6, failures: 0 });
      const asked = ['half', 'unheard-of'];
      const each = await Promise.all(asked.map(async (app) => [app, await router.traffic(app)] as const));
      expect(await router.trafficOf(asked)).toEqual(new Map(each));
    });

    theCase('counts nothing for an app it does not know, and passes bodies through', async () => {
      expect(await router.traffic('unheard-of')).toMatchObject({ requests: 0, failures: 0 });
      const target = await unit('echo', (request, response) => void request.pipe(response));
      await router.apply(table({ hosts: ['echo.test'], targets: [target] }));
      const body = 'x'.repeat(200_000);
      expect((await ask(router.listen, 'echo.test', {}, body)).body).toBe(body);
    });

    // The last: nobody new is answered after it.
    theCase('leaves its clients with their next answers, by tables that come meanwhile', async () => {
      await router.apply(table({ targets: [await unit('before')] }));
      const at = router.listen.lastIndexOf(':');
      const [host, port] = [router.listen.slice(0, at), Number(router.listen.slice(at + 1))];
      const agent = new Agent({ keepAlive: true, maxSockets: 1 });
      const again = (): Promise<{ body: string; connection: string | undefined; isReused: boolean }> =>
        new Promise((resolve, reject) => {
          const request = httpRequest({ host, port, agent, headers: { host: 'blog.test' } }, (response) => {
            response.setEncoding('utf8').on('data', (body: string) => {
              const { connection } = response.headers;
              response.on('end', () => resolve({ body, connection, isReused: request.reusedSocket }));
            });
          });
          request.on('error', reject).end();
        });
      expect((await again()).body).toBe('before');
      const left = router.leave(LEAVE_MS);
      await expect.poll(() => get('blog.test').then(({ status }) => status, String)).toContain('ECONNREFUSED');
      await router.apply(table({ targets: [await unit('meanwhile')] }));
      expect(await again()).toEqual({ body: 'meanwhile', connection: 'close', isReused: true });
      await left;
      agent.destroy();
    });

    it(`ran all of its ${ROUTER_CASES} cases`, () => {
      expect(ran).toBe(ROUTER_CASES);
    });
  });
}
