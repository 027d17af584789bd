import { createServer, request as httpRequest } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, it } from 'vitest';
import { isPlatformError } from '../domain/errors.ts';
import { pendingUpload, type UploadBody } from './upload-body.ts';

const STALL_MS = 50;
/** For who sends what is wanted, also where the machine is slow. */
const LONG_MS = 60_000;
const BOUNDARY = 'frontier';
const closing: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

function part(name: string, content: string, file = ''): string {
  return `--${BOUNDARY}\r\nContent-Disposition: form-data; name="${name}"${file}\r\n\r\n${content}\r\n`;
}

const FILE = part('file', 'bytes', '; filename="app.tar"');
const END = `--${BOUNDARY}--\r\n`;

/** What becomes of a form of which the client sends `text` and then the end of the request, nothing, or `x` again and again. */
async function uploaded<T>(
  text: string,
  then: 'end' | 'silence' | 'x',
  read: (body: UploadBody) => Promise<T>,
  stallMs = then === 'end' ? LONG_MS : STALL_MS,
): Promise<T> {
  let settle: (reading: Promise<T>) => void = () => {};
  const settled = new Promise<T>((resolve) => (settle = resolve));
  const server = createServer((request, response) => {
    const contentType = request.headers['content-type'] ?? '';
    const reading = pendingUpload(request, contentType, stallMs).read().then(read);
    reading.catch(() => undefined).finally(() => response.end());
    settle(reading);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const headers = { 'content-type': `multipart/form-data; boundary=${BOUNDARY}` };
  const client = httpRequest({ port, host: '127.0.0.1', method: 'POST', headers });
  client.on('error', () => {});
  client.write(text);
  if (then === 'end') client.end();
  const dripping = then === 'x' ? setInterval(() => client.write('x'), STALL_MS / 5) : undefined;
  closing.push(async () => {
    clearInterval(dripping);
    client.destroy();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return settled;
}

async function archiveOf({ archive }: UploadBody): Promise<string> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of archive ?? []) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

const codeOf = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'none',
    (error: unknown) => (isPlatformError(error) ? error.code : String(error)),
  );

it('gives the file and the fields before and after it', async () => {
  const text = part('message', 'before') + FILE + part('commit', 'after') + END;
  const found = await uploaded(text, 'end', async (body) => [
    body.field('message'),
    await archiveOf(body),
    body.field('commit'),
  ]);
  expect(found).toEqual(['before', 'bytes', 'after']);
});

it('gives up on a client that falls silent before the file, in it, or after it', async () => {
  const texts = { before: part('message', 'text'), within: FILE.slice(0, -4), after: FILE + part('commit', 'a') };
  for (const [where, text] of Object.entries(texts)) {
    expect(await codeOf(uploaded(text, 'silence', archiveOf)), where).toBe('timeout');
  }
});

it('gives up on a client that sends a byte now and then, before the file or in it', async () => {
  for (const start of [`--${BOUNDARY}\r\nContent-Disposition: form-data; name="message"\r\n\r\n`, FILE.slice(0, -4)])
    expect(await codeOf(uploaded(start, 'x', archiveOf)), start).toBe('timeout');
});

it('says that the form is cut off when the client leaves', async () => {
  expect(await codeOf(uploaded(part('message', 'text'), 'end', archiveOf))).toBe('input.invalid');
});

it('waits for as long as the file is used slowly', async () => {
  const stallMs = 500;
  const useSlowly = async (body: UploadBody): Promise<string> => {
    await new Promise((resolve) => setTimeout(resolve, 2 * stallMs));
    return archiveOf(body);
  };
  const found = await uploaded(FILE + END, 'end', useSlowly, stallMs);
  expect(found).toBe('bytes');
});
