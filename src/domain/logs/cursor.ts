/** Where a reader of a log is: opaque to readers, the seq of an entry inside. */
import { PlatformError } from '../errors.ts';

const FORM = /^c([0-9a-z]{1,11})$/;

export function cursorOf(seq: number): string {
  return `c${seq.toString(36)}`;
}

/** Throws `input.invalid`; `name` is that of the parameter. */
export function seqOf(name: string, cursor: string): number {
  const digits = FORM.exec(cursor)?.[1];
  const seq = digits === undefined ? Number.NaN : Number.parseInt(digits, 36);
  if (Number.isSafeInteger(seq)) return seq;
  throw new PlatformError('input.invalid', `Parameter "${name}" must be a cursor.`, {
    hint: 'Send the Cursor of an entry, as the log showed it.',
  });
}
