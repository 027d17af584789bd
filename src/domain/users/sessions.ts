/** Sessions: a random token that only its owner has; the platform keeps its SHA-256. */
import { createHash } from 'node:crypto';
import { randomHex } from '../../lib/ids.ts';
import type { Session } from './user.ts';

/** Of every secret that lets somebody in. */
export const TOKEN_DIGITS = 64;
const DAY_MS = 86_400_000;
/** No token of the platform is longer; what is longer is not even hashed. */
const MAX_TOKEN_LENGTH = 256;

export function newSession(email: string, now: Date, days: number): { token: string; session: Session } {
  const token = randomHex(TOKEN_DIGITS);
  const session = {
    tokenHash: hashToken(token),
    email,
    createdAt: now.toISOString(),
    expiresAt: new Date(now.getTime() + days * DAY_MS).toISOString(),
  };
  return { token, session };
}

/** SHA-256, hexadecimal; '' for what cannot be a token. */
export function hashToken(token: string): string {
  if (token === '' || token.length > MAX_TOKEN_LENGTH) return '';
  return createHash('sha256').update(token).digest('hex');
}
