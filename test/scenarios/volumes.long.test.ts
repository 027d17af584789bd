/** What apps keep, by the command line and by the app's file, with the built program: it is there after all that replaces units. */
import { afterAll, describe, expect, it } from 'vitest';
import { startDeveloper } from '../support/developer.ts';
import { sshUrl, type WorkTree } from '../support/git.ts';
import { until } from '../support/until.ts';
import { run } from '../support/world.ts';

/** `/keep?<text>` appends a line to what its directory holds, every other path shows it. */
const server = (directory: string, version = 1): string => `
const fs = require('node:fs');
const file = '${directory}/kept.db';
try { fs.mkdirSync('${directory}', { recursive: true }); } catch {}
require('node:http').createServer((request, answer) => {
  if (request.url.startsWith('/keep')) fs.appendFileSync(file, request.url.slice(6) + ';');
  answer.end('v${version} ' + (fs.existsSync(file) ? fs.readFileSync(file, 'utf8') : 'nothing'));
}).listen(process.env.PORT);
`;

const { world, createApp, createTree, dispose } = await startDeveloper();
afterAll(dispose);

async function app(name: string, files: Record<string, string>): Promise<WorkTree> {
  await createApp(name, 'auto');
  return createTree(files);
}

async function push(work: WorkTree, name: string, files: Record<string, string> = {}): Promise<string> {
  await work.write(files);
  await work.commit();
  const env = { ...process.env, ...work.env } as Record<string, string>;
  const pushed = await run('git', ['push', sshUrl(world, name), 'HEAD:refs/heads/main'], { cwd: work.dir, env });
  expect(pushed.code, pushed.stderr).toBe(0);
  return pushed.stderr;
}

async function tancho(...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await world.cli(args);
  expect(code, stderr).toBe(0);
  return stdout;
}

const page = async (name: string, path = '/'): Promise<string> => (await world.fetchApp(name, path)).text;

describe('a volume of the command line', () => {
  it('keeps what is in it through a restart, a deploy and a move of its mount, and goes when it is removed', async () => {
    const work = await app('shop', { 'server.js': server('/data') });
    await tancho('volume', 'create', 'data', '-a', 'shop', '--size', '10M');
    await tancho('volume', 'mount', 'data', '/data', '-a', 'shop');
    await push(work, 'shop');
    await page('shop', '/keep?one');
    await tancho('app', 'restart', '-a', 'shop');
    expect(await page('shop')).toBe('v1 one;');
    await push(work, 'shop', { 'server.js': server('/data', 2) });
    expect(await page('shop')).toBe('v2 one;');
    expect(await tancho('app', 'run', '-a', 'shop', '--', 'cat', '/data/kept.db')).toBe('one;');
    expect(await tancho('volume', 'list', '-a', 'shop')).toMatch(/data.*\/data.*10/);

    const refused = await world.cli(['volume', 'remove', 'data', '-a', 'shop', '--yes']);
    expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining('mounted')]);
    await tancho('volume', 'unmount', 'data', '-a', 'shop');
    expect((await world.cli(['app', 'run', '-a', 'shop', '--', 'cat', '/data/kept.db'])).code).not.toBe(0);
    await tancho('volume', 'mount', 'data', '/data', '-a', 'shop');
    expect(await page('shop')).toBe('v2 one;');
    await tancho('volume', 'unmount', 'data', '-a', 'shop');
    await tancho('volume', 'remove', 'data', '-a', 'shop', '--yes');
    expect(await tancho('volume', 'list', '-a', 'shop')).not.toContain('/data');
  });
});

describe("a volume of the app's file", () => {
  it('for one writer is handed from unit to unit, and the push says what that costs', async () => {
    const work = await app('till', {
      'server.js': server('kept'),
      'tancho.yaml': 'volumes: { kept: { path: kept, size: 10M, single: true } }\n',
    });
    await push(work, 'till');
    await page('till', '/keep?one');
    const said = await push(work, 'till', { 'server.js': server('kept', 2) });
    expect(said).toContain('Only one unit may have the volume kept');
    expect(said).toContain('requests fail');
    expect(await page('till')).toBe('v2 one;');
    const many = await world.cli(['unit', 'add', '1', '-a', 'till']);
    expect(many.code).not.toBe(0);
    expect(many.stderr).toContain('kept');
  });
});

it('what is written beside the code goes with the unit, and the push says so', async () => {
  const work = await app('lost', { 'server.js': server('uploads') });
  await push(work, 'lost');
  await page('lost', '/keep?one');
  await until(async () => (await page('lost')) === 'v1 one;', { what: 'the file of the app' });
  const said = await push(work, 'lost', { 'server.js': server('uploads', 2) });
  expect(said).toContain('uploads/');
  expect(said).toContain('tancho volume');
  expect(await page('lost')).toBe('v2 nothing');
});
