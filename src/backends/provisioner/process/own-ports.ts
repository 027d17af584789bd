/** Pure: which port a unit with a network of its own is to listen on, and which one it is taken to serve on. */
import type { Listeners } from '../../../lib/listeners.ts';

/** What programs choose most often by themselves. */
const USUAL_PORT = 8080;
/** From here on the kernel gives ports to those who ask for any; whoever serves has chosen one. */
const FIRST_EPHEMERAL_PORT = 32_768;
/** Ports that runtimes open for themselves: the debuggers of Node and Java, Erlang's port mapper. */
export const SIDE_PORTS: ReadonlySet<number> = new Set([9229, 5005, 4369]);

/** The app's own variable PORT, else the first port that its image exposes. */
export function assignedPort(env: Readonly<Record<string, string>>, exposed: readonly number[]): number {
  const own = /^\d{1,5}$/.test(env['PORT'] ?? '') ? Number(env['PORT']) : 0;
  if (own >= 1 && own <= 65_535) return own;
  return exposed[0] ?? USUAL_PORT;
}

/** Of the ports that it listens on, one that its image exposes, else the only one. Null: there is none, or it is not clear which. */
export function otherPort({ own }: Pick<Listeners, 'own'>, exposed: readonly number[]): number | null {
  const reached = own.filter(({ reach, family }) => reach === 'any' || (reach === 'loopback' && family === 4));
  const ports = new Set(reached.map(({ port }) => port).filter((port) => !SIDE_PORTS.has(port)));
  const named = exposed.find((port) => ports.has(port));
  if (named !== undefined) return named;
  const chosen = [...ports].filter((port) => port < FIRST_EPHEMERAL_PORT);
  return chosen.length === 1 ? (chosen[0] ?? null) : null;
}
