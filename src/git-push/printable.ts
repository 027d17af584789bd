/** Text of others (build output, names) made harmless for a terminal. Pure. */
import { STEERING, withoutSequences } from '../lib/steering.ts';
import { withoutTrailing } from '../lib/without-trailing.ts';

const MAX_LINE = 4_000;

/** The lines of `text`, as a terminal would leave them: of what a carriage return overwrites, the last is kept. */
export function printableLines(text: string): string[] {
  return text.split('\n').map((line) => {
    const plain = withoutTrailing(withoutSequences(line), '\r');
    const shown = plain.slice(plain.lastIndexOf('\r') + 1).replace(STEERING, '');
    return shown.length > MAX_LINE ? `${shown.slice(0, MAX_LINE)}...` : shown;
  });
}

/** A name given by a stranger, short and on one line. */
export function printableName(name: string): string {
  const plain = name.replace(/\s/g, ' ').replace(STEERING, '?').replaceAll('\u001b', '?');
  return plain.length > 80 ? `${plain.slice(0, 80)}...` : plain;
}
