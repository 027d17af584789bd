/**
 * What has to be in place before anything of ours can run: git, the dependencies, the build. Plain JavaScript without
 * dependencies, because it runs on a fresh clone. When nothing is to be done it takes a few milliseconds.
 */
import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, lstatSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('..', import.meta.url));
/** What was installed, and built, last. */
const INSTALLED = 'node_modules/.tancho-installed';
const BUILT = 'dist/.stamp';
/** What the compiler knows of the check before. */
const CHECKED = 'node_modules/.cache/types.tsbuildinfo';

/** An expected failure: reported without a stack. */
export class SetupError extends Error {
  constructor(message, hint, output = '') {
    super(message);
    this.hint = hint;
    this.output = output;
  }
}

export function reportAndExit(error) {
  if (error instanceof SetupError) {
    if (error.output !== '') process.stderr.write(`${error.output.trimEnd()}\n`);
    process.stderr.write(`Error: ${error.message}\n  Hint: ${error.hint}\n`);
  } else {
    process.stderr.write(`${error?.stack ?? error}\n`);
  }
  process.exit(1);
}

export function checkTools() {
  const git = spawnSync('git', ['--version'], { encoding: 'utf8' });
  if (git.status !== 0) {
    throw new SetupError('git is not installed.', 'Install git (for example: apt install git) and try again.');
  }
}

/** Nothing to install, nothing to build. */
export function isPrepared() {
  return read(INSTALLED) === hash(read('package-lock.json')) && read(BUILT) === hash(fingerprint());
}

/** One at a time: two that install or build in the same clone would pull the files away from under each other. */
export async function alone(work) {
  const lock = join(root, '.tancho-preparing');
  for (let told = false; !takeLock(lock);) {
    if (!told) process.stderr.write('Waiting for another one that installs or builds here ...\n');
    told = true;
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  const release = () => rmSync(lock, { force: true });
  process.once('exit', release);
  try {
    return await work();
  } finally {
    release();
    process.off('exit', release);
  }
}

/** The lock holds the process that has it; one whose process is gone counts for nothing. */
function takeLock(lock) {
  try {
    writeFileSync(lock, String(process.pid), { flag: 'wx' });
    return true;
  } catch (error) {
    if (error.code !== 'EEXIST') throw error;
  }
  const holder = Number(read('.tancho-preparing') ?? 0);
  // Empty: whoever has made it just now has not written yet, or was killed before.
  const age = Date.now() - (statSync(lock, { throwIfNoEntry: false })?.mtimeMs ?? Date.now());
  if (holder > 0 ? isAlive(holder) : age < 2_000) return false;
  rmSync(lock, { force: true });
  return takeLock(lock);
}

function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === 'EPERM';
  }
}

/** `npm ci`, when node_modules is missing or does not match package-lock.json. */
export async function ensureInstalled() {
  const lock = read('package-lock.json');
  const wanted = hash(lock);
  if (read(INSTALLED) === wanted) return;
  const isLink = lstatSync(join(root, 'node_modules'), { throwIfNoEntry: false })?.isSymbolicLink() === true;
  if (!matchesInstalled(lock)) {
    if (isLink) {
      throw new SetupError(
        'node_modules is a link to a folder that does not match package-lock.json.',
        'Run npm ci where it points to, or remove the link.',
      );
    }
    await step('Installing dependencies', [...npmCommand(), 'ci', '--no-audit', '--no-fund', '--loglevel=error'], {
      env: { ...process.env, NODE_ENV: 'development' },
      hint: 'Check the network and the npm registry, then try again.',
    });
  }
  if (!isLink) write(INSTALLED, wanted);
}

/** The npm that has called this, else the one on the path. */
export function npmCommand() {
  const npm = process.env.npm_execpath;
  return npm?.endsWith('.js') ? [process.execPath, npm] : ['npm'];
}

/** Compares the lockfile with the one npm leaves inside node_modules: somebody may have run npm ci by hand. */
function matchesInstalled(lock) {
  const installed = read('node_modules/.package-lock.json');
  if (installed === null) return false;
  const there = JSON.parse(installed).packages ?? {};
  return Object.entries(JSON.parse(lock).packages).every(
    ([path, entry]) =>
      path === '' || (there[path] === undefined ? entry.optional === true : there[path].version === entry.version),
  );
}

