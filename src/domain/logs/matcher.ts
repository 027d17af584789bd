/**
 * What a search looks for in messages. Regular expressions are those of RE2, of a bounded size: the time of a match is at most the
 * length of the message times that of the program, which is still too much for an event loop that others wait for.
 */
import { PlatformError } from '../errors.ts';

/** Of the message of an entry. */
type Matcher = (message: string) => boolean;

const LONGEST = 256;
/** Of the program of an expression; one of that many characters without repetitions is no longer. */
const MOST_INSTRUCTIONS = 300;
/** Compiled to see how long it is; estimated, see instructionsOf(). */
const MOST_COMPILED = 2_000;
/** A literal, one character of any kind, a class, or a counted repetition. */
const TOKENS =
  /\\Q[\s\S]*?(?:\\E|$)|\\(?:[pPx]\{[^}]*\}|[\s\S])|\[\^?\]?(?:\[:\^?\w+:\]|\\[\s\S]|[^\]\\])*\]|\{(\d+)(?:,(\d*))?\}|[\s\S]/gu;

/** A text that is found in any case, as stores look for it. Throws `input.invalid`. */
export function searchedText(search: string): string {
  demandShort(search);
  return search.toLowerCase();
}

/** Of a regular expression, which says by `(?i)` that it means any case. Throws `input.invalid`. */
export async function createMatcher(pattern: string): Promise<Matcher> {
  demandShort(pattern);
  // Loaded when it is wanted: no other operation needs it.
  const { RE2JS } = await import('re2js');
  if (instructionsOf(pattern) > MOST_COMPILED) throw tooLong();
  try {
    const compiled = RE2JS.compile(pattern);
    if (compiled.programSize() > MOST_INSTRUCTIONS) throw tooLong();
    return (message) => compiled.test(message);
  } catch (error) {
    if (error instanceof PlatformError) throw error;
    const why = error instanceof Error ? error.message.slice(0, 200) : '';
    throw new PlatformError('input.invalid', `Parameter "search" is no regular expression of RE2: ${why}`, {
      hint: 'RE2 has no look-around and no references back; without regexp=1 the text is searched for as it is.',
      cause: error,
    });
  }
}

/** About how long the program is, surely no more than a little too small: repetitions are written out in it. */
function instructionsOf(pattern: string): number {
  const groups = [0];
  let last = 0;
  for (const [token, least, most] of pattern.matchAll(TOKENS)) {
    const outer = groups.length - 1;
    if (token === '(') {
      groups.push(1);
      continue;
    }
    if (least !== undefined) {
      const times = Math.max(Number(least), Number(most ?? 0), 1);
      groups[outer] = (groups[outer] ?? 0) + last * (times - 1);
      last *= times;
      continue;
    }
    last = token === ')' && outer > 0 ? (groups.pop() ?? 0) : 1;
    const at = groups.length - 1;
    groups[at] = (groups[at] ?? 0) + last;
  }
  return groups.reduce((sum, length) => sum + length, 0);
}

function tooLong(): PlatformError {
  return new PlatformError('input.invalid', 'Parameter "search" is too long with its repetitions written out.', {
    hint: `Repeat less: as one expression without counts it has at most ${MOST_INSTRUCTIONS} characters and classes.`,
  });
}

function demandShort(search: string): void {
  if (search.length <= LONGEST) return;
  throw new PlatformError('input.invalid', `Parameter "search" has at most ${LONGEST} characters.`, {
    hint: 'Search for less.',
  });
}
