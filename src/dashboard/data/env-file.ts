/** Variables as `.env` files hold them, and what sending them would change. */
import { Problem } from '../api/problem.ts';

/**
 * As `tancho env set --file` reads them. Empty lines and those that begin with `#` are skipped, and so is `export`. A value in quotes may go over
 * several lines; in double quotes \n, \r, \t, \", \\ and \$ are known. Throws a Problem that names the line and never shows it: that may be a secret.
 */
export function readEnvFile(text: string): Map<string, string> {
  const found = new Map<string, string>();
  const lines = text.replace(/^\ufeff/, '').split(/\r?\n/);
  for (let at = 0; at < lines.length; at += 1) {
    const line = lines[at] ?? '';
    if (/^\s*(?:#.*)?$/.test(line)) continue;
    const [, name = '', rest = ''] = /^\s*(?:export\s+)?([^\s=#'"]+)\s*=\s*(.*)$/.exec(line) ?? [];
    if (name === '') throw wrong(at, 'is not NAME=VALUE');
    if (found.has(name)) throw wrong(at, `gives ${name} a second time`);
    const quote = rest.charAt(0);
    if (quote !== '"' && quote !== "'") {
      found.set(name, rest.trim());
      continue;
    }
    const from = at;
    let quoted = rest.slice(1);
    while (endOf(quoted, quote) < 0) {
      at += 1;
      if (at >= lines.length) throw wrong(from, 'opens a quote that has no end');
      quoted += `\n${lines[at]}`;
    }
    const end = endOf(quoted, quote);
    if (!/^\s*(?:#.*)?$/.test(quoted.slice(end + 1))) throw wrong(at, 'has text behind the quoted value');
    const value = quoted.slice(0, end);
    found.set(name, quote === '"' ? unescaped(value) : value);
  }
  return found;
}

/** Index of the quote that ends it; -1 when there is none yet. */
function endOf(text: string, quote: string): number {
  if (quote === "'") return text.indexOf("'");
  const found = /^(?:[^"\\]|\\[^])*"/.exec(text);
  return found === null ? -1 : found[0].length - 1;
}

const ESCAPED: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t' };

function unescaped(text: string): string {
  return text.replace(/\\([nrt"\\$])/g, (_, character: string) => ESCAPED[character] ?? character);
}

function wrong(at: number, what: string): Problem {
  return new Problem(`Line ${at + 1} ${what}.`, { code: 'dashboard', hint: 'Write one NAME=VALUE per line.' });
}

interface EnvChange {
  readonly name: string;
  readonly value: string;
  readonly kind: 'new' | 'changed' | 'public from now on' | 'private from now on' | 'same';
}

type Known = readonly { readonly name: string; readonly value: string; readonly public: boolean }[];

/** All that is sent becomes public, or private, whatever it was. */
export function changesOf(known: Known, wanted: ReadonlyMap<string, string>, isPublic: boolean): EnvChange[] {
  const now = new Map(known.map((one) => [one.name, one]));
  return [...wanted].map(([name, value]) => {
    const before = now.get(name);
    if (before === undefined) return { name, value, kind: 'new' };
    if (before.public !== isPublic) return { name, value, kind: `${isPublic ? 'public' : 'private'} from now on` };
    return { name, value, kind: before.value === value ? 'same' : 'changed' };
  });
}