/** `tsc`, when a source is newer or other than what dist was made from. `isUnchecked`: types are looked at by checkTypes(), meanwhile or later. */
export async function ensureBuilt({ isUnchecked = false } = {}) {
  const wanted = hash(fingerprint());
  if (read(BUILT) === wanted) return;
  await buildAll(isUnchecked ? ['--noCheck'] : []);
  write(BUILT, wanted);
}

export async function buildAll(flags = []) {
  await compile('Building', 'tsconfig.build.json', flags);
  await compile('Building the dashboard', 'tsconfig.dashboard.json', flags);
  cpSync(join(root, 'src/dashboard/style'), join(root, 'dist/dashboard/style'), { recursive: true });
}

/**
 * `isQuiet`: beside something else, which prints and takes all processors; one thread has a quarter less to do than several. What was built without a
 * check, and has mistakes, is built anew.
 */
export async function checkTypes({ isQuiet = false } = {}) {
  const beside = isQuiet ? ['--singleThreaded'] : [];
  try {
    const flags = ['--incremental', '--tsBuildInfoFile', CHECKED, ...beside];
    await compile('Checking types', 'tsconfig.json', flags, { isQuiet });
    await compile('Checking the types of the dashboard', 'tsconfig.dashboard.json', ['--noEmit', ...beside], {
      isQuiet,
    });
  } catch (error) {
    rmSync(join(root, BUILT), { force: true });
    throw error;
  }
}

export function compile(label, project, flags = [], { isQuiet = false } = {}) {
  const tsc = join(root, 'node_modules', 'typescript', 'bin', 'tsc');
  return step(label, [process.execPath, tsc, '-p', project, ...flags], {
    hint: 'Correct the errors above and try again.',
    isQuiet,
  });
}

/** Path, size and time of every source, and what decides how they are compiled. */
function fingerprint() {
  const files = [
    'tsconfig.json',
    'tsconfig.build.json',
    'tsconfig.dashboard.json',
    'package-lock.json',
    'package.json',
  ];
  for (const entry of readdirSync(join(root, 'src'), { recursive: true, withFileTypes: true })) {
    if (!entry.isFile() || !/\.(?:tsx?|css|svg)$/.test(entry.name) || entry.name.endsWith('.test.ts')) continue;
    files.push(join(entry.parentPath ?? entry.path, entry.name).slice(root.length));
  }
  return files
    .sort()
    .map((file) => {
      const { size, mtimeMs } = statSync(join(root, file));
      return `${file} ${size} ${mtimeMs}`;
    })
    .join('\n');
}

/** Runs a program, says that it is running unless `isQuiet`, and shows its output only when it fails. */
export function step(label, [program, ...args], { hint, env = process.env, cwd = root, isQuiet = false }) {
  const begun = Date.now();
  const seconds = () => `${Math.round((Date.now() - begun) / 1000)}s`;
  const live = process.stderr.isTTY;
  const say = (text) => void (isQuiet || process.stderr.write(text));
  say(live ? `${label} ...` : `${label} ...\n`);
  const ticker = setInterval(
    () => say(live ? `\r\u001b[K${label} ... ${seconds()}` : `${label} ... ${seconds()}\n`),
    live ? 1000 : 10_000,
  );
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    const keep = (chunk) => {
      output = (output + chunk).slice(-100_000);
    };
    child.stdout.setEncoding('utf8').on('data', keep);
    child.stderr.setEncoding('utf8').on('data', keep);
    child.once('error', (error) => {
      clearInterval(ticker);
      reject(new SetupError(`${program} cannot be started (${error.code}).`, 'Is it installed?'));
    });
    child.once('close', (code) => {
      clearInterval(ticker);
      say(live ? `\r\u001b[K${label} ... ${code === 0 ? 'done' : 'failed'} (${seconds()})\n` : '');
      if (code === 0) resolve();
      else reject(new SetupError(`${label} failed.`, hint, output));
    });
  });
}

function hash(text) {
  return createHash('sha256').update(text).digest('hex');
}

function read(path) {
  try {
    return readFileSync(join(root, path), 'utf8');
  } catch (error) {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return null;
    throw error;
  }
}

function write(path, text) {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), text);
}
