import type { Redactor } from '../../lib/redact.ts';
import { PlatformError } from '../errors.ts';
import { Failure } from './rollout.ts';

const MAX_LINES = 50;

export interface UnitFailedFacts {
  readonly app: string;
  /** The release that still serves. */
  readonly serving: number | null;
  /** Hides the private values of the environment that was tried. */
  readonly redact: Redactor;
}

/** The error of a change other than a deploy whose new units did not come up; other errors pass unchanged. */
export function unitFailed(error: unknown, facts: UnitFailedFacts): unknown {
  if (!(error instanceof Failure)) return error;
  const { app, serving, redact } = facts;
  const still = serving === null ? '' : ` Nothing has changed: release ${serving} still serves.`;
  const why = redact(error.message);
  return new PlatformError('unit.failed', `The new units of ${app} did not come up (${error.code}): ${why}${still}`, {
    cause: error,
    hint: error.hint === '' ? `See "tancho app log -a ${app}".` : error.hint,
    details: { cause: error.code, lastLines: error.lines.slice(-MAX_LINES).map(redact) },
  });
}
