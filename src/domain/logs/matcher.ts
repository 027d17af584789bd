/**
 * What a search looks for in messages. Regular expressions are those of RE2: matched in time that grows with the length of the
 * message only, so a reader's pattern can hold up nobody.
 */
import { PlatformError } from '../errors.ts';

/** Of the message of an entry. */
export type Matcher = (message: string) => boolean;

const LONGEST = 256;

/** Text is found in any case; of a regular expression that is said by `(?i)`. Throws `input.invalid`. */
export async function createMatcher(search: string, isRegexp: boolean): Promise<Matcher> {
  if (search.length > LONGEST) {
    throw new PlatformError('input.invalid', `Parameter "search" has at most ${LONGEST} characters.`, {
      hint: 'Search for less.',
    });
  }
  if (!isRegexp) {
    const wanted = search.toLowerCase();
    return (message) => message.toLowerCase().includes(wanted);
  }
  // Loaded when it is wanted: no other operation needs it.
  const { RE2JS } = await import('re2js');
  try {
    const pattern = RE2JS.compile(search);
    return (message) => pattern.test(message);
  } catch (error) {
    const why = error instanceof Error ? error.message.slice(0, 200) : '';
    throw new PlatformError('input.invalid', `Parameter "search" is no regular expression of RE2: ${why}`, {
      hint: 'RE2 has no look-around and no references back; without regexp=1 the text is searched for as it is.',
      cause: error,
    });
  }
}
