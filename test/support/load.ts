/** A steady stream of requests to an app through the edge, over keep-alive connections, that remembers every failure. */
import http from 'node:http';
import { SLOW } from './slow.ts';
import { until } from './until.ts';
import type { World } from './world.ts';

export interface Load {
  /** Resolves when so many requests have been answered in all. */
  reached(count: number): Promise<void>;
  stop(): Promise<{
    readonly requests: number;
    readonly failures: readonly string[];
    readonly texts: ReadonlySet<string>;
  }>;
}

/** Of each connection between two requests. Generator, edge and app would take a whole processor from what is tested. */
const PAUSE_MS = SLOW ? 2 : 10;

export function createLoad(world: Pick<World, 'edge'>, app: string, connections: number): Load {
  const [host = '', port = ''] = world.edge.split(':');
  const agent = new http.Agent({ keepAlive: true, maxSockets: connections });
  const failures: string[] = [];
  const texts = new Set<string>();
  let requests = 0;
  let running = true;

  const fail = (sent: http.ClientRequest, sinceMs: number, what: string): void => {
    const { localPort = 0 } = sent.socket ?? {};
    const connection = `${sent.reusedSocket ? 'a kept' : 'a new'} connection from port ${localPort} to ${world.edge}`;
    const tookMs = Math.round(performance.now() - sinceMs);
    failures.push(`${new Date().toISOString()} ${app} over ${connection}, after ${tookMs} ms: ${what}`);
  };

  const once = (): Promise<void> =>
    new Promise((resolve) => {
      const sinceMs = performance.now();
      const sent = http.get(
        { host, port: Number(port), path: '/', agent, headers: { host: `${app}.localhost` }, timeout: 60_000 },
        (response) => {
          let text = '';
          response.on('data', (data: Buffer) => (text += data.toString()));
          response.on('end', () => {
            requests++;
            texts.add(text);
            if (response.statusCode !== 200) fail(sent, sinceMs, `${response.statusCode} ${text.slice(0, 200)}`);
            resolve();
          });
          response.on('error', (error) => {
            fail(sent, sinceMs, `while reading: ${error.message}`);
            resolve();
          });
        },
      );
      sent.on('timeout', () => sent.destroy(new Error('timed out')));
      sent.on('error', (error) => {
        fail(sent, sinceMs, error.message);
        resolve();
      });
    });

  const workers = Array.from({ length: connections }, async () => {
    while (running) {
      await once();
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
    }
  });

  return {
    reached: (count) =>
      until(() => requests >= count, {
        what: `${count} answers`,
        detail: () => failures.join('\n'),
      }),
    async stop() {
      running = false;
      await Promise.all(workers);
      agent.destroy();
      return { requests, failures, texts };
    },
  };
}
