/** Rows of figures, as an aligned table for people and as JSON. */
import { type Summary, summary } from './statistics.ts';

export type Unit = 'ms' | 'KB' | 'MB' | 'us' | 'req/s' | '/s' | 'frames/s' | 'lines' | 'lines/s' | '%';

export interface Figure {
  readonly what: string;
  readonly unit: Unit;
  readonly samples: readonly number[];
  /** Measured in the same run: what would be needed without the platform. */
  readonly floor?: { readonly what: string; readonly samples: readonly number[] };
  /** What is promised of the median: no more than this. */
  readonly most?: number;
}

export interface Row extends Summary {
  readonly measure: string;
  readonly what: string;
  readonly unit: Unit;
  readonly floor: (Summary & { readonly what: string; readonly ratio: number }) | null;
  /** Null: nothing is promised. */
  readonly most: number | null;
}

export function rowOf(measure: string, { what, unit, samples, floor, most: promisedMost }: Figure): Row {
  const own = summary(samples);
  const most = promisedMost ?? null;
  if (floor === undefined) return { measure, what, unit, ...own, floor: null, most };
  const below = summary(floor.samples);
  return { measure, what, unit, ...own, most, floor: { what: floor.what, ...below, ratio: own.median / below.median } };
}

const HEAD = ['', 'median', 'min', 'max', '', 'n', 'floor', 'x floor', 'floor is'];
const LEFT = new Set([0, 4, 8, 9]);

export function table(rows: readonly Row[]): string {
  const head = rows.some(({ most }) => most !== null) ? [...HEAD, 'promised'] : HEAD;
  const lines: string[][] = [head];
  let measure = '';
  for (const row of rows) {
    if (row.measure !== measure) lines.push([], [row.measure]);
    measure = row.measure;
    const { what, unit, n, floor } = row;
    const figures = [row.median, row.min, row.max].map(shown);
    const beside = floor === null ? [] : [shown(floor.median), floor.ratio.toFixed(2), floor.what];
    const line = [`  ${what}`, ...figures, unit, String(n), ...beside];
    lines.push(row.most === null ? line : [...padded(line), promised(row.median, row.most)]);
  }
  const full = lines.filter((line) => line.length > 1);
  const widths = head.map((_, column) => Math.max(...full.map((line) => line[column]?.length ?? 0)));
  const pad = (cell: string, column: number): string =>
    LEFT.has(column) ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0);
  return lines.map((line) => (line.length > 1 ? line.map(pad).join('  ').trimEnd() : line.join(''))).join('\n');
}

function padded(line: readonly string[]): string[] {
  return HEAD.map((_, column) => line[column] ?? '');
}

function promised(median: number, most: number): string {
  return median <= most ? `<= ${most}` : `<= ${most}: MISSED`;
}

/** Three digits that count. */
function shown(value: number): string {
  return Math.abs(value) < 100 ? value.toPrecision(3).replace(/e.*$/, '') : String(Math.round(value));
}
