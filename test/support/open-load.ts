/**
 * Requests to apps at a fixed rate, whatever becomes of them: each has a time at which it is to leave, and its latency is counted
 * from then, so a server that stands still cannot hide it by being asked less. Remembers every failure.
 */
import http from 'node:http';
import { until } from './until.ts';
import type { World } from './world.ts';

export interface OpenLoad {
  /** What each app has answered so far. */
  texts(app: string): ReadonlySet<string>;
  stop(): Promise<OpenLoadResult>;
}

export interface OpenLoadResult {
  readonly requests: number;
  /** Requests that should have left by then. Many more than `requests`: this machine was too slow to send them. */
  readonly wanted: number;
  readonly failures: readonly string[];
  readonly seconds: number;
  /** Milliseconds from when the request should have left. */
  readonly latencyMs: { readonly median: number; readonly p99: number; readonly longest: number };
  /** Of each that was answered, the shortest first. */
  readonly latenciesMs: readonly number[];
}

const TICK_MS = 5;
/** As many may be unanswered before those that are due are left out. */
const MOST_OPEN = 2_000;

/** `connections` are kept alive per app; the apps take turns. */
export function startOpenLoad(
  world: Pick<World, 'edge'>,
  apps: readonly string[],
  perSecond: number,
  connections: number,
): OpenLoad {
  const [host = '', port = ''] = world.edge.split(':');
  const agents = new Map(apps.map((app) => [app, new http.Agent({ keepAlive: true, maxSockets: connections })]));
  const texts = new Map(apps.map((app) => [app, new Set<string>()]));
  const failures: string[] = [];
  const latencies: number[] = [];
  const begun = performance.now();
  let due = 0;
  let requests = 0;
  let open = 0;

  function send(app: string, intended: number): void {
    requests++;
    open++;
    let isOver = false;
    const over = (failure: string | null): void => {
      if (isOver) return;
      isOver = true;
      open--;
      if (failure !== null) failures.push(`${app}: ${failure}`);
      else latencies.push(performance.now() - intended);
    };
    const headers = { host: `${app}.localhost` };
    const agent = agents.get(app);
    const sent = http.get({ host, port: Number(port), path: '/', agent, headers, timeout: 60_000 }, (response) => {
      let text = '';
      response.on('data', (data: Buffer) => (text += data.toString()));
      response.on('end', () => {
        texts.get(app)?.add(text);
        over(response.statusCode === 200 ? null : `${response.statusCode} ${text.slice(0, 200)}`);
      });
      response.on('error', (error) => over(`while reading: ${error.message}`));
    });
    sent.on('timeout', () => sent.destroy(new Error('timed out')));
    sent.on('error', (error) =>
      over(`${error.message}${sent.reusedSocket ? ' (on a connection that was there)' : ''}`),
    );
  }

  const timer = setInterval(() => {
    const now = performance.now() - begun;
    for (; (due * 1_000) / perSecond <= now; due++) {
      if (open < MOST_OPEN) send(apps[due % apps.length] ?? '', begun + (due * 1_000) / perSecond);
    }
  }, TICK_MS);

  return {
    texts: (app) => texts.get(app) ?? new Set(),
    async stop() {
      clearInterval(timer);
      const seconds = Math.round((performance.now() - begun) / 1_000);
      await until(() => open === 0, { timeoutMs: 90_000, what: 'the last answers' });
      for (const agent of agents.values()) agent.destroy();
      latencies.sort((a, b) => a - b);
      const at = (share: number): number => Math.round(latencies[Math.floor((latencies.length - 1) * share)] ?? 0);
      return {
        requests,
        wanted: due,
        failures,
        seconds,
        latencyMs: { median: at(0.5), p99: at(0.99), longest: at(1) },
        latenciesMs: latencies,
      };
    },
  };
}
