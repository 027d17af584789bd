/**
 * Whether a name fits a pattern in which `*` stands for any characters. Goes on from the last star only, for expressions with several of them
 * can take for ever, and both texts are a stranger's.
 */
export function fitsPattern(name: string, pattern: string): boolean {
  const [first = '', ...others] = pattern.split('*');
  const last = others.pop();
  if (last === undefined) return name === pattern;
  if (name.length < first.length + last.length || !name.startsWith(first) || !name.endsWith(last)) return false;
  let at = first.length;
  for (const part of others) {
    const found = name.indexOf(part, at);
    if (found < 0) return false;
    at = found + part.length;
  }
  return at + last.length <= name.length;
}
