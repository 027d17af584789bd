/**
 * What a search looks for in messages. Regular expressions are those of RE2: matched in time that grows with the length of the
 * message only, so a reader's pattern can hold up nobody.
 */
import { PlatformError } from '../errors.ts';

/** Of the message of an entry. */
type Matcher = (message: string) => boolean;

const LONGEST = 256;

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
  try {
    const compiled = RE2JS.compile(pattern);
    return (message) => compiled.test(message);
  } catch (error) {
    const why = error instanceof Error ? error.message.slice(0, 200) : '';
    throw new PlatformError('input.invalid', `Parameter "search" is no regular expression of RE2: ${why}`, {
      hint: 'RE2 has no look-around and no references back; without regexp=1 the text is searched for as it is.',
      cause: error,
    });
  }
}

function demandShort(search: string): void {
  if (search.length <= LONGEST) return;
  throw new PlatformError('input.invalid', `Parameter "search" has at most ${LONGEST} characters.`, {
    hint: 'Search for less.',
  });
}
