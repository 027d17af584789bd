import { PlatformError } from '../errors.ts';

const EMAIL = /^[^@\s\p{C}/]+@(?:[-a-z0-9]+\.)+[a-z]{2,}$/u;
const MAX_LENGTH = 254;

/** Lower-cases and trims; the result is the identity of a user. Throws `user.invalid_email` (specification 4.7). */
export function checkEmail(email: unknown): string {
  const normal = normalEmail(email);
  if (!EMAIL.test(normal)) {
    throw new PlatformError('user.invalid_email', 'invalid email', {
      hint: 'Use an address such as ann@example.com.',
    });
  }
  return normal;
}

/**
 * For look-ups: never throws; what is no string, or too long, becomes '', which no user has. Before anybody has logged in it is kept
 * (throttle.ts), and what is trimmed would keep alive the text that it was cut from.
 */
export function normalEmail(email: unknown): string {
  return typeof email === 'string' && email.length <= MAX_LENGTH ? email.trim().toLowerCase() : '';
}
