/** Finds what an app keeps in files beside its code although these go with the unit: databases, uploads. */
import type { Dirent } from 'node:fs';
import { opendir } from 'node:fs/promises';
import { join } from 'node:path';
import { isEmpty } from '../../../lib/is-empty.ts';

const DATABASE = /\.(?:sqlite3?|db|rdb|mdb|realm)$/i;
const UPLOADS = /^(?:uploads?|media|storage|attachments)$/i;
/** What frameworks keep for themselves and make anew. */
const NO_DATA = /^(?:node_modules|\.\w.*|__pycache__|tmp|temp|cache|logs?|run|vendor)$/i;
const DEEPEST = 3;
const MOST_ENTRIES = 2_000;
const MOST = 5;

/** Paths relative to `directory`, sorted; at most five, of at most so many entries looked at. */
export async function writtenData(directory: string): Promise<string[]> {
  const found: string[] = [];
  let seen = 0;
  let level = [''];
  for (let depth = 0; depth < DEEPEST && level.length > 0; depth++) {
    const next: string[] = [];
    for (const below of level) {
      for await (const entry of entriesOf(join(directory, below))) {
        seen += 1;
        if (seen > MOST_ENTRIES || found.length >= MOST) return found.sort();
        const name = below === '' ? entry.name : `${below}/${entry.name}`;
        if (entry.isFile() && DATABASE.test(entry.name)) found.push(name);
        if (!entry.isDirectory() || NO_DATA.test(entry.name)) continue;
        if (UPLOADS.test(entry.name) && (await hasEntries(join(directory, name)))) found.push(`${name}/`);
        else next.push(name);
      }
    }
    level = next;
  }
  return found.sort();
}

/** One by one: there may be a million. An app may remove a directory, or close it, while it is looked at. */
async function* entriesOf(directory: string): AsyncGenerator<Dirent> {
  try {
    yield* await opendir(directory);
  } catch {
    // What was found until then counts.
  }
}

async function hasEntries(directory: string): Promise<boolean> {
  return !(await isEmpty(directory).catch(() => true));
}
