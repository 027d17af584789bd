import { randomFillSync } from 'node:crypto';

/** Asking the system for random bytes costs much more than the bytes, so many are asked for at once. No byte is used twice. */
const pool = Buffer.alloc(4_096);
let used = pool.length;

/** Random lower-case hexadecimal digits; `digits` is even and at most 1,024. */
export function randomHex(digits: number): string {
  const bytes = digits / 2;
  if (used + bytes > pool.length) {
    randomFillSync(pool);
    used = 0;
  }
  const text = pool.toString('hex', used, used + bytes);
  pool.fill(0, used, used + bytes);
  used += bytes;
  return text;
}

/** 24 hexadecimal digits that sort by creation time (millisecond clock, then randomness). */
export function timeOrderedId(now: number = Date.now()): string {
  return now.toString(16).padStart(12, '0') + randomHex(12);
}
