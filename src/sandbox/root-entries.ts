/** What stands at the top of a root file system: each is put into the sandbox by itself. */
import type { Dirent } from 'node:fs';
import { readdir, readlink } from 'node:fs/promises';
import { join } from 'node:path';

export interface RootEntry {
  readonly name: string;
  /** Of a link, as it is written; null for files and directories. */
  readonly target: string | null;
}

/** By name. Nobody inside a sandbox can change them. */
export async function rootEntries(directory: string): Promise<RootEntry[]> {
  const found = await readdir(directory, { withFileTypes: true });
  const wanted = found.filter((entry) => entry.isDirectory() || entry.isFile() || entry.isSymbolicLink());
  const entries = wanted.map(async (entry) => ({ name: entry.name, target: await targetOf(directory, entry) }));
  return (await Promise.all(entries)).sort((a, b) => (a.name < b.name ? -1 : 1));
}

async function targetOf(directory: string, entry: Dirent): Promise<string | null> {
  return entry.isSymbolicLink() ? readlink(join(directory, entry.name)) : null;
}
