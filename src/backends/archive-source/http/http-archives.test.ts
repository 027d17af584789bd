import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { isPlatformError } from '../../../domain/errors.ts';
import { createHttpArchives } from './http-archives.ts';

let server: Server;
let base: string;

const answers: RequestListener = (request, response) => {
  const to = (location: string): unknown => response.writeHead(302, { location }).end();
  if (request.url === '/app.tar.gz') response.end('bytes');
  else if (request.url === '/moved') to('/app.tar.gz');
  else if (request.url === '/round') to('/round');
  else if (request.url === '/inside') to('http://169.254.169.254/latest/meta-data');
  else if (request.url === '/file') to('file:///etc/passwd');
  else if (request.url === '/cut')
    response.writeHead(200, { 'content-length': '100' }).write('x', () => response.destroy());
  else if (request.url === '/stalled') response.writeHead(200).write('x');
  else response.writeHead(404).end();
};

beforeAll(async () => {
  server = createServer(answers);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

const options = { allow: [], allowLoopback: true, ownPorts: () => [1] };
const never = new AbortController().signal;

async function fetched(url: string, more: Partial<typeof options> = {}, signal = never): Promise<string> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of createHttpArchives({ ...options, ...more }).open(url, signal)) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

async function expectRefused(reading: Promise<string>, text: RegExp, code = 'input.invalid'): Promise<void> {
  const thrown: unknown = await reading.catch((error: unknown) => error);
  expect(isPlatformError(thrown) ? [thrown.code, thrown.message] : thrown).toEqual([code, expect.stringMatching(text)]);
}

it('gives the bytes, also where the server sends on', async () => {
  expect(await fetched(`${base}/app.tar.gz`)).toBe('bytes');
  expect(await fetched(`${base}/moved`)).toBe('bytes');
});

it('calls no address that users may not have called, also by a detour', async () => {
  await expectRefused(fetched(`${base}/app.tar.gz`, { allowLoopback: false }), /cannot be fetched/);
  await expectRefused(fetched(`${base}/inside`), /cannot be fetched/);
  await expectRefused(fetched('http://169.254.169.254/'), /cannot be fetched/);
  const port = Number(new URL(base).port);
  await expectRefused(
    fetched(`${base}/app.tar.gz`, { ownPorts: () => [port] } as Partial<typeof options>),
    /never called/,
  );
  for (const url of [
    `${base}/file`,
    'file:///etc/passwd',
    'ftp://example.com/x',
    'nonsense',
    'http://a:b@127.0.0.1/',
  ]) {
    await expectRefused(fetched(url), /begins with http/);
  }
});

it('says what went wrong, and gives up when it is asked to', async () => {
  await expectRefused(fetched(`${base}/nothing`), /answered 404/);
  await expectRefused(fetched(`${base}/round`), /on and on/);
  await expectRefused(fetched(`${base}/cut`), /the connection broke/);
  await expectRefused(fetched(`${base}/stalled`, {}, AbortSignal.timeout(200)), /cancelled/, 'cancelled');
});
