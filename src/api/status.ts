/**
 * Error code -> HTTP status, in one place; a code without one does not compile. 401 makes existing clients ask for a password
 * and try again, so it is only for a missing, wrong or expired token and a wrong password at login; every refusal is 403.
 */
import type { ErrorCode } from '../domain/errors.ts';

export const STATUS: Readonly<Record<ErrorCode, number>> = {
  internal: 500,
  unavailable: 503,
  timeout: 504,
  cancelled: 409,
  unsupported: 501,
  'input.invalid': 400,
  // Specification 4.7 and 7: invalid JSON body.
  'input.invalid_json': 400,
  'input.too_large': 413,
  'auth.required': 401,
  'auth.wrong_password': 401,
  'auth.throttled': 429,
  'auth.registration_closed': 403,
  'access.denied': 403,
  'route.not_found': 404,
  'route.method_not_allowed': 405,
  // Specification 4.7: also at login, although it tells who has an account.
  'user.not_found': 404,
  'user.invalid_email': 400,
  // Specification 4.7: length outside 6..50 at creation, empty or null at login.
  'user.invalid_password': 400,
  // Specification 4.7 and 7.
  'user.email_taken': 409,
  'user.last_member': 403,
  'user.owns_apps': 403,
  'user.last_admin': 403,
  // Specification 4.7 and 7: the old password does not match.
  'user.password_mismatch': 403,
  'user.invalid_reset_token': 400,
  'key.invalid': 400,
  'key.taken': 409,
  'key.not_found': 404,
  'token.not_found': 404,
  'team.not_found': 404,
  'team.invalid_name': 400,
  'team.name_taken': 409,
  'team.member_exists': 409,
  'team.member_not_found': 404,
  'team.last_member': 403,
  'team.in_use': 403,
  'team.required': 400,
  'team.ambiguous': 400,
  'team.access_exists': 409,
  'team.access_missing': 404,
  'team.owns_app': 403,
  'team.owns_instance': 403,
  // Specification 4.1 and 7.
  'app.not_found': 404,
  'app.invalid_name': 400,
  'app.name_taken': 409,
  'app.busy': 409,
  'app.not_deployed': 409,
  'app.stopped': 409,
  'app.swapped': 409,
  // Existing clients ask for confirmation at 412 and repeat the request with force=true.
  'app.swap_mismatch': 412,
  'cname.invalid': 400,
  'cname.taken': 409,
  'cname.not_found': 404,
  'cname.unproven': 403,
  'certificate.not_found': 404,
  'certificate.invalid': 400,
  'process.required': 400,
  'process.not_found': 400,
  'env.invalid': 400,
  'registry.not_found': 404,
  'registry.invalid': 400,
  'drain.not_found': 404,
  'drain.invalid': 400,
  'volume.not_found': 404,
  'volume.invalid': 400,
  'volume.name_taken': 409,
  'volume.mounted': 409,
  'volume.not_mounted': 409,
  'volume.one_writer': 409,
  // Here the platform is a field of the request, below it is the path.
  'platform.not_found': 400,
  'platform.unknown': 404,
  'platform.disabled': 409,
  'platform.invalid_name': 400,
  'platform.name_taken': 409,
  'platform.invalid_definition': 400,
  'platform.in_use': 409,
  'plan.not_found': 404,
  'plan.invalid': 400,
  'plan.name_taken': 409,
  'plan.in_use': 409,
  'pool.not_found': 404,
  'pool.invalid_name': 400,
  'pool.name_taken': 409,
  'pool.in_use': 409,
  // Specification 4.2, 4.3 and 7.
  'service.not_found': 404,
  // Specification 4.2 and 7: a name that is taken and an invalid manifest are 500.
  'service.name_taken': 500,
  // Specification 4.2 and 7: a service with instances cannot be removed.
  'service.has_instances': 403,
  'manifest.invalid': 500,
  // Specification 4.3.
  'instance.not_found': 404,
  'instance.invalid_name': 400,
  'instance.name_taken': 409,
  'instance.bound': 409,
  // What existing clients know for an instance that cannot be bound yet, and an app that is not bound.
  'instance.not_ready': 412,
  'binding.exists': 409,
  'binding.not_found': 412,
  'binding.conflict': 409,
  // Existing servers answer so when the provider of a service fails.
  'provider.failed': 500,
  'healer.not_found': 404,
  'healer.failed': 502,
  'quota.exceeded': 403,
  // Specification 8: lines is required.
  'log.lines_required': 400,
  'run.command_required': 400,
  'run.failed': 422,
  'unit.not_found': 404,
  // The user's own code did not start or build: not a failure of the platform, hence no 5xx.
  'unit.failed': 422,
  'unit.invalid_count': 400,
  'unit.too_few': 409,
  // Specification 4.10.
  'deploy.not_found': 404,
  'event.not_found': 404,
  'deploy.over': 409,
  'deploy.ambiguous': 409,
  'deploy.failed': 422,
  'deploy.invalid_source': 400,
  'disk.low': 507,
  'release.not_found': 404,
  'config.invalid': 500,
};

/** What any operation may end with, beside its own codes. */
export const COMMON_ERRORS: readonly ErrorCode[] = [
  'input.invalid',
  'input.too_large',
  'internal',
  'unavailable',
  'timeout',
];
