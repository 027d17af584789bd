import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { gunzipSync } from 'node:zlib';
import { expect, it } from 'vitest';
import { createAddressGuard } from '../../../lib/guarded/address-guard.ts';
import { createOtlpSender } from './otlp-sender.ts';

const HEADERS = new Map([['authorization', 'Bearer topsecret']]);
const NEVER = new AbortController().signal;

/** Sends to a receiver that answers so; what it got. */
async function sent(status: number, answer: string, allowLoopback = true) {
  const got: { head: IncomingMessage; body: string }[] = [];
  const server = createServer((request, response) => {
    void buffer(request).then((body) => {
      got.push({ head: request, body: gunzipSync(body).toString() });
      response.writeHead(status).end(answer);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1/metrics`;
  const guard = createAddressGuard({ allow: [], allowLoopback, ownPorts: () => [] });
  try {
    const failure = await createOtlpSender({ url, headers: HEADERS, guard })
      .send('{"resourceMetrics":[]}', NEVER)
      .then(
        () => null,
        (error: unknown) => (error as Error).message,
      );
    return { got, failure };
  } finally {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
}

it('posts the document, packed, with the headers of the settings', async () => {
  const { got, failure } = await sent(200, '{}');
  expect(failure).toBeNull();
  expect(got.map(({ head, body }) => [head.method, head.url, body])).toEqual([
    ['POST', '/v1/metrics', '{"resourceMetrics":[]}'],
  ]);
  expect(got[0]?.head.headers).toMatchObject({
    authorization: 'Bearer topsecret',
    'content-type': 'application/json',
    'content-encoding': 'gzip',
  });
});

it('says what is answered, and nothing that is secret', async () => {
  const { failure } = await sent(401, 'no  such login:\nBearer topsecret');
  expect(failure).toBe('The receiver of metrics answered 401: no such login: ***');
});

it('goes to no address that is not allowed', async () => {
  const { got, failure } = await sent(200, '', false);
  expect(got).toEqual([]);
  expect(failure).toMatch(/^The receiver of metrics: /);
});
