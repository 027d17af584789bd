/**
 * Everything that can go wrong, as one closed list of codes. A code is stable and public (docs/errors.md);
 * what HTTP status it becomes is decided in api/status.ts, never here.
 */
export const ERROR_CODES = [
  'internal',
  'unavailable',
  'timeout',
  'too_many_requests',
  'cancelled',
  'unsupported',
  'input.invalid',
  'input.invalid_json',
  'input.too_large',
  'auth.required',
  'auth.wrong_password',
  'auth.throttled',
  'auth.registration_closed',
  'access.denied',
  'route.not_found',
  'route.method_not_allowed',
  'user.not_found',
  'user.invalid_email',
  'user.invalid_password',
  'user.email_taken',
  'user.last_member',
  'user.owns_apps',
  'user.last_admin',
  'user.password_mismatch',
  'user.invalid_reset_token',
  'key.invalid',
  'key.taken',
  'key.not_found',
  'token.not_found',
  'team.not_found',
  'team.invalid_name',
  'team.name_taken',
  'team.member_exists',
  'team.member_not_found',
  'team.last_member',
  'team.in_use',
  'team.required',
  'team.ambiguous',
  'team.access_exists',
  'team.access_missing',
  'team.owns_app',
  'team.owns_instance',
  'app.not_found',
  'app.invalid_name',
  'app.name_taken',
  'app.busy',
  'app.not_deployed',
  'app.stopped',
  'app.swapped',
  'app.swap_mismatch',
  'cname.invalid',
  'cname.taken',
  'cname.not_found',
  'cname.unproven',
  'certificate.not_found',
  'certificate.invalid',
  'process.required',
  'process.not_found',
  'env.invalid',
  'registry.not_found',
  'registry.invalid',
  'drain.not_found',
  'drain.invalid',
  'webhook.not_found',
  'webhook.invalid',
  'alert.no_recipient',
  'volume.not_found',
  'volume.invalid',
  'volume.name_taken',
  'volume.mounted',
  'volume.not_mounted',
  'volume.one_writer',
  'platform.not_found',
  'platform.unknown',
  'platform.disabled',
  'platform.invalid_name',
  'platform.name_taken',
  'platform.invalid_definition',
  'platform.in_use',
  'plan.not_found',
  'plan.invalid',
  'plan.name_taken',
  'plan.in_use',
  'pool.not_found',
  'pool.invalid_name',
  'pool.name_taken',
  'pool.in_use',
  'service.not_found',
  'service.name_taken',
  'service.has_instances',
  'manifest.invalid',
  'instance.not_found',
  'instance.invalid_name',
  'instance.name_taken',
  'instance.bound',
  'instance.not_ready',
  'binding.exists',
  'binding.not_found',
  'binding.conflict',
  'provider.failed',
  'healer.not_found',
  'healer.failed',
  'quota.exceeded',
  'log.lines_required',
  'run.command_required',
  'run.failed',
  'unit.not_found',
  'unit.failed',
  'unit.invalid_count',
  'unit.too_few',
  'deploy.not_found',
  'event.not_found',
  'deploy.over',
  'deploy.ambiguous',
  'deploy.failed',
  'deploy.invalid_source',
  'release.not_found',
  'disk.low',
  'config.invalid',
] as const;

export type ErrorCode = (typeof ERROR_CODES)[number];

/** Machine-readable facts about an error; must never hold a secret, for it is shown to callers. */
export type ErrorDetails = Readonly<Record<string, string | number | boolean | readonly string[]>>;

export interface ErrorOptions {
  /** What the reader should do next, one sentence. */
  readonly hint?: string;
  readonly details?: ErrorDetails;
  readonly cause?: unknown;
}

/** The only error type that crosses a boundary of the domain. `message` is one sentence fit for a person. */
export class PlatformError extends Error {
  override readonly name = 'PlatformError';
  readonly code: ErrorCode;
  readonly hint: string | undefined;
  readonly details: ErrorDetails;

  constructor(code: ErrorCode, message: string, options: ErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.hint = options.hint;
    this.details = options.details ?? {};
  }
}

/** What may be reached a moment later without anybody changing something. */
export class Unreached extends PlatformError {}

/** The one funnel for thrown values: what is not a PlatformError becomes `internal`, its text kept in `cause` only. */
export function toPlatformError(thrown: unknown): PlatformError {
  if (thrown instanceof PlatformError) return thrown;
  if (isDiskFull(thrown)) {
    return new PlatformError('unavailable', 'The disk of the server is full.', {
      cause: thrown,
      hint: 'Ask the operator to make room, then try again.',
    });
  }
  return new PlatformError('internal', 'Something went wrong inside the platform.', {
    cause: thrown,
    hint: 'The server log has the details under this request id.',
  });
}

const CAUSES = 8;

const FULL_CODES: readonly unknown[] = ['ENOSPC', 'EDQUOT', 'disk_full'];

/** As the system says it, or a Failure, to the thrown or to what caused that: no room, or none for this user. */
export function isDiskFull(thrown: unknown): boolean {
  for (let at = thrown, depth = 0; at instanceof Error && depth < CAUSES; at = at.cause, depth += 1) {
    if ('code' in at && FULL_CODES.includes(at.code)) return true;
  }
  return false;
}

export function isPlatformError(thrown: unknown, code?: ErrorCode): thrown is PlatformError {
  return thrown instanceof PlatformError && (code === undefined || thrown.code === code);
}
