import { request } from 'node:http';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PLATFORM_FILES } from '../support/builder-world.ts';
import { answer, startProcess } from '../support/running-process.ts';
import type { RunningProcess } from '../support/running-process.ts';
import { treeOf } from '../support/source-trees.ts';

const SCRIPT = 'console.log("a script long enough to be worth compressing");\n'.repeat(20);
let root: string;
let server: RunningProcess;
let spa: RunningProcess;

beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'static-'));
  await treeOf({
    'secret.txt': 'outside',
    'site/index.html': '<h1>start</h1>',
    'site/404.html': '<h1>lost</h1>',
    'site/docs/index.html': 'docs',
    'site/about.html': 'about',
    'site/app.js': SCRIPT,
    'site/numbers.txt': '0123456789',
    'site/empty.txt': '',
    'site/.env': 'SECRET=1',
    'site/.well-known/security.txt': 'contact',
    'site/na me.txt': 'spaced',
    'site/leak.txt': '-> ../secret.txt',
    'site/unknown.xyz': 'bytes',
  }).extract(root, new AbortController().signal);
  await writeFile(join(root, 'site/app.js.br'), brotliCompressSync(SCRIPT));
  await writeFile(join(root, 'site/app.js.gz'), gzipSync(SCRIPT));
  const start = (env: Record<string, string>) =>
    startProcess({
      command: `exec "${process.execPath}" "${join(PLATFORM_FILES, 'static/server.mjs')}"`,
      cwd: root,
      manifest: { path: [], env: {} },
      env: { STATIC_ROOT: 'site', ...env },
    });
  [server, spa] = await Promise.all([start({}), start({ STATIC_FALLBACK: 'index.html' })]);
  await Promise.all([answer(server), answer(spa)]);
});
afterAll(async () => {
  await Promise.all([server.stop(), spa.stop()]);
  await rm(root, { recursive: true });
});

/** Sends the path as it is; fetch would tidy it. */
function raw(
  path: string,
  method = 'GET',
  headers: Record<string, string> = {},
): Promise<{ status: number; headers: Record<string, unknown>; body: Buffer }> {
  return new Promise((resolve, reject) => {
    const sent = request(`${server.url}`, { path, method, headers }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('end', () =>
        resolve({ status: response.statusCode ?? 0, headers: response.headers, body: Buffer.concat(chunks) }),
      );
    });
    sent.on('error', reject).end();
  });
}

