import http, { type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { limitBodyTime } from './incoming.ts';

const LIMIT_MS = 40;

/** What the client gets when the answer takes longer than a body may. */
async function answerOf(send: (request: http.ClientRequest) => void): Promise<string> {
  const server = http.createServer((request, response) => {
    limitBodyTime(request, LIMIT_MS);
    void delay(3 * LIMIT_MS).then(() => response.end('done'));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  try {
    return await new Promise<string>((resolve) => {
      const request = http.request({ host: '127.0.0.1', port, method: 'PUT', agent: false });
      request.on('response', (response: IncomingMessage) => {
        response.on('data', (data: Buffer) => resolve(data.toString()));
        response.on('error', () => resolve('cut'));
      });
      request.on('error', () => resolve('cut'));
      send(request);
    });
  } finally {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
}

it('a request that has arrived may be answered late, also one with a body of no bytes that nobody reads', async () => {
  expect(await answerOf((request) => request.setHeader('content-length', 0).end())).toBe('done');
  expect(await answerOf((request) => request.setHeader('transfer-encoding', 'chunked').end())).toBe('done');
});

it('a body that does not come is not waited for', async () => {
  expect(await answerOf((request) => request.setHeader('content-length', 10).write('half'))).toBe('cut');
});
