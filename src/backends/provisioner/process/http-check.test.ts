import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { checkOnce } from './http-check.ts';

const limits = { timeoutMs: 60_000, signal: new AbortController().signal };
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
  ['^(a+)+$', 'hopeless'],
])('a body that is to match %s is %s', async (match, kind) => {
  const begun = performance.now();
  expect(await checkOnce(address, { path: '/', match }, limits)).toMatchObject({ kind });
  expect(performance.now() - begun).toBeLessThan(60_000);
});

it.each([
  ['/never', /^no answer came within 0\.3 seconds$/],
  ['/hangs-up', /^it closed the connection without an answer$/],
])('tells of %s in words for people', async (path, detail) => {
  const result = await checkOnce(address, { path }, { ...limits, timeoutMs: 300 });
  expect(result).toEqual({ kind: 'unreachable', detail: expect.stringMatching(detail) });
});
