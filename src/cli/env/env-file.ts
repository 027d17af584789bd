/** Pure: variables as files hold them, one KEY=VALUE per line. */
import { UsageError } from '../errors.ts';

/**
 * Empty lines and lines that begin with `#` are skipped, `export` in front is too. A value in double quotes may go over several
 * lines and have \n, \r, \t, \", \\ and \$ in it; one in single quotes is taken as it stands, over several lines too; any other is the
 * rest of the line without blanks around it. Throws UsageError with the line, never with its text: that may be a secret.
 */
export function readEnvFile(text: string, file: string): Map<string, string> {
  const values = new Map<string, string>();
  const source = text.replace(/^\ufeff/, '').replace(/\r\n/g, '\n');
  const entry = /[^\S\n]*(?:export[^\S\n]+)?([^\s=#'"]+)[^\S\n]*=[^\S\n]*(?:"((?:[^"\\]|\\[^])*)"|'([^']*)'|([^\n]*))/y;
  const skipped = /[^\S\n]*(?:#[^\n]*)?(?:\n|$)/y;
  for (let at = 0; at < source.length;) {
    skipped.lastIndex = at;
    if (skipped.test(source)) {
      at = skipped.lastIndex;
      continue;
    }
    entry.lastIndex = at;
    const found = entry.exec(source);
    const line = source.slice(0, at).split('\n').length;
    if (found === null) throw new UsageError(`${file} line ${line} is not KEY=VALUE.`);
    at = entry.lastIndex;
    const [, key = '', double, single, plain] = found;
    if (plain === undefined) {
      skipped.lastIndex = at;
      if (!skipped.test(source)) throw new UsageError(`${file} line ${line}: there is text behind the quoted value.`);
    } else if (/^["']/.test(plain)) {
      throw new UsageError(`${file} line ${line}: the quoted value has no end.`);
    }
    if (values.has(key)) throw new UsageError(`${file} line ${line}: ${key} is given twice.`);
    values.set(key, double === undefined ? (single ?? (plain ?? '').trim()) : unescaped(double));
  }
  if (values.size === 0) throw new UsageError(`${file} has no variables.`, 'Write one KEY=VALUE per line.');
  return values;
}

/** A value so that `readEnvFile` reads it back. */
export function envFileValue(value: string): string {
  if (!/[\r\n]|^["'\s]|\s$/.test(value)) return value;
  const escaped = value.replace(/[\\"]/g, '\\$&').replace(/\n/g, '\\n').replace(/\r/g, '\\r');
  return `"${escaped}"`;
}

function unescaped(text: string): string {
  const letters: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t' };
  return text.replace(
    /\\([^])/g,
    (whole, letter: string) => letters[letter] ?? (/["\\$]/.test(letter) ? letter : whole),
  );
}
