/** Does the lock file fit package.json? Package managers refuse to install otherwise, after they have begun. */
import { satisfies, valid, validRange } from 'semver';
import { isRecord } from '../../../lib/is-record.ts';
import type { PlanProblem } from '../../build-plan.ts';
import type { SourceFiles } from '../../source/source-files.ts';
import { MAX_RANGE } from '../../versions.ts';
import type { PackageJson } from './package-json.ts';
import type { PackageManager } from './package-manager.ts';

/** Cannot be read here. */
const BINARY = 'bun.lockb';
/** What is longer says nothing of what is asked for, and expressions go over it again and again. */
const MAX_LINE = 2_000;

interface Misfit {
  readonly name: string;
  readonly wanted: string;
  /** What the lock file has; null: nothing. */
  readonly has: string | null;
}

/** Null when it fits, or when that cannot be decided without the package manager. Throws Failure `invalid_config`. */
export async function lockProblem(
  files: SourceFiles,
  packageJson: PackageJson,
  { program, kind, lock }: PackageManager,
): Promise<PlanProblem | null> {
  // These change what is locked for a range.
  if (lock === null || packageJson.has('overrides', 'resolutions', 'pnpm.overrides', 'workspaces')) return null;
  const text = program === 'npm' || lock === BINARY ? '' : ((await files.text(lock)) ?? '');
  const misfit = kind === 'npm' ? npmMisfit(await files.json(lock), packageJson) : MISFITS[kind](text, packageJson);
  if (misfit === null) return null;
  const { name, wanted, has } = misfit;
  const line = await files.findLine(
    'package.json',
    new RegExp(`"${name.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')}"\\s*:`),
  );
  const where = line === null ? 'package.json' : `package.json line ${line.line}`;
  return {
    cause: 'invalid_config',
    message: `${lock} does not fit package.json: ${where} asks for ${name} ${wanted}, and ${has === null ? 'it is not locked' : `${has} is locked`}.`,
    hint: `Run "${program} install" in the app, commit ${lock} and push again.`,
  };
}

const MISFITS: Record<
  Exclude<PackageManager['kind'], 'npm'>,
  (text: string, packageJson: PackageJson) => Misfit | null
> = {
  'yarn-classic': (text, packageJson) => yarnMisfit(text, packageJson, (name, range) => `${name}@${range}`),
  'yarn-berry': (text, packageJson) => yarnMisfit(text, packageJson, (name, range) => `${name}@npm:${range}`),
  pnpm: pnpmMisfit,
  bun: bunMisfit,
};

