/** Where the code of an app names a port: the message about a wrong port says it, so that nobody has to look for it. */
import { directoryReader } from '../../../build-plan/source/directory.ts';
import type { SourceReader } from '../../../build-plan/source/source-reader.ts';

/** Who starts it, then programs and their settings. */
const FIRST = ['Procfile', 'tancho.yaml', 'package.json'];
const NAMES =
  /\.(?:[cm]?[jt]sx?|py|go|rs|rb|ru|php|java|kts?|scala|exs?|svelte|vue|toml|properties)$|^(?:application|config|settings)[\w.-]*\.ya?ml$|^Procfile$/;
/** Packages, what builds make, and what only tests and people read. */
const ASIDE = /^(?:\..*|node_modules|vendor|venv|dist|build|out|target|coverage|__pycache__|docs?|tests?|__tests__)$/;
const TEST = /[._-](?:test|spec)\.|^test_/;
const DEEPEST = 6;
const MOST_FILES = 300;
const MOST_BYTES = 64 * 1024;
const MOST_LINE = 500;
const COMMENT = /^\s*(?:\/\/|#|\*|\/\*|--)/;
/** A number alone may be anything. */
const PLACE = /listen|port|bind|serv|addr|host|run|start|0\.0\.0\.0|127\.0\.0\.1|(?:^|\s)-p\s/i;

/** `server.js line 3`; null where it is not seen. `code`: a directory. */
export async function namedPort(code: string, port: number): Promise<string | null> {
  const reader = directoryReader(code);
  const number = new RegExp(`(?<![\\w.-])${port}(?![\\w.])`);
  for (const path of await filesOf(reader)) {
    const found = await reader.read(path, MOST_BYTES).catch(() => null);
    const lines =
      found === null
        ? []
        : Buffer.from(found.bytes)
            .toString('utf8')
            .split(/\r\n|\n|\r/);
    const index = lines.findIndex((line) => {
      const text = line.slice(0, MOST_LINE);
      return number.test(text) && PLACE.test(text) && !COMMENT.test(text);
    });
    if (index !== -1) return `${path} line ${index + 1}`;
  }
  return null;
}

/** Those at the top come first. */
async function filesOf(reader: SourceReader): Promise<string[]> {
  const found: string[] = [];
  let level = [''];
  for (let depth = 0; depth < DEEPEST && level.length > 0; depth += 1) {
    const next: string[] = [];
    for (const below of level) {
      const entries = (await reader.list(below).catch(() => null)) ?? [];
      for (const name of entries.map((entry) => entry.name).sort(byPlace)) {
        const path = below === '' ? name : `${below}/${name}`;
        if (found.length >= MOST_FILES) return found;
        if (NAMES.test(name) || FIRST.includes(name)) {
          if (!TEST.test(name)) found.push(path);
        } else if (!ASIDE.test(name) && !name.includes('.') && (await reader.kind(path)) === 'directory') {
          next.push(path);
        }
      }
    }
    level = next;
  }
  return found;
}

function byPlace(a: string, b: string): number {
  const place = (name: string): number => (FIRST.includes(name) ? FIRST.indexOf(name) : FIRST.length);
  return place(a) - place(b) || (a < b ? -1 : 1);
}
