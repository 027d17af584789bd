import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it } from 'vitest';
import type { Webhook } from '../../../domain/webhooks/webhook.ts';
import { createAddressGuard } from '../../../lib/guarded/address-guard.ts';
import { createHttpWebhooks, type HttpWebhooksOptions, signature } from './http-webhooks.ts';

const never = new AbortController().signal;
const AT = new Date('2026-03-04T05:06:07.089Z');
const DELIVERY = { id: 'msg_1', body: '{"type":"deploy.done"}' };
const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';

function webhook(url: string): Webhook {
  return { id: 'a', scope: 'platform', owner: '', url, secret: SECRET, kinds: [], by: 'ann', createdAt: '' };
}

function send(url: string, options: Partial<HttpWebhooksOptions> = {}, signal = never) {
  const guard = createAddressGuard({ allow: [], allowLoopback: true, ownPorts: () => [] });
  return createHttpWebhooks({ guard, ...options }).send(webhook(url), DELIVERY, AT, signal);
}

type Answering = (request: IncomingMessage, response: ServerResponse, body: string) => void;

async function receiving<T>(answer: Answering, run: (url: string) => Promise<T>): Promise<T> {
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (part: Buffer) => (body += part.toString()));
    request.on('end', () => answer(request, response, body));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  try {
    return await run(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  } finally {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
}

it('signs as Standard Webhooks says: the example of its specification', () => {
  const message = { id: 'msg_p5jXN8AQM9LWM0D4loKWxJek', timestamp: 1614265330, body: '{"test": 2432232314}' };
  expect(signature(SECRET, message)['webhook-signature']).toBe('v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=');
});

it('posts the body with its signature, and answers what came back', async () => {
  const heads: IncomingMessage['headers'][] = [];
  let posted = '';
  const attempt = await receiving(
    (request, response, body) => {
      heads.push(request.headers);
      posted = `${request.method} ${request.url} ${body}`;
      response.writeHead(200).end('thank\n  you');
    },
    (url) => send(`${url}/in?x=1`),
  );
  expect(posted).toBe(`POST /in?x=1 ${DELIVERY.body}`);
  const sent = { ...DELIVERY, timestamp: 1772600767 };
  expect(heads[0]).toMatchObject({ 'content-type': 'application/json', ...signature(SECRET, sent) });
  expect(attempt).toEqual({ status: 200, answer: 'thank you', retryAfterMs: 0 });
});

it('says what a receiver refuses, when it wants to be asked again, and nothing that is secret', async () => {
  const attempt = await receiving(
    (_, response) =>
      response
        .writeHead(503, { 'retry-after': '120' })
        .end(`no ${SECRET} at 0123456789abcdef0123 ${'x'.repeat(1_000)}`),
    (url) => send(`${url}/0123456789abcdef0123?key=topsecret`),
  );
  expect(attempt).toMatchObject({ status: 503, retryAfterMs: 120_000 });
  expect(attempt.answer).toHaveLength(500);
  expect(attempt.answer).not.toMatch(/MfKQ9r8|0123456789abcdef/);
});

it('does not follow a redirect', async () => {
  let asked = 0;
  const attempt = await receiving(
    (_, response) => {
      asked += 1;
      response.writeHead(302, { location: '/elsewhere' }).end();
    },
    (url) => send(url),
  );
  expect([attempt.status, asked]).toEqual([302, 1]);
});

it('goes to no address that is not allowed', async () => {
  const guard = createAddressGuard({ allow: [], allowLoopback: false, ownPorts: () => [] });
  let asked = 0;
  const attempt = await receiving(
    (_, response) => {
      asked += 1;
      response.end();
    },
    (url) => send(url, { guard }),
  );
  expect([attempt.status, asked]).toEqual([0, 0]);
  expect(attempt.answer).not.toBe('');
});

it('says why there is no answer', async () => {
  const late = await receiving(
    () => undefined,
    (url) => send(url, { timeoutMs: 50 }),
  );
  expect(late).toEqual({ status: 0, answer: 'The receiver did not answer in time.', retryAfterMs: 0 });
  const gone = await receiving(
    async () => undefined,
    async (url) => url,
  );
  expect((await send(gone)).answer).toBe('Nobody listens at the address of the receiver.');
});

it('rejects when it is asked to stop, so that the attempt does not count', async () => {
  const stop = new AbortController();
  const ended = receiving(
    () => stop.abort(),
    (url) => send(url, {}, stop.signal),
  );
  await expect(ended).rejects.toThrow();
});
