/** Commands that the pages and the next steps of errors ask people to type are there, with the options that they name. */
import type { Command } from 'commander';
import { globSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { CliWorld } from '../../test/support/cli-world.ts';
import { COMMANDS, createProgram } from './program.ts';

const ROOT = new URL('../../', import.meta.url).pathname;
const PAGES = ['README.md', 'docs/*.md', 'docs/decisions/*.md'];
const CODE = ['src/**/*.ts', 'src/**/*.tsx'];
/** Made from the commands themselves. */
const ASIDE = /^docs\/cli\.md$|\.test\.tsx?$/;
/** In pages only what is set as code. */
const IN_PAGE = /(?:^|`|\$ |\(|npx )tancho +([^`|#"(),;]+)/g;
const IN_CODE = /\btancho ([a-z][a-z-]*[^'"`\n(),;]*)/g;

interface Named {
  readonly at: string;
  readonly words: readonly string[];
}

function named(patterns: readonly string[], pattern: RegExp): Named[] {
  const files = patterns.flatMap((each) => globSync(each, { cwd: ROOT })).filter((file) => !ASIDE.test(file));
  return files.flatMap((file) =>
    readFileSync(`${ROOT}${file}`, 'utf8')
      .split('\n')
      .flatMap((line, index) =>
        [...line.matchAll(pattern)].map(([, text = '']) => ({
          at: `${file} line ${index + 1}: tancho ${text.trim()}`,
          words: text.trim().replace(/[.:]$/, '').split(/\s+/),
        })),
      ),
  );
}

/** What is wrong with it; null: nothing, or it is prose. */
function fault(root: Command, words: readonly string[], isCode: boolean): string | null {
  const verbs = new Set(root.commands.flatMap(({ commands }) => commands.map((one) => one.name())));
  let at = root;
  for (const [index, word] of words.entries()) {
    if (word === '--' || word.startsWith('-')) break;
    const next = at.commands.find((one) => one.name() === word || one.aliases().includes(word));
    if (next === undefined) {
      const isWord = /^[a-z][a-z-]*$/.test(word);
      // In code the name of the program stands in sentences, too.
      const isMeant = index > 0 || !isCode || (words.length === 1 && verbs.has(word));
      if (at.commands.length > 0 && isWord && isMeant) return `no command ${word}`;
      break;
    }
    at = next;
  }
  if (at === root) return null;
  const own = words.slice(0, words.includes('--') ? words.indexOf('--') : words.length);
  // A noun may be short for one of its verbs.
  const known = new Set(
    [at, root, ...at.commands].flatMap(({ options }) => options.flatMap(({ long, short }) => [long, short])),
  );
  const odd = own
    .map((word) => /^(--?[a-z][\w-]*)/.exec(word)?.[1])
    .find((word) => word !== undefined && !isKnown(word));
  return odd === undefined ? null : `no option ${odd}`;

  function isKnown(option: string): boolean {
    return known.has(option) || ['--help', '-h', '--json', '--target'].includes(option);
  }
}

it('of the pages and of hints in the code', async () => {
  const { root } = await createProgram(new CliWorld().context(), new Set(Object.keys(COMMANDS)));
  const pages = named(PAGES, IN_PAGE);
  expect(pages.length).toBeGreaterThan(100);
  const wrong = [
    ...pages.map(({ at, words }) => [at, fault(root, words, false)] as const),
    ...named(CODE, IN_CODE).map(({ at, words }) => [at, fault(root, words, true)] as const),
  ].flatMap(([at, what]) => (what === null ? [] : [`${what}: ${at}`]));
  expect(wrong).toEqual([]);
});
