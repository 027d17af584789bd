/** Where all share the ports of the machine: which unit listens on how many of those that units get; units that hold too many are ended. */
import { appendFile } from 'node:fs/promises';
import { listenersOf } from '../../../lib/listeners.ts';
import type { Sandbox } from '../../../sandbox/sandbox.ts';
import type { LiveUnit } from './live-unit.ts';
import type { PortRange } from './ports.ts';

/** No app needs more; who has more, and takes the last one, is ended. */
const MOST_PORTS = 100;

interface PortHolder {
  readonly unit: LiveUnit;
  /** In the range. */
  readonly ports: number;
}

/** Those that listen on ports of the range, who holds most first. */
export async function portHolders(
  units: readonly LiveUnit[],
  range: PortRange,
  sandbox: Pick<Sandbox, 'pids'>,
): Promise<PortHolder[]> {
  const found: PortHolder[] = [];
  for (const unit of units) {
    if (unit.isDead) continue;
    const own = (await listenersOf(await sandbox.pids(unit.tree)))?.own ?? [];
    const ports = new Set(own.map(({ port }) => port).filter((port) => port >= range.from && port <= range.to)).size;
    if (ports > 0) found.push({ unit, ports });
  }
  return found.sort((a, b) => b.ports - a.ports);
}

/** Ends those that hold too many, which their output says. Whether there was one. */
export async function endGreedy(holders: readonly PortHolder[], sandbox: Pick<Sandbox, 'kill'>): Promise<boolean> {
  const greedy = holders.filter(({ ports }) => ports > MOST_PORTS);
  for (const { unit, ports } of greedy) {
    const why = `The platform has ended this process: it listened on ${ports} of the ports that all apps of this machine share, and there was none left for another one.`;
    await appendFile(unit.paths.output, `${why}\n`).catch(() => undefined);
    await sandbox.kill(unit.tree, 'SIGKILL');
  }
  return greedy.length > 0;
}
