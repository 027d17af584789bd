/** Text of others (build output, names) made harmless for a terminal. Pure. */
import { withoutTrailing } from '../lib/without-trailing.ts';

const MAX_LINE = 4_000;
const ESCAPES = /\u001b(?:\[[0-?]*[ -/]*[@-~]|[\]PX^_][^\u0007\u001b]*(?:\u0007|\u001b\\)?|[ -/]*[0-~])?/g;
/** Control characters but tab, and the marks that turn the direction of text. */
const CONTROLS = /[\u0000-\u0008\u000a-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

/** The lines of `text`, as a terminal would leave them: of what a carriage return overwrites, the last is kept. */
export function printableLines(text: string): string[] {
  return text.split('\n').map((line) => {
    const plain = withoutTrailing(line.replace(ESCAPES, ''), '\r');
    const shown = plain.slice(plain.lastIndexOf('\r') + 1).replace(CONTROLS, '');
    return shown.length > MAX_LINE ? `${shown.slice(0, MAX_LINE)}...` : shown;
  });
}

/** A name given by a stranger, short and on one line. */
export function printableName(name: string): string {
  const plain = name.replace(/\s/g, ' ').replace(CONTROLS, '?').replaceAll('\u001b', '?');
  return plain.length > 80 ? `${plain.slice(0, 80)}...` : plain;
}
