/** Which process types answer requests. Rules only. */
import type { HealthCheck, Release } from '../apps/app.ts';
import { ROUTED_PROCESS } from './unit.ts';

/** Whether units of this process listen on PORT and get requests: `web`, and what the app's file says so of. */
export function isRouted(release: Pick<Release, 'processes'> | null, process: string): boolean {
  return process === ROUTED_PROCESS || release?.processes[process]?.routed === true;
}

/** Those that answer at a name of their own, in order. */
export function namedProcesses({ processes }: Pick<Release, 'processes'>): string[] {
  return Object.keys(processes)
    .filter((process) => process !== ROUTED_PROCESS && processes[process]?.routed === true)
    .sort();
}

/** What a unit of this process has to pass to be ready; null: it accepts connections. */
export function healthCheckOf(
  { processes, healthCheck }: Pick<Release, 'processes' | 'healthCheck'>,
  process: string,
): HealthCheck | null {
  return process === ROUTED_PROCESS ? healthCheck : (processes[process]?.healthCheck ?? null);
}
