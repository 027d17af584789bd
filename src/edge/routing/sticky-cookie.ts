import { createHash } from 'node:crypto';
import type { Field } from '../http/fields.ts';

const NAME = 'tancho_unit';
const TOKEN_LENGTH = 22;
const PATTERN = new RegExp(`(?:^|;)[ \\t]*${NAME}=([A-Za-z0-9_-]{${TOKEN_LENGTH}})[ \\t]*(?:;|$)`);

/** What stands for a unit in cookies: it reveals nothing of it, and is the same in every worker and after a restart. */
export function stickyToken(unit: string): string {
  return createHash('sha256').update(`sticky ${unit}`).digest('base64url').slice(0, TOKEN_LENGTH);
}

/** The token that a client has been given before, or null. */
export function tokenIn(fields: readonly Field[]): string | null {
  for (const { name, value } of fields) {
    const token = name === 'cookie' ? (PATTERN.exec(value)?.[1] ?? null) : null;
    if (token !== null) return token;
  }
  return null;
}

/** A field line: for this host alone, out of reach of scripts, and not sent with what other sites embed. */
export function cookieLine(token: string, isSecure: boolean): string {
  return `Set-Cookie: ${NAME}=${token}; Path=/; HttpOnly; SameSite=Lax${isSecure ? '; Secure' : ''}\r\n`;
}
