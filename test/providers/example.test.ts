/** The provider that the guide shows, as a process of its own: the contract holds, and a crash loses nothing. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { checkProvider } from '../../src/providers/check/check.ts';
import { until } from '../support/until.ts';
import { request } from '../support/world.ts';

const PROGRAM = new URL('../../examples/provider/provider.js', import.meta.url).pathname;
const credentials = { username: 'tokens', password: 'something-long' };

let folder: string;
let child: ChildProcess;
let url = '';

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'tancho-example-provider-'));
  await start();
});

afterAll(async () => {
  await end();
  await rm(folder, { recursive: true, force: true });
});

async function start(): Promise<void> {
  const env = { PATH: process.env['PATH'] ?? '', PORT: '0', PASSWORD: credentials.password };
  child = spawn(process.execPath, [PROGRAM], { cwd: folder, env, stdio: ['ignore', 'pipe', 'pipe'] });
  let printed = '';
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (data: Buffer) => (printed += data.toString()));
  const listening = (): boolean => {
    url = /listening on (http:\S+)/.exec(printed)?.[1] ?? '';
    return url !== '';
  };
  await until(listening, { what: 'the provider to listen', detail: () => printed });
}

async function end(): Promise<void> {
  const ended = once(child, 'exit');
  child.kill('SIGKILL');
  await ended;
}

function send(method: string, target: string, body: string) {
  const authorization = `Basic ${Buffer.from(`${credentials.username}:${credentials.password}`).toString('base64')}`;
  const headers = { authorization, 'content-type': 'application/x-www-form-urlencoded', 'idempotency-key': 'k' };
  return request(url, method, target, { body, headers });
}

it('holds to the whole contract', async () => {
  const report = await checkProvider({ url, credentials, timeoutMs: 60_000 });
  expect(report.checks.filter(({ result }) => result !== 'holds')).toEqual([]);
});

it('knows after a kill what it has promised', async () => {
  await send('POST', '/resources', 'name=kept');
  const bind = () => send('POST', '/resources/kept/bind-app', 'app-host=a.example.com');
  const { text } = await bind();
  expect(JSON.parse(text)).toEqual({ TOKEN: expect.stringMatching(/^[0-9a-f]{48}$/) });
  await end();
  await start();
  expect((await bind()).text).toBe(text);
});

it('survives what makes no sense', async () => {
  expect((await send('GET', '/resources/%zz', '')).status).toBe(400);
  expect((await send('GET', '/nowhere', '')).status).toBe(404);
  expect((await send('GET', '/resources/plans', '')).status).toBe(200);
});

it('is as short as the guide says', async () => {
  const lines = (await readFile(PROGRAM, 'utf8')).split('\n').filter((line) => line.trim() !== '');
  expect(lines.length).toBeLessThanOrEqual(70);
});
