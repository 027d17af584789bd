/** Does the lock file fit package.json? Package managers refuse to install otherwise, after they have begun. */
import { satisfies, valid, validRange } from 'semver';
import { isRecord } from '../../../lib/is-record.ts';
import type { Problem } from '../../build-plan.ts';
import type { SourceFiles } from '../../source/source-files.ts';
import { MAX_RANGE } from '../../versions.ts';
import type { PackageJson } from './package-json.ts';
import type { PackageManager } from './package-manager.ts';

interface Misfit {
  readonly name: string;
  readonly wanted: string;
  /** What the lock file has; null: nothing. */
  readonly has: string | null;
}

/** Null when it fits, or when that cannot be told without the package manager. Throws Failure `invalid_config`. */
export async function lockProblem(
  files: SourceFiles,
  packageJson: PackageJson,
  { program, kind, lock }: PackageManager,
): Promise<Problem | null> {
  // These change what is locked for a range.
  if (lock === null || packageJson.has('overrides', 'resolutions', 'pnpm.overrides', 'workspaces')) return null;
  const misfit =
    program === 'npm'
      ? npmMisfit(await files.json(lock), packageJson)
      : kind === 'yarn-classic'
        ? yarnMisfit((await files.text(lock)) ?? '', packageJson)
        : null;
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
function yarnMisfit(text: string, packageJson: PackageJson): Misfit | null {
  const locked = new Set<string>();
  for (const line of text.split(/\r?\n/)) {
    if (!/^["\w@]/.test(line)) continue;
    for (const name of line.replace(/:\s*$/, '').split(/,\s*/)) locked.add(name.replaceAll('"', ''));
  }
  if (locked.size === 0) return null;
  for (const [name, wanted] of wantedOf(packageJson)) {
    if (!locked.has(`${name}@${wanted}`)) return { name, wanted, has: null };
  }
  return null;
}

/** Those that come from a registry. */
function wantedOf({ dependencies, devDependencies }: PackageJson): [string, string][] {
  const all = [...Object.entries(dependencies), ...Object.entries(devDependencies)];
  return all.filter(([, range]) => validRange(range.slice(0, MAX_RANGE)) !== null && range.trim() !== '');
}
