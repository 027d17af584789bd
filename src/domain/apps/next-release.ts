import { limitsFor } from '../plans/demand-plan.ts';
import { isSameLimits } from '../plans/plan.ts';
import type { PlanReader } from '../plans/plan-store.ts';
import { isSamePlacement, type Placement, placementFor } from '../pools/placement.ts';
import type { PoolReader } from '../pools/pool-store.ts';
import type { App, EnvVar, Release, UnitLimits } from './app.ts';
import type { AppSettings } from './app-settings.ts';

/** A release that is not stored yet: the rollout that brings it gives it its number. */
export type NewRelease = Omit<Release, 'number'>;

/** What an app's own record gives its next release. */
export interface Surroundings {
  readonly env: readonly EnvVar[];
  /** Those of its plan. */
  readonly limits: UnitLimits | null;
  /** That of its pool. */
  readonly placement: Placement | null;
}

/** What its plan and its pool give it; the environment is the caller's concern. */
export async function planAndPool(
  store: Pick<PlanReader, 'plan'> & Pick<PoolReader, 'pool'>,
  app: Pick<App, 'plan' | 'pool'>,
): Promise<Omit<Surroundings, 'env'>> {
  return { limits: await limitsFor(store, app), placement: await placementFor(store, app) };
}

/** The same code and processes in other surroundings. */
export function withSurroundings(
  serving: Release,
  change: Surroundings & { readonly reason: 'env' | 'plan' | 'pool'; readonly by: string; readonly at: Date },
): NewRelease {
  const { number: _number, ...same } = serving;
  const { env, limits, placement, reason, by, at } = change;
  return { ...same, env, limits, placement, reason, by, createdAt: at.toISOString() };
}

/** The same code and environment with another number of units of one process. */
export function withCount(
  serving: Release,
  change: { readonly process: string; readonly count: number; readonly by: string; readonly at: Date },
): NewRelease {
  const { number: _number, ...same } = serving;
  const { process, count, by, at } = change;
  const processes = { ...serving.processes, [process]: { command: '', ...serving.processes[process], count } };
  const settings = withSetCount(serving.settings, process, count);
  return { ...same, processes, settings, reason: 'scale', by, createdAt: at.toISOString() };
}

export function withSetCount(settings: AppSettings, process: string, count: number): AppSettings {
  return { ...settings, counts: { ...settings.counts, [process]: count } };
}

export function isSameAround(a: Surroundings, b: Surroundings): boolean {
  return isSameEnv(a.env, b.env) && isSameLimits(a.limits, b.limits) && isSamePlacement(a.placement, b.placement);
}

/** Both sorted by name, as the store gives them. */
function isSameEnv(a: readonly EnvVar[], b: readonly EnvVar[]): boolean {
  const facts = (env: readonly EnvVar[]): string =>
    JSON.stringify(env.map((variable) => [variable.name, variable.value, variable.public, variable.managedBy]));
  return facts(a) === facts(b);
}
