import { PlatformError } from '../errors.ts';
import { privateValues } from '../units/private-values.ts';
import { Failure } from '../failure.ts';
import type { RolloutPlan } from './rollout-plan.ts';
import type { Rollouts } from './rollouts.ts';

const MAX_LINES = 50;

/**
 * The rollout of a change other than a deploy: nobody can cancel it. Throws PlatformError `unit.failed` when the new units do not come
 * up, and what Rollouts.roll() throws beside Failure.
 */
export async function replaceUnits(rollouts: Rollouts, plan: Omit<RolloutPlan, 'signal'>): Promise<void> {
  const { signal } = new AbortController();
  try {
    await rollouts.roll({ ...plan, signal });
  } catch (error) {
    throw error instanceof Failure ? unitFailed(error, plan) : error;
  }
}

function unitFailed(failure: Failure, { app, release }: Pick<RolloutPlan, 'app' | 'release'>): PlatformError {
  const { code, message, hint, lines } = failure;
  const redact = privateValues(release.env);
  const still = app.desired === 'stopped' ? 'the app stays stopped' : `release ${app.release} still serves`;
  const what = `The new units of ${app.name} did not come up (${code}): ${redact(message)}`;
  return new PlatformError('unit.failed', `${what} Nothing has changed: ${still}.`, {
    cause: failure,
    hint: hint === '' ? `See "tancho app log -a ${app.name}".` : hint,
    details: { cause: code, lastLines: lines.slice(-MAX_LINES).map(redact) },
  });
}
