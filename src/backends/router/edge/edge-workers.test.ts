/** What becomes of requests, counters and changes of the routes when a worker of the edge dies or hangs. */
import { readFile } from 'node:fs/promises';
import { Agent, get, type ServerResponse } from 'node:http';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { until } from '../../../../test/support/until.ts';
import type { AdoptingRouter } from './edge-router.ts';
import { EdgeWorld } from './edge-world.ts';
import { itLong } from '../../../../test/support/long-cases.ts';

const REQUESTS = 24;

let world: EdgeWorld;
let router: AdoptingRouter;
let edge: number;
beforeEach(() => {
  world = new EdgeWorld();
});
afterEach(() => world.dispose());

async function start(count: number): Promise<void> {
  const options = await world.home({ workers: count });
  router = await world.start(options);
  edge = await world.pid(options);
}

async function workers(): Promise<number[]> {
  const children = await readFile(`/proc/${edge}/task/${edge}/children`, 'utf8');
  return children.trim().split(' ').map(Number);
}

function ask(path = '/'): Promise<boolean> {
  const at = router.listen.lastIndexOf(':');
  const [host, port] = [router.listen.slice(0, at), Number(router.listen.slice(at + 1))];
  return new Promise((resolve) => {
    get({ host, port, path, headers: { host: 'blog.test' }, agent: new Agent() }, (response) => {
      response.on('error', () => resolve(false));
      response.resume().on('end', () => resolve(response.statusCode === 200 && response.complete));
    }).on('error', () => resolve(false));
  });
}

it('what a worker had counted when it died is not lost, and what it had begun has failed', async () => {
  await start(2);
  const pending: ServerResponse[] = [];
  const table = await world.unit('slow', ({ url }, response) => {
    if (url === '/') response.end('at once');
    else pending.push(response);
  });
  await router.apply(table);
  for (let n = 0; n < 10; n++) expect(await ask()).toBe(true);
  const asked = Array.from({ length: REQUESTS }, () => ask('/slow'));
  await until(() => pending.length === REQUESTS, { what: 'all requests to be under way' });
  expect(await router.traffic('blog')).toMatchObject({ requests: 10, failures: 0 });

  const victims = await workers();
  for (const victim of victims) process.kill(victim, 'SIGKILL');
  const failures = (await Promise.all(asked)).filter((whole) => !whole).length;
  expect(failures).toBe(REQUESTS);
  await expect.poll(() => router.traffic('blog')).toMatchObject({ requests: 10 + REQUESTS, failures });
  expect((await router.trafficOf(['blog'])).get('blog')).toEqual(await router.traffic('blog'));
  for (const response of pending) response.destroy();
  expect(await ask()).toBe(true);
});

itLong(
  'a request is in the record also when its worker is killed the moment the unit sees it, and none that was answered',
  async () => {
    await start(2);
    const victims = await workers();
    let seen = 0;
    const table = await world.unit('one', (_request, response) => {
      if (seen++ === 0) for (const victim of victims) process.kill(victim, 'SIGKILL');
      response.end('one');
    });
    await router.apply(table);
    const asked = await Promise.all(Array.from({ length: REQUESTS }, () => ask()));
    const answered = asked.filter(Boolean).length;
    // The unit has seen those that were answered, too.
    await expect.poll(async () => (await router.traffic('blog')).failures).toBeGreaterThanOrEqual(seen - answered);
    const { requests, failures } = await router.traffic('blog');
    expect(failures).toBeLessThanOrEqual(REQUESTS - answered);
    expect([seen - answered > 0, requests]).toEqual([true, failures + answered]);
  },
);

itLong('the lines of requests come from all workers, and to the last from an edge that is replaced', async () => {
  const options = await world.home({ workers: 2 });
  router = await world.start(options);
  const slow: ServerResponse[] = [];
  const { version, routes } = await world.unit('one', ({ url }, response) => {
    if (url?.startsWith('/slow') === true) slow.push(response);
    else response.end();
  });
  const rules = { accessLog: true } as const;
  await router.apply({ version, routes: routes.map((route) => ({ ...route, rules })) });
  const asked = Array.from({ length: 6 }, (_, n) => ask(`/slow-${n}`));
  await until(() => slow.length === 6, { what: 'requests to be under way' });
  await router.close();
  const [host = '', port = ''] = router.listen.split(':');
  router = await world.start({ ...options, listen: { host, port: Number(port) }, limits: { queuePerTarget: 201 } });
  expect(router.adopted).toBe(false);
  expect(router.hasServed).toBe(true);
  for (const response of slow) response.end();
  expect(await Promise.all(asked)).toEqual(asked.map(() => true));
  for (let n = 0; n < 12; n++) expect(await ask(`/after-${n}`)).toBe(true);
  const paths: string[] = [];
  await until(
    async () => {
      for (const { line } of await router.takeAccessLog()) paths.push(/path="([^"]*)"/.exec(line)?.[1] ?? line);
      return paths.length >= 18;
    },
    { what: 'the lines', detail: () => paths.join(' ') },
  );
  const of = (name: string, count: number): string[] => Array.from({ length: count }, (_, n) => `/${name}-${n}`);
  expect(paths.sort()).toEqual([...of('after', 12), ...of('slow', 6)].sort());
});

it('a worker that hangs is replaced, and holds up no change of the routes', async () => {
  await start(2);
  await router.apply(await world.unit('one'));
  const before = await workers();
  const [victim = 0] = before;
  process.kill(victim, 'SIGSTOP');
  await router.apply(await world.unit('two'));
  await until(
    async () => {
      const now = await workers();
      return now.length === before.length && !now.includes(victim);
    },
    { what: 'another worker in its place' },
  );
  for (let n = 0; n < 10; n++) expect(await ask()).toBe(true);
});

itLong('an edge of one process that hangs is replaced, and holds up no change of the routes', async () => {
  await start(1);
  await router.apply(await world.unit('one'));
  process.kill(edge, 'SIGSTOP');
  const hanging = ask();
  await router.apply(await world.unit('two'));
  expect(await hanging).toBe(false);
  for (let n = 0; n < 10; n++) expect(await ask()).toBe(true);
});
