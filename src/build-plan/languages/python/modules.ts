/** Where the modules of an app usually are, and what they are called. */
import type { FoundLine, SourceFiles } from '../../source/source-files.ts';

export const MODULES = ['wsgi', 'asgi', 'main', 'app', 'application', 'server', 'api', 'run', 'index', '__init__'];
/** Programs in these are no apps. */
const ASIDE = /(?:^|\/)(?:tests?|docs?|examples?|scripts?|migrations|\.[^/]*)\//;
export const PLACES = ['', 'src/', 'app/', 'api/', 'backend/', 'server/', 'src/*/', '*/'];

/** Looked into, for one pattern. */
const MAX_FILES = 1_000;

/** The first file that has such a line. */
export async function appIn(files: SourceFiles, pattern: string, line: RegExp): Promise<FoundLine | null> {
  const paths = (await files.findAll(pattern)).filter((path) => !ASIDE.test(path));
  for (const path of paths.slice(0, MAX_FILES)) {
    const found = await files.findLine(path, line);
    if (found !== null) return found;
  }
  return null;
}

/** `src/shop/main.py` -> `shop.main`: code in src/ is found as at the top. */
export function moduleOf(path: string): string {
  return path
    .replace(/^src\//, '')
    .replace(/(?:\/__init__)?\.py$/, '')
    .replaceAll('/', '.');
}
