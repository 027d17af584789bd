import type { App, UnitLimits } from '../apps/app.ts';
import { PlatformError } from '../errors.ts';
import { BUILT_IN_PLAN } from './plan.ts';
import type { PlanReader } from './plan-store.ts';

/** The name of a plan that is there. Throws `plan.not_found`. */
export async function demandPlan(store: Pick<PlanReader, 'plan'>, name: unknown): Promise<string> {
  if (name === BUILT_IN_PLAN) return name;
  const plan = typeof name === 'string' ? await store.plan(name) : null;
  if (plan !== null) return plan.name;
  throw new PlatformError('plan.not_found', 'plan not found', { hint: 'List the plans with "tancho plan list".' });
}

/** The plan of a new app that names none. */
export async function defaultPlan(store: Pick<PlanReader, 'plans'>): Promise<string> {
  return (await store.plans()).find((plan) => plan.isDefault)?.name ?? BUILT_IN_PLAN;
}

/** The limits that the next release of an app gets; null: those of the platform's settings. */
export async function limitsFor(store: Pick<PlanReader, 'plan'>, app: Pick<App, 'plan'>): Promise<UnitLimits | null> {
  const plan = app.plan === BUILT_IN_PLAN ? null : await store.plan(app.plan);
  if (plan === null) return null;
  const { memoryBytes, cpuMillis, cpuShare, diskBytes } = plan;
  return { memoryBytes, cpuMillis, cpuShare, ...(diskBytes > 0 && { diskBytes }) };
}
