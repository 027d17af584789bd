import { MAX_MESSAGE_BYTES } from '../../../domain/logs/entry.ts';
import type { LogEntry } from '../../../domain/logs/entry.ts';

const SURROGATE = /[\uD800-\uDFFF]/;
/** A character of UTF-16 becomes at most three bytes of UTF-8. */
const SURELY_SHORT = Math.floor(MAX_MESSAGE_BYTES / 3);

/** Entries that can be stored: valid text without NUL, the messages cut to their longest length. */
export function storable(entries: readonly LogEntry[]): LogEntry[] {
  return entries.flatMap((entry) => {
    const message = clean(entry.message);
    if (message.length > SURELY_SHORT) return pieces(message).map((piece) => ({ ...entry, message: piece }));
    return message === entry.message ? entry : { ...entry, message };
  });
}

function clean(message: string): string {
  const text = message.includes('\0') ? message.replaceAll('\0', '\uFFFD') : message;
  return SURROGATE.test(text) ? Buffer.from(text, 'utf8').toString('utf8') : text;
}

function pieces(message: string): string[] {
  const bytes = Buffer.from(message, 'utf8');
  const found: string[] = [];
  for (let from = 0; from < bytes.length;) {
    let to = Math.min(from + MAX_MESSAGE_BYTES, bytes.length);
    while (to < bytes.length && isContinuation(bytes[to])) to -= 1;
    found.push(bytes.toString('utf8', from, to));
    from = to;
  }
  return found;
}

function isContinuation(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0xc0) === 0x80;
}