describe('the static server', () => {
  it.each([
    ['/', 200, 'text/html; charset=utf-8', '<h1>start</h1>'],
    ['/docs/', 200, 'text/html; charset=utf-8', 'docs'],
    ['/about', 200, 'text/html; charset=utf-8', 'about'],
    ['/app.js?v=1', 200, 'text/javascript; charset=utf-8', SCRIPT],
    ['/na%20me.txt', 200, 'text/plain; charset=utf-8', 'spaced'],
    ['/empty.txt', 200, 'text/plain; charset=utf-8', ''],
    ['/.well-known/security.txt', 200, 'text/plain; charset=utf-8', 'contact'],
    ['/unknown.xyz', 200, 'application/octet-stream', 'bytes'],
    ['/nowhere', 404, 'text/html; charset=utf-8', '<h1>lost</h1>'],
  ])('answers %s with %i', async (path, status, type, body) => {
    const response = await raw(path);
    expect(response).toMatchObject({ status, headers: { 'content-type': type } });
    expect(response.body.toString()).toBe(body);
    expect(response.headers['content-length']).toBe(String(Buffer.byteLength(body)));
  });

  it.each([
    '/../secret.txt',
    '/%2e%2e/secret.txt',
    '/docs/..%2f..%2fsecret.txt',
    '/..\\secret.txt',
    '/leak.txt',
    '/.env',
    '/%',
    '/a%00b',
    '//../secret.txt',
  ])('does not hand out %s', async (path) => {
    const response = await raw(path);
    expect(response.status).toBe(404);
    expect(response.body.toString()).not.toMatch(/outside|SECRET/);
  });

  it('redirects a directory to its slash, on the same host', async () => {
    expect(await raw('/docs?a=b')).toMatchObject({ status: 301, headers: { location: '/docs/?a=b' } });
    expect((await raw('//docs')).headers['location']).toBe('/docs/');
  });

  it('answers HEAD like GET, without a body', async () => {
    const response = await raw('/numbers.txt', 'HEAD');
    expect(response).toMatchObject({ status: 200, headers: { 'content-length': '10' } });
    expect(response.body).toHaveLength(0);
  });

  it('refuses other methods', async () => {
    expect(await raw('/', 'POST')).toMatchObject({ status: 405, headers: { allow: 'GET, HEAD' } });
  });

  it('answers 304 to who has the file already', async () => {
    const first = await raw('/numbers.txt');
    const etag = String(first.headers['etag']);
    const modified = String(first.headers['last-modified']);
    for (const headers of [
      { 'if-none-match': etag },
      { 'if-none-match': `"x", W/${etag}` },
      { 'if-none-match': '*' },
      { 'if-modified-since': modified },
    ]) {
      const again = await raw('/numbers.txt', 'GET', headers as Record<string, string>);
      expect(again).toMatchObject({ status: 304, headers: { etag } });
      expect(again.body).toHaveLength(0);
    }
    expect((await raw('/numbers.txt', 'GET', { 'if-none-match': '"x"', 'if-modified-since': modified })).status).toBe(
      200,
    );
  });

  it.each([
    ['bytes=2-4', 206, '234', 'bytes 2-4/10'],
    ['bytes=7-', 206, '789', 'bytes 7-9/10'],
    ['bytes=-2', 206, '89', 'bytes 8-9/10'],
    ['bytes=5-99', 206, '56789', 'bytes 5-9/10'],
    ['bytes=10-', 416, 'Range not satisfiable\n', 'bytes */10'],
    ['bytes=-0', 416, 'Range not satisfiable\n', 'bytes */10'],
    ['bytes=4-2', 200, '0123456789', undefined],
    ['bytes=0-1,4-5', 200, '0123456789', undefined],
    ['lines=1-2', 200, '0123456789', undefined],
  ])('answers the range %s with %i', async (range, status, body, contentRange) => {
    const response = await raw('/numbers.txt', 'GET', { range });
    expect(response.status).toBe(status);
    expect(response.body.toString()).toBe(body);
    expect(response.headers['content-range']).toBe(contentRange);
  });

  it('sends the whole file when the range is of an older one', async () => {
    expect((await raw('/numbers.txt', 'GET', { range: 'bytes=0-1', 'if-range': '"old"' })).status).toBe(200);
    const { etag } = (await raw('/numbers.txt')).headers;
    expect((await raw('/numbers.txt', 'GET', { range: 'bytes=0-1', 'if-range': String(etag) })).status).toBe(206);
  });

  it.each([
    ['gzip, deflate, br', 'br'],
    ['gzip', 'gzip'],
    ['br;q=0, gzip;q=0.5', 'gzip'],
    ['identity', undefined],
  ])('chooses for "accept-encoding: %s" the twin %s', async (accepted, coding) => {
    const response = await raw('/app.js', 'GET', { 'accept-encoding': accepted });
    expect(response.headers['content-encoding']).toBe(coding);
    expect(response.headers['content-type']).toBe('text/javascript; charset=utf-8');
    expect(response.headers['vary']).toBe('accept-encoding');
    expect(await (await fetch(`${server.url}/app.js`, { headers: { 'accept-encoding': accepted } })).text()).toBe(
      SCRIPT,
    );
  });

  it('answers unknown paths with the fallback when there is one, but not unknown files', async () => {
    const page = await fetch(`${spa.url}/deep/link`);
    expect([page.status, await page.text()]).toEqual([200, '<h1>start</h1>']);
    expect((await fetch(`${spa.url}/missing.js`)).status).toBe(404);
  });
});
