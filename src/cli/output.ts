/** Text for people: colours only on a terminal, tables, nothing that could steer the terminal. */
import { STEERING } from '../lib/steering.ts';
import type { Output } from './context.ts';

const STYLES = {
  red: '31',
  green: '32',
  yellow: '33',
  blue: '34',
  magenta: '35',
  cyan: '36',
  dim: '2',
  bold: '1',
} as const;
export type Style = keyof typeof STYLES;

export function paint(output: Output, env: NodeJS.ProcessEnv, style: Style, text: string): string {
  const plain = output.isTTY !== true || (env['NO_COLOR'] ?? '') !== '' || env['TERM'] === 'dumb';
  return plain ? text : `\u001b[${STYLES[style]}m${text}\u001b[0m`;
}

const COLOUR = /\u001b\[[0-9;]*m/;
const COLOUR_OR_STEERING = new RegExp(`${COLOUR.source}|${STEERING.source}`, 'g');
/** Whole sequences of a terminal that are no colours: movements of the cursor, titles with their text. */
const SEQUENCES =
  /\u001b(?:\[(?![0-9;]*m)[0-?]*[ -/]*[@-~]|[\]PX^_][^\u0007\u001b\n]*(?:\u0007|\u001b\\)?|[ -/]*[0-Z\\^-~])/g;
const RESET = '\u001b[0m';

/** Names and messages come from other people. */
export function printable(text: string): string {
  return text.replace(STEERING, '');
}

/** Output of apps: colours stay and end with it, everything else that steers goes; of a progress bar its last state is left. */
export function printableOutput(text: string): string {
  const lines = text.replace(SEQUENCES, '').split('\n').map(lastState);
  const kept = lines.join('\n').replace(COLOUR_OR_STEERING, (match) => (match.length > 1 ? match : ''));
  return COLOUR.test(kept) && !kept.endsWith(RESET) ? `${kept}${RESET}` : kept;
}

/** What is left of a line after carriage returns. */
function lastState(line: string): string {
  let end = line.length;
  while (line[end - 1] === '\r') end -= 1;
  const text = line.slice(0, end);
  return text.slice(text.lastIndexOf('\r') + 1);
}

/** Whatever a command prints, as its last step: colours for a terminal, none for a file. */
export function shownOn(output: Output, text: string): string {
  return output.isTTY === true ? printableOutput(text) : printable(text.replace(new RegExp(COLOUR, 'g'), ''));
}

/** JSON that means the same, and steers no terminal either. */
export function printableJson(json: string): string {
  return json.replace(STEERING, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** Columns as wide as their widest cell; a head line; no trailing blanks. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const cells = [head, ...rows].map((row) => row.map((cell) => printable(cell).replace(/\s+/g, ' ')));
  const widths = head.map((_, column) => Math.max(...cells.map((row) => [...(row[column] ?? '')].length)));
  const line = (row: readonly string[]): string =>
    row
      .map((cell, column) => cell + ' '.repeat(Math.max(0, (widths[column] ?? 0) - [...cell].length)))
      .join('  ')
      .trimEnd();
  return cells.map(line).join('\n');
}

/** `Name:  value` lines with the values below each other; pairs without a value are left out. */
export function facts(pairs: readonly (readonly [string, string | undefined])[]): string {
  const given = pairs.filter((pair): pair is readonly [string, string] => (pair[1] ?? '') !== '');
  const width = Math.max(0, ...given.map(([name]) => name.length)) + 1;
  return given.map(([name, value]) => `${`${name}:`.padEnd(width)}  ${printable(value)}`).join('\n');
}

/** `2024-05-01 12:30:05` in local time; what is no date stays as it is. */
export function when(iso: string): string {
  const date = new Date(iso);
  if (Number.isNaN(date.getTime())) return iso;
  const two = (value: number): string => String(value).padStart(2, '0');
  const day = `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
  return `${day} ${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`;
}

/** Nanoseconds as `850ms`, `12.3s` or `2m05s`. */
export function howLong(nanoseconds: number): string {
  const ms = nanoseconds / 1e6;
  if (ms < 1000) return `${Math.round(ms)}ms`;
  if (ms < 60_000) return `${(ms / 1000).toFixed(1)}s`;
  const seconds = Math.round(ms / 1000);
  return `${Math.floor(seconds / 60)}m${String(seconds % 60).padStart(2, '0')}s`;
}