/** Under `importers`, `.`, each package is followed by the range that was asked for. */
function pnpmMisfit(text: string, packageJson: PackageJson): Misfit | null {
  const all = linesOf(text);
  // From 11 on another document may come before it, of what pnpm itself is installed with.
  const lines = all.slice(all.findLastIndex((line) => /^---\s*$/.test(line)) + 1);
  // These change what is locked for a range, wherever they are written.
  if (lines.some((line) => /^(?:overrides|pnpmfileChecksum):/.test(line))) return null;
  const start = lines.findIndex((line) => /^\s{2}(?:\.|'\.'):\s*$/.test(line));
  if (start === -1 || !lines.slice(0, start).includes('importers:')) return null;
  const asked = new Map<string, string>();
  let name = '';
  for (const line of lines.slice(start + 1)) {
    if (/^\s{0,2}\S/.test(line)) break;
    name = /^\s{6}'?([^\s':][^':]*)'?:\s*$/.exec(line)?.[1] ?? name;
    const range = /^\s{8}specifier:\s*(.*?)\s*$/.exec(line)?.[1];
    if (range !== undefined) asked.set(name, range.replace(/^(['"])(.*)\1$/, '$2'));
  }
  return firstMisfit(packageJson, asked);
}

/** A version that is locked and fits is good, whatever was asked for when it was: bun goes on by it. */
function bunMisfit(text: string, packageJson: PackageJson): Misfit | null {
  const misfits = misfitsOf(packageJson, bunAsked(text));
  return misfits.find((misfit) => !isLocked(misfit, text)) ?? null;
}

/** bun.lock was written for another package.json, though its versions fit: bun has to write it anew. */
export async function isBunLockStale(
  files: SourceFiles,
  packageJson: PackageJson,
  { kind, lock }: PackageManager,
): Promise<boolean> {
  if (kind !== 'bun' || lock === null || lock === BINARY || packageJson.has('overrides', 'workspaces')) return false;
  return misfitsOf(packageJson, bunAsked((await files.text(lock)) ?? '')).length > 0;
}

/** JSON with commas behind the last values. Null when it does not say. */
function bunAsked(text: string): Map<string, string> | null {
  const lines = linesOf(text);
  const start = lines.findIndex((line) => /^\s{4}"":\s*\{/.test(line));
  if (start === -1) return null;
  const asked = new Map<string, string>();
  for (const line of lines.slice(start + 1)) {
    if (/^\s{4}\}/.test(line)) break;
    const [, name, range] = /^\s{8}"([^"]+)":\s*"([^"]*)",?\s*$/.exec(line) ?? [];
    if (name !== undefined && range !== undefined) asked.set(name, range);
  }
  return asked;
}

function linesOf(text: string): string[] {
  return text.split(/\r?\n/).map((line) => line.slice(0, MAX_LINE));
}

/** `"express": ["express@5.1.0", ...` in the list of packages. */
function isLocked({ name, wanted }: Misfit, text: string): boolean {
  const begin = `    "${name}": ["${name}@`;
  const line = text.split(/\r?\n/).find((each) => each.startsWith(begin)) ?? '';
  const version = /^[^"]*/.exec(line.slice(begin.length, begin.length + MAX_RANGE))?.[0] ?? '';
  return valid(version) !== null && satisfies(version, wanted, { includePrerelease: true });
}

function firstMisfit(packageJson: PackageJson, asked: ReadonlyMap<string, string>): Misfit | null {
  return misfitsOf(packageJson, asked)[0] ?? null;
}

function misfitsOf(packageJson: PackageJson, asked: ReadonlyMap<string, string> | null): Misfit[] {
  if (asked === null) return [];
  return wantedOf(packageJson).flatMap(([name, wanted]) => {
    const has = asked.get(name) ?? null;
    return has === wanted ? [] : [{ name, wanted, has }];
  });
}

function npmMisfit(lock: unknown, packageJson: PackageJson): Misfit | null {
  if (!isRecord(lock)) return null;
  const [table, prefix] = isRecord(lock['packages']) ? [lock['packages'], 'node_modules/'] : [lock['dependencies'], ''];
  if (!isRecord(table)) return null;
  for (const [name, wanted] of wantedOf(packageJson)) {
    const locked = table[`${prefix}${name}`];
    if (locked === undefined) return { name, wanted, has: null };
    const version = isRecord(locked) && locked['link'] !== true ? locked['version'] : undefined;
    if (typeof version !== 'string' || valid(version) === null || wanted.length > MAX_RANGE) continue;
    const range = validRange(wanted);
    if (range !== null && !satisfies(version, range, { includePrerelease: true }))
      return { name, wanted, has: version };
  }
  return null;
}

/** Its entries are named by what was asked for: `express@^5.0.0`. */
function yarnMisfit(
  text: string,
  packageJson: PackageJson,
  entry: (name: string, range: string) => string,
): Misfit | null {
  const locked = new Set<string>();
  for (const line of text.split(/\r?\n/)) {
    if (!/^["\w@]/.test(line)) continue;
    for (const name of line.replace(/:\s*$/, '').split(/,\s*/)) locked.add(name.replaceAll('"', ''));
  }
  if (locked.size === 0) return null;
  for (const [name, wanted] of wantedOf(packageJson)) {
    if (!locked.has(entry(name, wanted))) return { name, wanted, has: null };
  }
  return null;
}

/** Those that come from a registry. */
function wantedOf({ dependencies, devDependencies }: PackageJson): [string, string][] {
  const all = [...Object.entries(dependencies), ...Object.entries(devDependencies)];
  return all.filter(([, range]) => validRange(range.slice(0, MAX_RANGE)) !== null && range.trim() !== '');
}
