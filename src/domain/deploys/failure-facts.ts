/** Why a deploy failed, as it is recorded and reported: free of private values, with a cause of the closed list. */
import type { Redactor } from '../../lib/redact.ts';
import { type ErrorCode, isDiskFull, isPlatformError, toPlatformError } from '../errors.ts';
import { Failure, type FailureCause } from '../failure.ts';

export interface RecordedFailure {
  readonly cause: FailureCause;
  readonly message: string;
  readonly hint: string;
  /** Last words of what failed, oldest first. */
  readonly lines: readonly string[];
}

const CAUSES: Readonly<Partial<Record<ErrorCode, FailureCause>>> = {
  'access.denied': 'cancelled',
  'auth.required': 'cancelled',
  'app.busy': 'interrupted',
  'app.not_found': 'interrupted',
  'deploy.invalid_source': 'invalid_source',
  'disk.low': 'disk_low',
  'quota.exceeded': 'quota_exceeded',
  'binding.conflict': 'invalid_config',
  'input.invalid': 'invalid_config',
  'volume.invalid': 'invalid_config',
  'volume.not_found': 'invalid_config',
  'volume.one_writer': 'invalid_config',
  unsupported: 'invalid_config',
};

/** What fails after `signal` has fired has failed because of it. */
export function failureFacts(thrown: unknown, signal: AbortSignal, redact: Redactor): RecordedFailure {
  if (signal.aborted) return { cause: 'cancelled', message: whyCancelled(signal.reason), hint: '', lines: [] };
  if (thrown instanceof Failure) {
    const { code, message, hint, lines } = thrown;
    return { cause: code, message: redact(message), hint: redact(hint), lines: lines.map(redact) };
  }
  const error = toPlatformError(thrown);
  const cause = isDiskFull(thrown) ? 'disk_full' : (CAUSES[error.code] ?? 'internal');
  return { cause, message: error.message, hint: error.hint ?? '', lines: [] };
}

function whyCancelled(reason: unknown): string {
  if (reason instanceof Failure || isPlatformError(reason)) return reason.message;
  return 'Whoever asked for it has left.';
}
