import { randomBytes } from 'node:crypto';

/** Random lower-case hexadecimal digits; `digits` is even. */
export function randomHex(digits: number): string {
  return randomBytes(digits / 2).toString('hex');
}

/** 24 hexadecimal digits that sort by creation time (millisecond clock, then randomness). */
export function timeOrderedId(now: number = Date.now()): string {
  return now.toString(16).padStart(12, '0') + randomHex(12);
}
