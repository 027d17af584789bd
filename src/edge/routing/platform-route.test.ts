import { createServer, type Server } from 'node:http';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { EdgeRig } from '../../../test/support/edge-rig.ts';

let directory: string;
let rig: EdgeRig;
let api: Server;
const GET = 'GET /info HTTP/1.1\r\nHost: api.test\r\nX-Forwarded-For: 6.6.6.6\r\nConnection: close\r\n\r\n';

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'door-'));
  const socket = join(directory, 's');
  rig = await EdgeRig.start({ platform: { hosts: ['api.test'], socket }, timeouts: { answerMs: 100 } });
  api = createServer((request, response) => {
    const { 'x-forwarded-for': from, host } = request.headers;
    // Longer than an app may take.
    setTimeout(() => response.end(`${String(host)} ${String(from)}`), 500);
  });
  await new Promise<void>((resolve) => api.listen(socket, resolve));
});

afterEach(async () => {
  await rig.stop();
  if (api.listening) await new Promise((resolve) => api.close(resolve));
  await rm(directory, { recursive: true, force: true });
});

it('leads to the platform without any table, however long it takes to answer, and says whose request it is', async () => {
  expect(await rig.exchange(GET)).toMatch(/^HTTP\/1\.1 200 [^]*api\.test 127\.0\.0\.1/);
});

it('is no app’s, whatever the table says, and stays when tables change', async () => {
  const unit = await rig.httpUnit((_request, response) => response.end('the app'));
  await rig.apply({
    routes: [{ app: 'api', hosts: ['api.test', 'other.test'], targets: [unit], note: '', https: 'redirect' }],
  });
  expect(await rig.exchange(GET)).toContain('api.test 127.0.0.1');
  expect(await rig.exchange(GET.replace('api.test', 'other.test'))).toContain('the app');
  await rig.apply({ routes: [] });
  expect(await rig.exchange(GET)).toContain('api.test 127.0.0.1');
});

it('says that only the platform is away while it is', async () => {
  await new Promise((resolve) => api.close(resolve));
  expect(await rig.exchange(GET)).toMatch(/^HTTP\/1\.1 503 [^]*Retry-After: 5[^]*The platform itself does not answer/);
});
