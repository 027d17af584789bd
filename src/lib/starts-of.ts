/** Where a text occurs in another one, in time that grows with the length of the two together, whatever they are. */

/** Shorter ones are looked for as they are: what that can take at most is so many times the length of the text. */
const SHORT = 32;
/** Of beginnings that were none: whoever writes more of them wants comparing them to take long. */
const MOST_COMPARED = 16;

/** Each occurrence behind the one before. */
export function* startsOf(text: string, wanted: string): Generator<number, void> {
  const beginning = wanted.slice(0, SHORT);
  let wrong = 0;
  let from = 0;
  while (wrong < MOST_COMPARED) {
    const at = text.indexOf(beginning, from);
    if (at < 0) return;
    if (text.startsWith(wanted, at)) {
      yield at;
      from = at + wanted.length;
    } else {
      wrong += 1;
      from = at + 1;
    }
  }
  yield* linearStartsOf(text, wanted, { from, areApart: true });
}

/** The last one that begins before `before`; -1: there is none. */
export function lastStartOf(text: string, wanted: string, before: number): number {
  if (!text.slice(0, before - 1 + SHORT).includes(wanted.slice(0, SHORT))) return -1;
  let last = -1;
  for (const at of linearStartsOf(text, wanted, { from: 0, areApart: false })) if (at < before) last = at;
  return last;
}

/** By Knuth, Morris and Pratt. */
function* linearStartsOf(
  text: string,
  wanted: string,
  { from, areApart }: { readonly from: number; readonly areApart: boolean },
): Generator<number, void> {
  const { length } = wanted;
  const borders = bordersOf(wanted);
  let matched = 0;
  for (let at = from; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    while (matched > 0 && code !== wanted.charCodeAt(matched)) matched = borders[matched - 1] ?? 0;
    if (code === wanted.charCodeAt(matched)) matched += 1;
    if (matched < length) continue;
    yield at - length + 1;
    matched = areApart ? 0 : (borders[matched - 1] ?? 0);
  }
}

/** Of each beginning of the text the length of the longest shorter one that it also ends with. */
function bordersOf(text: string): Int32Array {
  const borders = new Int32Array(text.length);
  let length = 0;
  for (let at = 1; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    while (length > 0 && code !== text.charCodeAt(length)) length = borders[length - 1] ?? 0;
    if (code === text.charCodeAt(length)) length += 1;
    borders[at] = length;
  }
  return borders;
}
