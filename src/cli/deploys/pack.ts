/** The files of a deploy: found (what git ignores, and what ignore files name, stays), then packed as they are read. */
import { execFile, type ExecFileException } from 'node:child_process';
import { lstat, readdir, readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import { Readable } from 'node:stream';
import { isThere } from '../../lib/is-there.ts';
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
const LISTING_MS = 60_000;

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

/** What git tracks, in submodules too, or would add; null outside of a work tree. Throws CliError. */
async function filesOfGit(top: string, wanted: readonly string[]): Promise<string[] | null> {
  try {
    const own = await listedByGit(top, ['--cached', '--others', '--exclude-standard', '--', ...wanted]);
    // Of submodules git lists only what it tracks.
    return [...own, ...(await listedByGit(top, ['--cached', '--recurse-submodules', '--', ...wanted]))];
  } catch (error) {
    // Where only git knows what is to stay here, secrets among it, nothing goes without it.
    if (await isBelowGit(top)) throw error;
    return null;
  }
}

function listedByGit(top: string, args: readonly string[]): Promise<string[]> {
  const env = { ...process.env, LC_ALL: 'C' };
  const options = { cwd: top, env, maxBuffer: MAX_LISTING_BYTES, timeout: LISTING_MS };
  return new Promise((resolve, reject) => {
    execFile('git', ['ls-files', '-z', ...args], options, (error, stdout, stderr) => {
      if (error === null) resolve(stdout.split('\0').filter((name) => name !== ''));
      else reject(gitFailed(error, stderr));
    });
  });
}

function gitFailed({ code, killed }: ExecFileException, stderr: string): CliError {
  const said = /^(?:fatal|error): (.+?)\.?$/m.exec(stderr)?.[1];
  const why =
    code === 'ENOENT'
      ? 'git is not installed'
      : (said ?? (killed === true ? 'git takes too long, or lists too much' : `git ends with ${code}`));
  const advice = /git config .*safe\.directory .+/.exec(stderr)?.[0];
  return new CliError(
    `What git ignores here cannot be left out: ${why}.`,
    advice === undefined ? 'Mend that, and deploy again.' : `If you trust this directory: ${advice}`,
  );
}

/** Whether there is a repository here or above, as far as git would look for one: on the same file system. */
async function isBelowGit(top: string): Promise<boolean> {
  const { dev } = await stat(top);
  for (let at = top; (await stat(at)).dev === dev; at = path.dirname(at)) {
    if (await isThere(path.join(at, '.git'))) return true;
    if (at === path.dirname(at)) break;
  }
  return false;
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
