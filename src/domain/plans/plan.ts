/** A plan: what each unit of an app may use. Rules only. */
import type { UnitLimits } from '../apps/app.ts';
import { PlatformError } from '../errors.ts';

export interface Plan extends UnitLimits {
  readonly name: string;
  /** Where the processor is short, a unit gets so much of it relative to the 100 of the built-in plan; 0 is 100. */
  readonly cpuShare: number;
  /** Bytes of files that a unit has written for itself; 0: the platform's setting. */
  readonly diskBytes: number;
  /** New apps have it unless they name another one; one plan at most. */
  readonly isDefault: boolean;
  /** ISO 8601 UTC. */
  readonly createdAt: string;
}

/** The plan that the platform comes with, in no store: its limits are the settings. */
export const BUILT_IN_PLAN = 'default';

export function builtInPlan(limits: UnitLimits, isDefault: boolean): Plan {
  const { memoryBytes, cpuMillis } = limits;
  const createdAt = '1970-01-01T00:00:00.000Z';
  return { name: BUILT_IN_PLAN, memoryBytes, cpuMillis, cpuShare: CPU_SHARE, diskBytes: 0, isDefault, createdAt };
}

const CPU_SHARE = 100;
const PLAN_NAME = /^[a-z](?:[a-z0-9._-]{0,61}[a-z0-9])?$/i;
export const MIN_MEMORY_BYTES = 4 * 1024 * 1024;
export const MIN_CPU_MILLIS = 10;
export const MIN_DISK_BYTES = 1024 * 1024;
export const MAX_DISK_BYTES = 1024 ** 5;

export function checkPlanName(name: unknown): string {
  if (typeof name === 'string' && PLAN_NAME.test(name)) return name;
  throw new PlatformError('plan.invalid', 'invalid value for name', {
    hint: 'Use up to 63 letters, digits, dots, dashes and underscores, starting with a letter.',
  });
}

function shareOf(limits: UnitLimits | null): number {
  return limits?.cpuShare || CPU_SHARE;
}

export function isSameLimits(a: UnitLimits | null, b: UnitLimits | null): boolean {
  const isSameDisk = (a?.diskBytes ?? 0) === (b?.diskBytes ?? 0);
  return a?.memoryBytes === b?.memoryBytes && a?.cpuMillis === b?.cpuMillis && shareOf(a) === shareOf(b) && isSameDisk;
}
