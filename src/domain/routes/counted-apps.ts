/** Pure: what a router has counted of apps. */
import { NO_ANSWERS } from '../../lib/answer-counts.ts';
import type { AppTraffic } from './router.ts';

export const NO_TRAFFIC: AppTraffic = { requests: 0, failures: 0, answers: NO_ANSWERS };

/** By app, as it can be sent: those of which something was counted. */
export type CountedApps = readonly (readonly [app: string, traffic: AppTraffic])[];

export function ofEach(
  apps: readonly string[],
  counted: Iterable<CountedApps[number]>,
): ReadonlyMap<string, AppTraffic> {
  const all = new Map(counted);
  return new Map(apps.map((app) => [app, all.get(app) ?? NO_TRAFFIC]));
}
