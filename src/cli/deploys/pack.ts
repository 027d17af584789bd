/** The files of a deploy: found (what git ignores, and what ignore files name, stays), then packed as they are read. */
import { execFile } from 'node:child_process';
import { lstat, readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { Readable } from 'node:stream';
import { CliError } from '../errors.ts';
import { IGNORE_FILES, type Ignores, ignoreRules } from './ignore-rules.ts';

interface Packed {
  /** Relative to the directory that becomes the top of the archive. */
  readonly files: readonly string[];
  /** A tar file, gzipped; to be read once. */
  readonly archive: Readable;
}

const WHY_UNREAD: Readonly<Record<string, string>> = {
  EACCES: 'this user may not read it',
  ENOENT: 'it was removed meanwhile',
};
const MAX_LISTING_BYTES = 64 * 1024 * 1024;

/** One directory becomes the top of the archive; several paths lie in it as they lie in `cwd`. Throws CliError. */
export async function pack(cwd: string, paths: readonly string[]): Promise<Packed> {
  const [only = '.'] = paths;
  const found = await Promise.all(paths.map((given) => factsOf(cwd, given)));
  const isWhole = paths.length === 1 && found[0]?.isDirectory() === true;
  const top = isWhole ? path.resolve(cwd, only) : path.resolve(cwd);
  const wanted = isWhole ? ['.'] : paths.map((given) => inside(top, given));
  const ignores = await ignoresOf(top);
  const all = (await filesOfGit(top, wanted)) ?? (await filesBelow(top, wanted, ignores));
  const files = await present(top, [...new Set(all)].sort(), ignores);
  if (files.length === 0) {
    throw new CliError('There is no file to deploy.', 'Name the directory of the app, and look at .gitignore.');
  }
  const { create } = await import('tar');
  // With "./" in front no name is taken for an option of the packer.
  const names = files.map((file) => `./${file}`);
  // One at a time: with more under way tar never ends where the last is another name of a file beside it.
  const how = { gzip: true, cwd: top, portable: true, noDirRecurse: true, strict: true, jobs: 1 };
  const archive = create(how, names);
  return { files, archive: Readable.from(worded(archive as unknown as AsyncIterable<Buffer>), { objectMode: false }) };
}

/** Not by the words of the connection that it is sent over. */
async function* worded(archive: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  try {
    yield* archive;
  } catch (error) {
    const { code = '', path: file = '', message } = error as NodeJS.ErrnoException;
    const why = WHY_UNREAD[code] ?? message;
    throw new CliError(
      `${file === '' ? 'A file' : file} cannot be packed: ${why}.`,
      'Mend that, or name it in .gitignore, and deploy again.',
    );
  }
}

async function factsOf(cwd: string, given: string) {
  try {
    return await lstat(path.resolve(cwd, given));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    throw new CliError(`There is no file or directory "${given}".`, 'For the current directory: tancho deploy .');
  }
}

function inside(top: string, given: string): string {
  const relative = path.relative(top, path.resolve(top, given));
  if (relative !== '' && !relative.startsWith('..') && !path.isAbsolute(relative)) return relative;
  throw new CliError(`"${given}" is not below the current directory.`, 'Change to the directory of the app first.');
}

async function ignoresOf(top: string): Promise<Ignores> {
  for (const name of IGNORE_FILES) {
    const text = await readFile(path.join(top, name), 'utf8').catch(() => null);
    if (text !== null) return ignoreRules(text);
  }
  return () => false;
}

/** What git tracks, in submodules too, or would add; null outside of a work tree. */
async function filesOfGit(top: string, wanted: readonly string[]): Promise<string[] | null> {
  const own = await listedByGit(top, ['--cached', '--others', '--exclude-standard', '--', ...wanted]);
  if (own === null) return null;
  // Of submodules git lists only what it tracks.
  return [...own, ...((await listedByGit(top, ['--cached', '--recurse-submodules', '--', ...wanted])) ?? [])];
}

function listedByGit(top: string, args: readonly string[]): Promise<string[] | null> {
  return new Promise((resolve) => {
    const options = { cwd: top, maxBuffer: MAX_LISTING_BYTES, timeout: 60_000 };
    execFile('git', ['ls-files', '-z', ...args], options, (error, stdout) => {
      resolve(error === null ? stdout.split('\0').filter((name) => name !== '') : null);
    });
  });
}

async function filesBelow(top: string, wanted: readonly string[], ignores: Ignores): Promise<string[]> {
  const found: string[] = [];
  const visit = async (name: string): Promise<void> => {
    for (const entry of await readdir(path.join(top, name), { withFileTypes: true })) {
      const below = name === '.' ? entry.name : `${name}/${entry.name}`;
      if (entry.name === '.git') continue;
      if (!entry.isDirectory()) found.push(below);
      else if (!ignores(below, true)) await visit(below);
    }
  };
  for (const name of wanted) {
    if (name === '.' || (await lstat(path.join(top, name))).isDirectory()) await visit(name);
    else found.push(name);
  }
  return found;
}

/** Without what is ignored here, what git knows but is deleted, submodules that are not checked out, and what is no file. */
async function present(top: string, names: readonly string[], ignores: Ignores): Promise<string[]> {
  const kept: string[] = [];
  for (const name of names) {
    const parts = name.split('/');
    const isIgnored = parts.some((_, at) => ignores(parts.slice(0, at + 1).join('/'), at < parts.length - 1));
    if (isIgnored || parts.includes('.git')) continue;
    const facts = await lstat(path.join(top, name)).catch(() => null);
    if (facts !== null && (facts.isFile() || facts.isSymbolicLink())) kept.push(name);
  }
  return kept;
}
