/**
 * The program compiled, for tests that need a process of it. Compiles once per content of src/ into the system's
 * temporary directory; test files that ask at the same time share one compilation. TANCHO_TEST_DIST names a program that is
 * compiled already.
 */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cp, mkdtemp, readFile, readdir, rename, rm, stat, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { isThere } from '../../src/lib/is-there.ts';

const run = promisify(execFile);
const ROOT = resolve(fileURLToPath(new URL('../..', import.meta.url)));
const PROJECTS = ['tsconfig.build.json', 'tsconfig.dashboard.json'];
const PREFIX = 'tancho-built-';
const NOT_LINKED = new Set(['src', 'dist', 'test', 'bench', '.git']);
const COMPILE_MS = 120_000;
/** Older compilations of other contents are removed. */
const KEEP_MS = 3_600_000;

let building: Promise<string> | null = null;

/**
 * The directory that equals dist/: `join(await builtProgram(), 'edge/main.js')` is the edge. What lies beside dist/ in
 * the project (package.json, platforms/, node_modules/, ...) is linked beside it. TANCHO_TEST_DIST names a compilation
 * that is there already.
 */
export function builtProgram(): Promise<string> {
  const given = process.env['TANCHO_TEST_DIST'] ?? '';
  building ??= given === '' ? build() : Promise.resolve(given);
  return building;
}

async function build(): Promise<string> {
  const given = process.env['TANCHO_TEST_DIST'];
  if (given !== undefined) return given;
  const target = join(tmpdir(), PREFIX + (await contentKey()));
  if (!(await isThere(join(target, 'dist')))) await compileInto(target);
  await removeOld(target);
  return join(target, 'dist');
}

/** Compiles beside the target and moves it there in one step: whoever is second finds the first one's work. */
async function compileInto(target: string): Promise<void> {
  const temporary = await mkdtemp(`${target}.`);
  try {
    await compile(ROOT, join(temporary, 'dist'));
    for (const name of await readdir(ROOT)) {
      if (!NOT_LINKED.has(name)) await symlink(join(ROOT, name), join(temporary, name));
    }
    await rename(temporary, target);
  } catch (error) {
    await rm(temporary, { recursive: true, force: true });
    if (!(await isThere(join(target, 'dist')))) throw error;
  }
}

/** `root`: of a project, with its node_modules/. */
export async function compile(root: string, dist: string): Promise<void> {
  const tsc = join(ROOT, 'node_modules/.bin/tsc');
  for (const project of PROJECTS) {
    // Types are checked elsewhere.
    const once = ['--incremental', 'false', '--tsBuildInfoFile', 'null', '--noCheck'];
    await run(tsc, ['-p', join(root, project), '--outDir', dist, ...once], { timeout: COMPILE_MS });
  }
  await cp(join(root, 'src/dashboard/style'), join(dist, 'dashboard/style'), { recursive: true });
}

async function contentKey(): Promise<string> {
  const hash = createHash('sha256').update(ROOT).update(process.version);
  const files = ['tsconfig.json', ...PROJECTS];
  for (const entry of await readdir(join(ROOT, 'src'), { recursive: true })) {
    if (/\.(?:tsx?|css|svg)$/.test(entry) && !entry.endsWith('.test.ts')) files.push(join('src', entry));
  }
  for (const file of files.sort()) hash.update(`${file}\0`).update(await readFile(join(ROOT, file)));
  return hash.digest('hex').slice(0, 20);
}

async function removeOld(kept: string): Promise<void> {
  for (const name of await readdir(tmpdir())) {
    const path = join(tmpdir(), name);
    if (!name.startsWith(PREFIX) || path === kept) continue;
    const { mtimeMs } = await stat(path).catch(() => ({ mtimeMs: Number.POSITIVE_INFINITY }));
    if (Date.now() - mtimeMs > KEEP_MS) await rm(path, { recursive: true, force: true });
  }
}
