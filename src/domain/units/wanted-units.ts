/** Which units an app is to have: from its release and what its users have stopped, to what is missing and what is too many. */
import type { App, Release } from '../apps/app.ts';
import type { Unit } from './unit.ts';

export type Power = Pick<App, 'desired' | 'stoppedProcesses'>;

/** What is left of an app when these of its processes do not run. */
export function powerWithout(release: Pick<Release, 'processes'>, stopped: readonly string[]): Power {
  const isAnyLeft = Object.keys(release.processes).some((process) => !stopped.includes(process));
  return isAnyLeft
    ? { desired: 'running', stoppedProcesses: [...new Set(stopped)].sort() }
    : { desired: 'stopped', stoppedProcesses: [] };
}

/** Process name -> number of units that are to run. */
export function wantedCounts(release: Pick<Release, 'processes'>, power: Power): Map<string, number> {
  const runs = (process: string): boolean => power.desired === 'running' && !power.stoppedProcesses.includes(process);
  return new Map(Object.entries(release.processes).map(([process, { count }]) => [process, runs(process) ? count : 0]));
}

/** Those of the units to be kept when no more than these counts are wanted: rather those that serve, then the oldest. */
export function bestUnits(serving: readonly Unit[], counts: ReadonlyMap<string, number>): Unit[] {
  const byMerit = [...serving].sort((a, b) => merit(a) - merit(b) || age(a, b));
  const left = new Map(counts);
  return byMerit.filter((unit) => {
    const places = left.get(unit.process) ?? 0;
    left.set(unit.process, places - 1);
    return places > 0;
  });
}

function merit(unit: Unit): number {
  return unit.state === 'started' ? 0 : 1;
}

function age(a: Unit, b: Unit): number {
  return a.createdAt.localeCompare(b.createdAt) || a.index - b.index;
}

/** What has to be started beside the units that stay. */
export function missingCounts(
  counts: ReadonlyMap<string, number>,
  staying: readonly Pick<Unit, 'process'>[],
): Map<string, number> {
  const missing = new Map(counts);
  for (const { process } of staying) missing.set(process, (missing.get(process) ?? 0) - 1);
  return missing;
}
