/** Runs the whole contract against a provider, whoever wrote it, and removes what it has made. */
import { ACCESS_CHECKS } from './access.ts';
import type { CallerOptions } from './caller.ts';
import { ContractViolation } from './expect.ts';
import { LIFE_CHECKS } from './life.ts';
import { ODDITY_CHECKS } from './oddities.ts';
import { type Check, type CheckResult, CheckRun } from './run.ts';

export interface CheckReport {
  readonly url: string;
  readonly checks: readonly CheckResult[];
  /** Everything that is required holds. */
  readonly holds: boolean;
}

const CLEANING: Check = {
  name: 'everything the check has made is gone',
  required: true,
  needs: ['it answers'],
  async work(run) {
    for (const name of [...run.made]) await run.remove(name);
    const left = [...run.made, ...(await run.remaining())];
    if (left.length > 0) throw new ContractViolation(`remove by hand: ${left.join(', ')}`);
  },
};

/** `progress` gets every result as it is found. */
export async function checkProvider(
  options: CallerOptions,
  progress: (result: CheckResult) => void = () => {},
): Promise<CheckReport> {
  const run = new CheckRun(options, progress);
  for (const check of [...ACCESS_CHECKS, ...LIFE_CHECKS, ...ODDITY_CHECKS, CLEANING]) await run.perform(check);
  const holds = run.results.every(({ required, result }) => !required || result !== 'fails');
  return { url: options.url, checks: run.results, holds };
}
