/** How the platform itself is: what it is made with, what it takes, and what waits. */
import type { HealthReport } from '../../client/shapes.ts';
import { byteSize } from '../byte-size.ts';
import type { Cli } from '../cli.ts';
import { facts, table, when } from '../output.ts';

export async function showHealth(cli: Cli): Promise<void> {
  const client = await cli.client();
  const [{ version }, report] = await cli.during('Asking', () => Promise.all([client.info(), client.health()]));
  cli.show({ version, ...report }, () => describeHealth(version, report));
}

export function describeHealth(version: string, report: HealthReport): string {
  const { programs, processes, machine, disk, deploys, build_slots: slots } = report;
  const free = byteSize(machine.memory_available_bytes);
  const about = facts([
    ['Tancho', version],
    ...programs.map((one) => [one.name, one.version === '' ? 'does not say' : one.version] as const),
    ['Memory', `${free} of ${byteSize(machine.memory_total_bytes)} are free`],
    ['Load', `${machine.load.map((each) => each.toFixed(2)).join(', ')} on ${machine.processors} processors`],
    [
      'Disk',
      disk.total_bytes < 0 ? 'not known' : `${byteSize(disk.free_bytes)} of ${byteSize(disk.total_bytes)} are free`,
    ],
    [
      'Deploys',
      deploys.length === 0 ? 'none waits' : deploys.map(({ state, count }) => `${count} ${state}`).join(', '),
    ],
    ['Builds', `${slots} at once at most`],
  ]);
  const rows = processes.map((one) => [
    one.part,
    String(one.pid),
    byteSize(one.memory_bytes),
    `${(one.cpu_ms / 1_000).toFixed(1)} s`,
    when(one.started_at),
  ]);
  return `${about}\n\n${table(['PROCESS', 'PID', 'MEMORY', 'PROCESSOR', 'SINCE'], rows)}`;
}
