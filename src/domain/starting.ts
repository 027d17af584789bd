import { PlatformError } from './errors.ts';

/** What everybody is answered until the server has recovered what a crash cut off. */
export const STARTING = new PlatformError('unavailable', 'The server is starting.', {
  hint: 'Try again in a moment.',
  details: { retryAfterSeconds: 1 },
});
