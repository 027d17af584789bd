import type { Redactor } from '../../lib/redact.ts';
import { PlatformError } from '../errors.ts';
import type { App } from './app.ts';
import { Failure } from './rollout.ts';

const MAX_LINES = 50;

export interface UnitFailedFacts {
  /** As it was before the change, and is again. */
  readonly app: Pick<App, 'name' | 'release' | 'desired'>;
  /** Hides the private values of the environment that was tried. */
  readonly redact: Redactor;
}

/** The error of a change other than a deploy whose new units did not come up; other errors pass unchanged. */
export function unitFailed(error: unknown, facts: UnitFailedFacts): unknown {
  if (!(error instanceof Failure)) return error;
  const { app, redact } = facts;
  const still = app.desired === 'stopped' ? 'the app stays stopped' : `release ${app.release} still serves`;
  const why = redact(error.message);
  return new PlatformError(
    'unit.failed',
    `The new units of ${app.name} did not come up (${error.code}): ${why} Nothing has changed: ${still}.`,
    {
      cause: error,
      hint: error.hint === '' ? `See "tancho app log -a ${app.name}".` : error.hint,
      details: { cause: error.code, lastLines: error.lines.slice(-MAX_LINES).map(redact) },
    },
  );
}
