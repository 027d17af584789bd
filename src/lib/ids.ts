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

let last = { time: 0, random: 0 };

/**
 * 24 hexadecimal digits that sort by creation: those of this process always, others by the clock (12 digits of milliseconds, then
 * randomness, which is counted up within a millisecond and while the clock has gone back).
 */
export function timeOrderedId(now: number = Date.now()): string {
  // Half of what 12 digits hold, so that counting up has room.
  if (now > last.time) last = { time: now, random: Number.parseInt(randomHex(12), 16) / 2 };
  else last.random += 1;
  return hex(last.time) + hex(Math.floor(last.random));
}

function hex(number: number): string {
  return number.toString(16).padStart(12, '0');
}
