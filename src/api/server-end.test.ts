/** What came while the server ends must not keep it: websockets, which Node waits for and never closes. */
import { connect } from 'node:net';
import { afterEach, expect, it } from 'vitest';
import { memoryUseCases, startMemoryApi } from '../../test/support/memory-api.ts';
import type { EdgeCarrier } from '../domain/edges/edge-line.ts';

const FOLLOW = '/edges/follow?name=oslo&instance=0123456789abcdef&program=1';
const HEAD = `GET ${FOLLOW} HTTP/1.1\r\nHost: a\r\nConnection: upgrade\r\nUpgrade: websocket\r\n`;
const KEY = 'Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: MDEyMzQ1Njc4OWFiY2RlZg==\r\n\r\n';

let leave: () => void = () => {};
afterEach(() => leave());

/** An API to which edges come that are admitted once `admitted` resolves, and that never leave. */
async function start(admitted: Promise<void>) {
  const { useCases } = memoryUseCases(() => new Date());
  const asked = Promise.withResolvers<void>();
  const edges = {
    ...useCases.edges,
    async admit() {
      asked.resolve();
      await admitted;
      return async ({ ended }: EdgeCarrier): Promise<void> => void (await ended);
    },
  };
  const { baseUrl, server } = await startMemoryApi({ useCases: { ...useCases, edges } });
  const edge = connect(server.address.port, server.address.host);
  leave = () => edge.destroy();
  let heard = '';
  edge
    .on('error', () => {})
    .on('data', (bytes) => {
      heard += bytes.toString('latin1');
      if (heard.includes('is stopping')) edge.end();
    });
  return { baseUrl, server, edge, asked: asked.promise, heard: () => heard };
}

it('an edge that is being admitted meanwhile is sent away', async () => {
  const admitting = Promise.withResolvers<void>();
  const { server, edge, asked, heard } = await start(admitting.promise);
  edge.write(HEAD + KEY);
  await asked;
  const closed = server.close();
  admitting.resolve();
  await closed;
  expect(heard()).toContain('the platform is stopping');
});

it('an edge that asks on a connection from before is sent away', async () => {
  const { baseUrl, server, edge, heard } = await start(Promise.resolve());
  edge.write(HEAD);
  // Accepted after the other one.
  await fetch(`${baseUrl}/healthcheck`);
  const closed = server.close();
  edge.write(KEY);
  await closed;
  expect(heard()).toContain('the platform is stopping');
});
