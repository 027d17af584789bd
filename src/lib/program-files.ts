/**
 * A built program as the files it is made of: the entry and whatever it imports, directly or not. Distinguishes one build from another,
 * and makes a copy that later builds in the same place do not touch.
 */
import { createHash } from 'node:crypto';
import { chmod, mkdir, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join, relative, resolve } from 'node:path';
import { isThere } from './is-there.ts';

interface ProgramFiles {
  /** By path relative to the root. */
  readonly files: ReadonlyMap<string, Buffer>;
  /** Of all names and contents, 24 hexadecimal digits. */
  readonly hash: string;
}

const IMPORT =
  /^\s*(?:import|export)\s[^'"]*?from\s+['"](\.[^'"]+)['"]|^\s*import\s+['"](\.[^'"]+)['"]|\bimport\(\s*['"](\.[^'"]+)['"]\s*\)/gm;
const HASH_DIGITS = 24;

/** `entries` are absolute paths of ECMAScript modules below `root` that use nothing but Node and each other's files. */
export async function readProgram(root: string, entries: readonly string[]): Promise<ProgramFiles> {
  const files = new Map<string, Buffer>();
  const known = new Set(entries);
  const read = async (path: string): Promise<void> => {
    const bytes = await readFile(path);
    files.set(relative(root, path), bytes);
    const targets = [...bytes.toString().matchAll(IMPORT)].map((match) => match[1] ?? match[2] ?? match[3] ?? '');
    const found = targets.map((target) => resolve(dirname(path), target)).filter((target) => !known.has(target));
    for (const target of found) known.add(target);
    await Promise.all(found.map(read));
  };
  await Promise.all(entries.map(read));
  const hash = createHash('sha256');
  for (const name of [...files.keys()].sort()) hash.update(`${name}\0`).update(files.get(name) ?? '');
  return { files, hash: hash.digest('hex').slice(0, HASH_DIGITS) };
}

/** Writes the program below `directory`, in a folder of its hash, unless it is there already; resolves with that folder. */
export async function keepProgram(program: ProgramFiles, directory: string): Promise<string> {
  const target = join(directory, program.hash);
  if (await isThere(target)) return target;
  await readable(directory);
  const draft = await mkdtemp(`${target}.`);
  try {
    const all = new Map([['package.json', Buffer.from('{ "type": "module" }\n')], ...program.files]);
    const folders = new Set([...all.keys()].flatMap(foldersOf));
    for (const folder of ['.', ...folders]) await readable(join(draft, folder));
    const writing = [...all].map(([name, bytes]) => writeReadable(join(draft, name), bytes));
    // One that goes on could not be removed.
    await Promise.allSettled(writing);
    await Promise.all(writing);
    await rename(draft, target);
  } catch (error) {
    await rm(draft, { recursive: true, force: true });
    if (!(await isThere(target))) throw error;
  }
  return target;
}

/** By everybody, whatever the mask of this process says: who runs it may be another user. */
async function readable(directory: string): Promise<void> {
  await mkdir(directory, { recursive: true });
  await chmod(directory, 0o755);
}

async function writeReadable(path: string, bytes: Buffer): Promise<void> {
  await writeFile(path, bytes);
  await chmod(path, 0o644);
}

/** `a/b/c.js` -> `a`, `a/b`: those above come first. */
function foldersOf(name: string): string[] {
  const parent = dirname(name);
  return parent === '.' ? [] : [...foldersOf(parent), parent];
}
