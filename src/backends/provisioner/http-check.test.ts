import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Worker } from 'node:worker_threads';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { checkOnce } from './http-check.ts';
import { judge } from './pattern-judge.ts';
import { matchOf } from './pattern-match.ts';

const limits = { app: 'shop', timeoutMs: 60_000, signal: new AbortController().signal };
let server: Server;
let address: { host: string; port: number };

beforeAll(async () => {
  server = createServer((request, response) => {
    if (request.url === '/never') return;
    if (request.url === '/hangs-up') return void request.socket.destroy();
    response.end(`${'a'.repeat(50_000)}!`);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  address = { host: '127.0.0.1', port: (server.address() as AddressInfo).port };
});
afterAll(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

it.each([
  ['a!$', 'ok'],
  ['^b', 'wrong'],
  ['(', 'wrong'],
])('a body that is to match %s is %s', async (match, kind) => {
  // On a busy machine it is not judged at first.
  await expect.poll(() => checkOnce(address, { path: '/', match }, limits)).toMatchObject({ kind });
});

it('a pattern that takes for ever is hopeless', async () => {
  // On a busy machine it is not judged at first.
  const kind = (): Promise<string> =>
    checkOnce(address, { path: '/', match: '^(a+)+$' }, limits).then((result) => result.kind);
  await expect.poll(kind).toBe('hopeless');
});

it('a pattern that takes for ever holds up nothing else, and is not tried again at once', async () => {
  const slow = { pattern: '^(?:a+)+$', body: `${'a'.repeat(50)}!` };
  const both = (): Promise<string> =>
    Promise.all([judge(slow, limits), judge(slow, limits)]).then((verdicts) => verdicts.join());
  await expect.poll(both, { timeout: 120_000 }).toBe('hopeless,unjudged');
  // With the thread there, nothing else goes on meanwhile that could give these turns.
  let turns = 0;
  let next: NodeJS.Immediate;
  const turn = (): void => {
    turns += 1;
    next = setImmediate(turn);
  };
  next = setImmediate(turn);
  await judge(slow, { ...limits, app: 'news' });
  clearImmediate(next);
  expect(turns).toBeGreaterThan(1);
});

it('patterns of one app that take long hold up those of others for one turn only', async () => {
  const body = `${'a'.repeat(50)}!`;
  let number = 0;
  const isSoon = async (): Promise<boolean> => {
    const ended: string[] = [];
    const ask = async (app: string, pattern: string): Promise<void> => {
      const verdict = await judge({ pattern, body }, { ...limits, app });
      ended.push(`${app} ${verdict}`);
    };
    const slow = Array.from({ length: 4 }, () => ask('shop', `^(?:a+)+${(number += 1)}$`));
    await Promise.all([...slow, ask('blog', '^a+!$')]);
    return ended.indexOf('blog yes') === 1;
  };
  // On a busy machine there is no time for any.
  await expect.poll(isSoon, { timeout: 120_000 }).toBe(true);
});

it('a pattern that takes long with what one app answers is judged for the others', async () => {
  const pattern = '^(?:a+)+b?$';
  const both = (): Promise<string> =>
    Promise.all([
      judge({ pattern, body: `${'a'.repeat(50)}!` }, limits),
      judge({ pattern, body: 'aa' }, { ...limits, app: 'blog' }),
    ]).then((verdicts) => verdicts.join());
  await expect.poll(both, { timeout: 120_000 }).toBe('hopeless,yes');
});

it('nobody waits for a verdict that is not wanted any more', async () => {
  const stop = new AbortController();
  const verdict = judge({ pattern: '^a.$', body: 'ab' }, { ...limits, signal: stop.signal });
  stop.abort();
  expect(await verdict).toBe('unjudged');
});

it('a pattern whose thread ends is not tried again at once', async () => {
  // One that has no thread yet.
  const { href } = new URL('./pattern-judge.ts?anew', import.meta.url);
  const { judge: judgeAnew } = (await import(href)) as { judge: typeof judge };
  let threads = 0;
  const end = (thread: Worker): void => {
    threads += 1;
    void thread.terminate();
  };
  process.on('worker', end);
  try {
    const question = { pattern: '^a.$', body: 'ab' };
    expect(await judgeAnew(question, limits)).toBe('unjudged');
    expect(await judgeAnew(question, limits)).toBe('unjudged');
    expect(threads).toBe(1);
  } finally {
    process.off('worker', end);
  }
});

it('a pattern whose thread had no time to answer is tried again', async () => {
  const { href } = new URL('./pattern-judge.ts?late', import.meta.url);
  const { judge: judgeAnew } = (await import(href)) as { judge: typeof judge };
  let threads = 0;
  const silence = (thread: Worker): void => {
    threads += 1;
    if (threads === 1) thread.removeAllListeners('message');
  };
  const question = { pattern: '^a.$', body: 'ab' };
  process.on('worker', silence);
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  try {
    const first = judgeAnew(question, limits);
    await vi.advanceTimersByTimeAsync(10_000);
    expect(await first).toBe('unjudged');
    vi.useRealTimers();
    await judgeAnew(question, limits);
    expect(threads).toBe(2);
  } finally {
    vi.useRealTimers();
    process.off('worker', silence);
  }
});

it.each([
  ['^ok', 'ok, all of it', 'yes'],
  ['^ok', 'not ok', 'no'],
  ['up$', 'down\nup', 'yes'],
  ['"status":"ok"', '{"status":"ok"}', 'yes'],
])('plain text %s in %j: %s', async (pattern, body, verdict) => {
  expect(await judge({ pattern, body }, limits)).toBe(verdict);
});

it('a pattern is not blamed for a machine that had no time for it', () => {
  const body = `${'a'.repeat(50)}!`;
  const used = (user: number) => (before?: NodeJS.CpuUsage) => ({ user: before === undefined ? 0 : user, system: 0 });
  expect(matchOf('^(a+)+$', body, used(10_000))).toBe('unjudged');
  expect(matchOf('^(a+)+$', body, used(100_000))).toBe('hopeless');
});

it.each([
  ['/never', /^no answer came within 0\.3 seconds$/],
  ['/hangs-up', /^it closed the connection without an answer$/],
])('reports %s in words for people', async (path, detail) => {
  const result = await checkOnce(address, { path }, { ...limits, timeoutMs: 300 });
  expect(result).toEqual({ kind: 'unreachable', detail: expect.stringMatching(detail) });
});
