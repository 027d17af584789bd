/** GET /apps with a thousand apps over 64 connections, beside a bare server that sends the same bytes. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { HttpAnswer } from '../../test/support/world.ts';
import type { Bench, Measure } from '../bench.ts';
import { load, type LoadResult } from '../http-load.ts';
import { publishLoad } from '../load-beside.ts';
import { APPS, createApps } from '../thousand-apps.ts';

const CONNECTIONS = 64;
const SECONDS = 1;
const ROUNDS = 5;
const BARE = fileURLToPath(new URL('../bare-api.js', import.meta.url));
/** What node writes by itself. */
const OWN_HEADERS = new Set(['connection', 'keep-alive', 'date', 'content-length', 'transfer-encoding']);

export const api: Measure = {
  name: 'api',
  about: 'requests a second and latency of GET /apps with a thousand apps',
  async run(bench) {
    const world = await bench.world();
    const token = await world.login();
    await createApps(world, token);
    const answer = await world.api('GET', '/apps', { token });
    if (answer.json<unknown[]>().length !== APPS) throw new Error(`not ${APPS} apps: ${answer.text.slice(0, 200)}`);
    const ports = { own: Number(new URL(world.apiUrl).port), bare: await bareServer(bench, answer, token) };
    const head = ['GET /apps HTTP/1.1', 'Host: localhost', `Authorization: bearer ${token}`];
    const under = (port: number, seconds: number): Promise<LoadResult> =>
      load({ port, head, connections: CONNECTIONS, seconds });
    const own: LoadResult[] = [];
    const bare: LoadResult[] = [];
    for (const port of [ports.own, ports.bare]) await under(port, SECONDS / 2);
    await bench.rounds(ROUNDS, async () => {
      own.push(await under(ports.own, SECONDS));
      bare.push(await under(ports.bare, SECONDS));
    });
    publishLoad(bench, `GET /apps, ${APPS} apps, ${CONNECTIONS} connections`, own, {
      what: 'bare node:http',
      results: bare,
    });
  },
};

async function bareServer(bench: Bench, { text, headers }: HttpAnswer, token: string): Promise<number> {
  const child = spawn(process.execPath, [BARE], { stdio: ['pipe', 'pipe', 'inherit'] });
  const ended = once(child, 'exit');
  bench.keep({
    async dispose() {
      child.kill('SIGKILL');
      await ended;
    },
  });
  const same = Object.fromEntries(Object.entries(headers).filter(([name]) => !OWN_HEADERS.has(name)));
  child.stdin.end(JSON.stringify({ token, body: text, headers: same }));
  const [port] = (await Promise.race([once(child.stdout, 'data'), ended.then(() => [''])])) as [Buffer | string];
  if (String(port) === '') throw new Error('the bare server ended');
  return Number(port);
}
