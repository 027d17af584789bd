/** Pure: which files a deploy leaves out, as the ignore file next to them says. */

export type Ignores = (path: string, isDirectory: boolean) => boolean;

/** Names of such files; the second is what other clients of this API read. */
export const IGNORE_FILES = ['.tanchoignore', '.tsuruignore'] as const;

/**
 * One pattern per line: `*` and `?` within a name, `**` across names; with a slash inside it counts from the top, else anywhere;
 * with a slash at its end it means directories; with `!` in front it takes back what a line before has ignored.
 */
export function ignoreRules(text: string): Ignores {
  const rules = text
    .split(/\r?\n/)
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map(toRule);
  return (path, isDirectory) =>
    rules.reduce(
      (ignored, rule) =>
        rule.pattern.test(path) && (isDirectory || !rule.onlyDirectories) ? !rule.takesBack : ignored,
      false,
    );
}

function toRule(line: string): { pattern: RegExp; onlyDirectories: boolean; takesBack: boolean } {
  const takesBack = line.startsWith('!');
  const rest = takesBack ? line.slice(1) : line;
  const onlyDirectories = rest.endsWith('/');
  const path = rest.replace(/\/+$/, '');
  const anchored = path.includes('/');
  const source = path
    .replace(/^\.?\/+/, '')
    .split(/(\*\*\/|\*\*|\*|\?)/)
    .map((part) => WILD[part] ?? part.replace(/[\\^$.|+()[\]{}]/g, '\\$&'))
    .join('');
  return { pattern: new RegExp(`^${anchored ? '' : '(?:.*/)?'}${source}$`), onlyDirectories, takesBack };
}

const WILD: Readonly<Record<string, string>> = { '**/': '(?:.*/)?', '**': '.*', '*': '[^/]*', '?': '[^/]' };
