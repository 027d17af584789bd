/** Whether a source is pages and nothing else, so that everybody may read all of it. What is not known to be of a page may be a program. */
import { posix } from 'node:path';
import type { SourceFiles } from './source/source-files.ts';

const PAGE = /\.html?$/i;
const SCRIPT = /\.m?js$/i;
const SHOWN =
  /\.(?:css|s[ac]ss|less|svg|png|jpe?g|gif|webp|avif|ico|woff2?|ttf|otf|eot|mp[34]|m4a|webm|og[gv]|wav|pdf|webmanifest|map|md)$/i;
const KNOWN =
  /^(?:package(?:-lock)?\.json|npm-shrinkwrap\.json|yarn\.lock|pnpm-lock\.yaml|bun\.lockb?|(?:tailwind|postcss|prettier|eslint|stylelint|rollup|webpack|commitlint|lint-staged)\.config\.[cm]?[jt]s|gulpfile\.m?js|(?:licen[cs]e|copying|readme)(?:\.txt)?|cname|(?:robots|humans|ads)\.txt|(?:sitemap|browserconfig)\.xml|manifest\.json)$/i;
const SOURCE = /\bsrc\s*=\s*["']?([^"'\s>?#]+)/gi;
const MAX_ENTRIES = 10_000;
const MAX_PAGES = 20;

/** Files with a dot in front are not served. */
export async function isOnlyPages(files: SourceFiles): Promise<boolean> {
  const [pages, scripts]: [string[], string[]] = [[], []];
  const directories = [''];
  let looked = 0;
  for (const directory of directories) {
    const names = await files.list(directory);
    looked += names.length;
    // What has no names in it is a file.
    if (names.length === 0 || looked > MAX_ENTRIES) return false;
    for (const name of names) {
      const path = posix.join(directory, name);
      if (name.startsWith('.') || SHOWN.test(name) || KNOWN.test(name)) continue;
      (PAGE.test(name) ? pages : SCRIPT.test(name) ? scripts : directories).push(path);
    }
  }
  const named = await namedScripts(files, pages.slice(0, MAX_PAGES));
  return scripts.every((script) => named.has(script));
}

/** Whatever a page has the browser load. */
async function namedScripts(files: SourceFiles, pages: readonly string[]): Promise<ReadonlySet<string>> {
  const named = new Set<string>();
  for (const page of pages) {
    for (const [, path = ''] of ((await files.beginning(page)) ?? '').matchAll(SOURCE)) {
      named.add(posix.join(path.startsWith('/') ? '.' : posix.dirname(page), path));
    }
  }
  return named;
}
