/** Where any of many texts occurs in another one: in one pass, however many they are. */
import { lastStartOf, startsOf } from './starts-of.ts';

export type Range = readonly [from: number, to: number];

/** As many characters of the beginning lead to those that begin so. */
const KEY_LENGTH = 6;
/** Those that are longer, or that begin as many others do, are looked for one by one: who writes them can make comparing them dear. */
const LONGEST_INDEXED = 512;
const MOST_OF_KEY = 16;
/** Of the filter, for each text: a hundredth of what it lets pass is no beginning. */
const FILTER_PER_TEXT = 64;
const SMALLEST_FILTER = 1_024;
/** So many are found sooner one by one. */
const FEW = 400;
/** Of a text, in one step. */
const STEP_LENGTH = 64 * 1024;
/** More of them are made fewer where they overlap. */
const MANY_RANGES = 10_000;

export class Occurrences {
  readonly #byKey: ReadonlyMap<string, readonly string[]>;
  readonly #apart: readonly string[];
  /** By the hash of three characters, whether any key begins with such. */
  readonly #filter: Uint8Array;

  /** `texts`: the longest first. */
  constructor(texts: readonly string[], few = FEW) {
    const areMany = texts.length > few;
    const isIndexed = ({ length }: string): boolean => areMany && length >= KEY_LENGTH && length <= LONGEST_INDEXED;
    const groups = Map.groupBy(texts.filter(isIndexed), (text) => text.slice(0, KEY_LENGTH));
    const crowded = [...groups].filter(([, group]) => group.length > MOST_OF_KEY);
    for (const [key] of crowded) groups.delete(key);
    this.#byKey = groups;
    this.#apart = [
      ...texts.filter((text) => text !== '' && !isIndexed(text)),
      ...crowded.flatMap(([, group]) => group),
    ];
    this.#filter = new Uint8Array(filterSize(groups.size));
    for (const key of groups.keys()) this.#filter[this.#hash(key, 0)] = 1;
  }

  /**
   * All of them, unless one lies within another; those that overlap may be one. Of one that is not in the index, and overlaps itself, each
   * that begins behind the one before.
   */
  in(text: string): Range[] {
    const steps = this.stepsIn(text);
    for (;;) {
      const { done, value } = steps.next();
      if (done === true) return value;
    }
  }

  /** As in(), a piece of the work with each step. */
  *stepsIn(text: string): Generator<undefined, Range[]> {
    let found: Range[] = [];
    for (let from = 0; from < text.length && this.#byKey.size > 0; from += STEP_LENGTH) {
      for (const range of this.#indexedIn(text, from, from + STEP_LENGTH)) found.push(range);
      yield;
    }
    let most = MANY_RANGES;
    for (const one of this.#apart) {
      for (const at of startsOf(text, one)) found.push([at, at + one.length]);
      if (found.length > most) {
        found = united(found);
        most = Math.max(MANY_RANGES, 2 * found.length);
      }
      yield;
    }
    return found;
  }

  /** The end of the last one that begins in `before` and ends in `after`, which follows it, as an index of `after`; 0: there is none. */
  across(before: string, after: string): number {
    const near = before.slice(1 - LONGEST_INDEXED);
    let end = 0;
    for (const [from, to] of this.#indexedIn(near + after.slice(0, LONGEST_INDEXED - 1))) {
      if (from < near.length) end = Math.max(end, to - near.length);
    }
    for (const one of this.#apart) {
      const head = before.slice(-(one.length - 1));
      const at = one.length < 2 ? -1 : lastStartOf(head + after.slice(0, one.length - 1), one, head.length);
      if (at >= 0) end = Math.max(end, at + one.length - head.length);
    }
    return end;
  }

  /** Of those that begin from here to there. */
  #indexedIn(text: string, first = 0, behind = text.length): Range[] {
    const found: Range[] = [];
    let end = 0;
    if (this.#byKey.size === 0) return found;
    const last = Math.min(text.length - KEY_LENGTH, behind - 1);
    for (let at = first; at <= last; at += 1) {
      if (this.#filter[this.#hash(text, at)] === 0) continue;
      const one = this.#byKey.get(text.slice(at, at + KEY_LENGTH))?.find((other) => text.startsWith(other, at));
      if (one === undefined || at + one.length <= end) continue;
      end = at + one.length;
      found.push([at, end]);
    }
    return found;
  }

  #hash(text: string, at: number): number {
    const hash = (text.charCodeAt(at) * 31 + text.charCodeAt(at + 1)) * 31 + text.charCodeAt(at + 2);
    return hash & (this.#filter.length - 1);
  }
}

function filterSize(keys: number): number {
  return 2 ** Math.ceil(Math.log2(Math.max(keys * FILTER_PER_TEXT, SMALLEST_FILTER)));
}

/** In their order, those that overlap as one. */
function united(ranges: readonly Range[]): Range[] {
  const all: [from: number, to: number][] = [];
  for (const [from, to] of [...ranges].sort(([a], [b]) => a - b)) {
    const last = all.at(-1);
    if (last !== undefined && from < last[1]) last[1] = Math.max(last[1], to);
    else all.push([from, to]);
  }
  return all;
}

/** The text with each range replaced; those that overlap are one. */
export function withReplaced(text: string, ranges: readonly Range[], by: string): string {
  let [result, done] = ['', 0];
  for (const [from, to] of [...ranges].sort(([a], [b]) => a - b)) {
    if (to <= done) continue;
    result += from < done ? '' : text.slice(done, from) + by;
    done = to;
  }
  return result + text.slice(done);
}
