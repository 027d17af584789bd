/** What was probably meant by a name that is not known. */

const FAR = 2;

/** The known name that takes the fewest changes, at most two, case aside; undefined when there is none. */
export function nearest(name: string, known: Iterable<string>): string | undefined {
  const near = [...known].map((each) => ({ each, far: distance(each.toLowerCase(), name.toLowerCase()) }));
  return near.filter(({ far }) => far <= FAR).sort((a, b) => a.far - b.far)[0]?.each;
}

/** Levenshtein distance; names are short. */
function distance(left: string, right: string): number {
  let row = Array.from({ length: right.length + 1 }, (_, index) => index);
  for (let i = 1; i <= left.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= right.length; j += 1) {
      const replace = (row[j - 1] ?? 0) + (left[i - 1] === right[j - 1] ? 0 : 1);
      next.push(Math.min(replace, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[right.length] ?? 0;
}
