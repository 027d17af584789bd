/** What a balancer knows of the edges before which it stands: it asks each for its health, leaves out who fails twice, and takes back who answers. */
import { setTimeout as delay } from 'node:timers/promises';
import { request } from '../support/world.ts';

/** As docs/edges.md has it. */
const EVERY_MS = 2_000;
const FAILURES = 2;

interface HealthWatch {
  /** Numbers of those that are left out. */
  readonly away: ReadonlySet<number>;
  /** How often each was taken back. */
  readonly returns: readonly number[];
  stop(): Promise<void>;
}

/** `edges`: `host:port` of each. */
export function watchHealth(edges: readonly string[]): HealthWatch {
  const stopping = new AbortController();
  const away = new Set<number>();
  const returns = edges.map(() => 0);
  const isHealthy = async (edge: string): Promise<boolean> => {
    const answer = request(`http://${edge}`, 'GET', '/healthcheck').then(({ status }) => status === 200);
    return Promise.race([answer.catch(() => false), delay(EVERY_MS, false, { ref: false })]);
  };
  const watch = async (edge: string, number: number): Promise<void> => {
    for (let failures = 0; !stopping.signal.aborted;) {
      failures = (await isHealthy(edge)) ? 0 : failures + 1;
      if (failures >= FAILURES) away.add(number);
      else if (failures === 0 && away.delete(number)) returns[number] = (returns[number] ?? 0) + 1;
      await delay(EVERY_MS, undefined, { signal: stopping.signal }).catch(() => undefined);
    }
  };
  const watches = edges.map(watch);
  return {
    away,
    returns,
    async stop() {
      stopping.abort();
      await Promise.all(watches);
    },
  };
}
