import { PlatformError } from '../../../domain/errors.ts';

/** What was sent cannot be deployed. `hint`: what to do about it. */
export function invalidSource(message: string, hint: string): PlatformError {
  return new PlatformError('deploy.invalid_source', message, { hint });
}
