/** Finds what an app keeps in files beside its code although these go with the unit: databases, uploads. */
import type { Dirent } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';

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
      for (const entry of await entriesOf(join(directory, below))) {
        seen += 1;
        if (seen > MOST_ENTRIES || found.length >= MOST) return found.sort();
        const name = below === '' ? entry.name : `${below}/${entry.name}`;
        if (entry.isFile() && DATABASE.test(entry.name)) found.push(name);
        if (!entry.isDirectory() || NO_DATA.test(entry.name)) continue;
        if (UPLOADS.test(entry.name) && (await entriesOf(join(directory, name))).length > 0) found.push(`${name}/`);
        else next.push(name);
      }
    }
    level = next;
  }
  return found.sort();
}

/** An app may remove a directory, or close it, while it is looked at. */
async function entriesOf(directory: string): Promise<Dirent[]> {
  return readdir(directory, { withFileTypes: true }).catch(() => []);
}
