import { createServer, type IncomingMessage, type RequestListener } from 'node:http';
import { expect, it } from 'vitest';
import { createAddressGuard } from '../../../lib/guarded/address-guard.ts';
import { createHttpHealers } from './http-healers.ts';

async function withHealer(
  listener: RequestListener,
  run: (call: (allowLoopback?: boolean) => Promise<string>, seen: IncomingMessage[]) => Promise<void>,
): Promise<void> {
  const seen: IncomingMessage[] = [];
  const server = createServer((request, response) => {
    seen.push(request);
    listener(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  const url = `http://ann:pass%20word@127.0.0.1:${port}/heal?all=1`;
  try {
    await run((allowLoopback = true) => {
      const guard = createAddressGuard({ allow: [], allowLoopback, ownPorts: () => [] });
      return createHttpHealers({ guard, callMs: 300 }).call({ name: 'disk', url }, 'request-1');
    }, seen);
  } finally {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
}

it('is executed with one request, and says what it answered', async () => {
  await withHealer(
    (_, response) => void response.end('two disks healed\n'),
    async (call, seen) => {
      expect(await call()).toBe('two disks healed');
      expect(seen.map(({ method, url }) => [method, url])).toEqual([['GET', '/heal?all=1']]);
      expect(seen[0]?.headers).toMatchObject({
        authorization: `Basic ${Buffer.from('ann:pass word').toString('base64')}`,
        'x-request-id': 'request-1',
      });
    },
  );
});

it('that refuses, redirects or hangs has failed, and its password is not shown', async () => {
  const answers: RequestListener[] = [
    (_, response) => void response.writeHead(500).end('wrong: pass word'),
    (_, response) => void response.writeHead(302, { location: '/elsewhere' }).end(),
    () => undefined,
  ];
  for (const listener of answers) {
    await withHealer(listener, async (call, seen) => {
      const failure: unknown = await call().catch((error: unknown) => error);
      expect(failure).toMatchObject({ code: 'healer.failed' });
      expect(String(failure)).not.toContain('pass word');
      expect(seen).toHaveLength(1);
    });
  }
});

it('is not called at an address that may not be called', async () => {
  await withHealer(
    (_, response) => void response.end(),
    async (call, seen) => {
      await expect(call(false)).rejects.toMatchObject({ code: 'healer.failed' });
      expect(seen).toEqual([]);
    },
  );
});
