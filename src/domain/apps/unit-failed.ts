import { PlatformError } from '../errors.ts';
import { Failure } from './rollout.ts';

const MAX_LINES = 50;

/** The error of a change other than a deploy whose new units did not come up; other errors pass unchanged. */
export function unitFailed(error: unknown, app: string, serving: number | null): unknown {
  if (!(error instanceof Failure)) return error;
  const still = serving === null ? '' : ` Nothing has changed: release ${serving} still serves.`;
  return new PlatformError(
    'unit.failed',
    `The new units of ${app} did not come up (${error.code}): ${error.message}${still}`,
    {
      cause: error,
      hint: error.hint === '' ? `See "tancho app log -a ${app}".` : error.hint,
      details: { cause: error.code, lastLines: error.lines.slice(-MAX_LINES) },
    },
  );
}
