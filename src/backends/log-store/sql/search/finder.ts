/** What a search looks for, in all messages of a block at once, and then in one. */
import { createMatcher } from '../../../../domain/logs/matcher.ts';
import type { LogFilter } from '../../../../domain/logs/entry.ts';
import { quickPattern } from './quick-pattern.ts';

export interface Finder {
  /** What is looked for has no newline in it, so a text may be looked through in pieces of whole lines. */
  readonly isOfOneLine: boolean;
  /** Where in a text of many lines something begins and ends that a message may be wanted for; null: nowhere from there on. */
  next(text: string, from: number): readonly [from: number, to: number] | null;
  matches(message: string): boolean;
}

/** What may stand for a newline: classes of much, classes without something, ranges that begin before it. */
const MAY_CROSS_LINES = /\p{Cc}|\\[sDWnt]|\[\^/u;

export type Sought = Pick<LogFilter, 'contains' | 'pattern'>;

/** Null: every entry will do. `isSafe`: nothing is tried that can take for ever. */
export async function finderOf({ contains, pattern }: Sought, isSafe: boolean): Promise<Finder | null> {
  const text = contains === undefined ? null : textFinder(contains);
  if (pattern === undefined) return text;
  const expression = await patternFinder(pattern, isSafe);
  if (text === null) return expression;
  const { isOfOneLine, next } = text;
  return { isOfOneLine, next, matches: (message) => text.matches(message) && expression.matches(message) };
}

/** `wanted` in lower case. */
function textFinder(wanted: string): Finder {
  let [known, lower] = ['', ''];
  return {
    isOfOneLine: !wanted.includes('\n'),
    next(text, from) {
      if (text !== known) [known, lower] = [text, text.toLowerCase()];
      const at = lower.indexOf(wanted, from);
      return at < 0 ? null : [at, at + wanted.length];
    },
    matches: (message) => message.toLowerCase().includes(wanted),
  };
}

async function patternFinder(pattern: string, isSafe: boolean): Promise<Finder> {
  const matches = await createMatcher(pattern);
  const quick = isSafe ? null : quickPattern(pattern);
  if (quick === null) {
    return { isOfOneLine: true, next: (text, from) => (from < text.length ? [from, text.length] : null), matches };
  }
  return {
    isOfOneLine: !MAY_CROSS_LINES.test(pattern),
    next(text, from) {
      quick.lastIndex = from;
      const found = quick.exec(text);
      return found === null ? null : [found.index, found.index + found[0].length];
    },
    matches,
  };
}
