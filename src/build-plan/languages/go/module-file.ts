/** go.mod and go.work: one directive per line, or several in parentheses. */
import type { WantedVersion } from '../../build-plan.ts';
import type { SourceFiles } from '../../source/source-files.ts';

interface Directive {
  /** `go`, `toolchain`, `module`, `require`, `replace`, `use`... */
  readonly verb: string;
  readonly words: readonly string[];
  /** From 1. */
  readonly line: number;
}

/** No directive of a file that is not there. */
export async function directivesOf(files: SourceFiles, path: string): Promise<Directive[]> {
  const found: Directive[] = [];
  let block: string | null = null;
  for (const [index, raw] of ((await files.beginning(path)) ?? '').split(/\r\n|\n|\r/).entries()) {
    const [code = ''] = raw.slice(0, 1_000).split('//');
    const [first, ...rest] = code.split(/\s+/).filter((word) => word !== '');
    if (first === undefined) continue;
    if (block !== null && first === ')') block = null;
    else if (block === null && rest.at(-1) === '(') block = first;
    else {
      const words = (block === null ? rest : [first, ...rest]).map((word) => word.replace(/^["`]|["`]$/g, ''));
      found.push({ verb: block ?? first, words, line: index + 1 });
    }
  }
  return found;
}

/** The version below which Go would fetch another: that of `go` or of `toolchain`, whichever is newer. */
export async function goVersion(files: SourceFiles, path: string): Promise<WantedVersion | null> {
  let newest: { numbers: number[]; text: string } | null = null;
  for (const { verb, words } of await directivesOf(files, path)) {
    if (verb !== 'go' && verb !== 'toolchain') continue;
    const found = /^(?:go)?(\d{1,4})\.(\d{1,4})(?:\.(\d{1,4}))?/.exec(words[0] ?? '');
    if (found === null) continue;
    const numbers = [1, 2, 3].map((group) => Number(found[group] ?? 0));
    if (newest === null || isNewer(numbers, newest.numbers)) newest = { numbers, text: words[0] ?? '' };
  }
  return newest === null ? null : { range: `>=${newest.numbers.join('.')}`, text: newest.text, from: path };
}

function isNewer(a: readonly number[], b: readonly number[]): boolean {
  const different = a.findIndex((part, index) => part !== b[index]);
  return different !== -1 && (a[different] ?? 0) > (b[different] ?? 0);
}

/** What `go install` calls the program of a package: `example.com/shop/v2` is `shop`. Null for what is no usual file name. */
export function programName(importPath: string): string | null {
  const parts = importPath.split('/');
  const last = parts.at(-1) ?? '';
  const name = parts.length > 1 && /^v([2-9]|[1-9]\d+)$/.test(last) ? (parts.at(-2) ?? '') : last;
  return /^[A-Za-z0-9_][\w.+~-]*$/.test(name) ? name : null;
}
