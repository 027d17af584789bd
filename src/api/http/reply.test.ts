import { createServer, request as httpRequest, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { afterEach, describe, expect, it } from 'vitest';
import { Reply } from './reply.ts';

const HEADERS = { 'x-request-id': 'one' };
const closers: (() => void)[] = [];

afterEach(() => {
  for (const close of closers.splice(0)) close();
});

/** `null` as the text of an answer that was cut off. */
async function ask(method: string, respond: (reply: Reply, response: ServerResponse) => unknown) {
  const server = createServer((_request, response) => void respond(new Reply(response, HEADERS), response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closers.push(() => server.close());
  const { port } = server.address() as AddressInfo;
  const answer = await new Promise<IncomingMessage>((resolve, reject) => {
    httpRequest({ host: '127.0.0.1', port, method, agent: false }, resolve).once('error', reject).end();
  });
  let text: string | null = '';
  try {
    for await (const chunk of answer) text += String(chunk);
  } catch {
    text = null;
  }
  return { status: answer.statusCode, headers: answer.headers, text };
}

describe('a reply', () => {
  it('is sent with the headers of every answer and its own size, in bytes', async () => {
    const { status, headers, text } = await ask('GET', (reply) => reply.send(200, 'größer'));
    expect({ status, text }).toEqual({ status: 200, text: 'größer' });
    expect(headers).toMatchObject({ 'x-request-id': 'one', 'content-length': '8' });
  });

  it('in pieces is all of them, with the size of all', async () => {
    const pieces = ['[1', ',"größer"', ']'].map((piece) => Buffer.from(piece));
    const { headers, text } = await ask('GET', (reply) => reply.json(pieces));
    expect({ text, size: headers['content-length'] }).toEqual({ text: '[1,"größer"]', size: '14' });
    expect(await ask('HEAD', (reply) => reply.json(pieces))).toMatchObject({
      text: '',
      headers: { 'content-length': '14' },
    });
  });

  it('to HEAD names the size of what GET would have', async () => {
    const { headers, text } = await ask('HEAD', (reply) => reply.json('{"a":1}'));
    expect({ size: headers['content-length'], text }).toEqual({ size: '7', text: '' });
  });

  it.each([204, 304])('of %i has no body and names no size', async (status) => {
    const answer = await ask('GET', (reply) => reply.send(status, ''));
    expect([answer.status, answer.headers['content-length'], answer.headers['transfer-encoding']]).toEqual([
      status,
      undefined,
      undefined,
    ]);
  });

  it('is sent once', async () => {
    const { text } = await ask('GET', (reply) => {
      reply.send(200, 'first');
      reply.send(500, 'second');
    });
    expect(text).toBe('first');
  });

  it('passes on a body piece by piece, one without a byte too', async () => {
    const pass = (pieces: string[]) =>
      ask('GET', (reply) => reply.pass(201, Readable.from(pieces.map((piece) => Buffer.from(piece))), { etag: 'x' }));
    expect(await pass(['a', 'b'])).toMatchObject({ status: 201, text: 'ab', headers: { etag: 'x' } });
    expect(await pass([])).toMatchObject({ status: 201, text: '' });
  });

  it('can still be an error until the first piece of a body has come', async () => {
    const { status, text } = await ask('GET', async (reply) => {
      const broken = new Readable({ read: () => void broken.destroy(new Error('gone')) });
      await reply.pass(200, broken, {}).catch(() => reply.send(502, 'it broke off'));
    });
    expect({ status, text }).toEqual({ status: 502, text: 'it broke off' });
  });

  it('is cut off where a body breaks off after that, so that nobody takes it for whole', async () => {
    async function* breaking(): AsyncGenerator<Buffer> {
      yield Buffer.from('half');
      await new Promise((resolve) => setImmediate(resolve));
      throw new Error('gone');
    }
    const { status, text } = await ask('GET', (reply) =>
      reply.pass(200, Readable.from(breaking()), {}).catch(() => {}),
    );
    expect({ status, text }).toEqual({ status: 200, text: null });
  });
});
