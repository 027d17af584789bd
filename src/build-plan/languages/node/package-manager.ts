/** Which package manager installs, and in which version: the one whose lock file is there. */
import { valid, validRange } from 'semver';
import type { WantedVersion } from '../../build-plan.ts';
import type { SourceFiles } from '../../source/source-files.ts';
import { askedManager, developerManagers, isNpmRefused, within } from './manager-version.ts';
import type { PackageJson } from './package-json.ts';

export interface PackageManager {
  readonly kind: 'npm' | 'yarn-classic' | 'yarn-berry' | 'pnpm' | 'bun';
  readonly program: 'npm' | 'yarn' | 'pnpm' | 'bun';
  /** Packages stay in archives, in which a loader finds them (yarn's Plug'n'Play). */
  readonly isPnp: boolean;
  /** npm is there and refuses to run anything of this app. */
  readonly isNpmRefused: boolean;
  /** For people: `npm`, `yarn 4`. */
  readonly title: string;
  /** Its lock file; null: there is none. */
  readonly lock: string | null;
  readonly wanted: WantedVersion | null;
  readonly notes: readonly string[];
}

type Program = PackageManager['program'];

const LOCKS: readonly (readonly [Program, readonly string[]])[] = [
  ['npm', ['package-lock.json', 'npm-shrinkwrap.json']],
  ['pnpm', ['pnpm-lock.yaml']],
  ['yarn', ['yarn.lock']],
  ['bun', ['bun.lock', 'bun.lockb']],
];

export async function packageManager(files: SourceFiles, packageJson: PackageJson): Promise<PackageManager> {
  const notes: string[] = [];
  const locks: { program: Program; lock: string }[] = [];
  for (const [program, names] of LOCKS) {
    const lock = await files.find(...names);
    if (lock !== null) locks.push({ program, lock });
  }
  const named = namedManager(packageJson);
  const chosen = locks.find(({ program }) => program === named?.program) ?? locks[0];
  const bunSign = chosen === undefined && named === null ? await signOfBun(files, packageJson) : null;
  if (bunSign !== null) notes.push(`There is no lock file; bun is used, for ${bunSign}`);
  const program = chosen?.program ?? named?.program ?? (bunSign === null ? 'npm' : 'bun');
  const lock = chosen?.lock ?? null;
  if (locks.length > 1) {
    notes.push(`${locks.map((each) => each.lock).join(' and ')} are both there: ${program} is used; remove the others`);
  }
  const parts = { title: program, lock, notes, isPnp: false, isNpmRefused: isNpmRefused(packageJson) };
  // npm comes with Node.
  if (program === 'npm') return { ...parts, kind: 'npm', program, wanted: null };
  const version = named?.program === program ? named.wanted : null;
  const ofLock = version === null ? await lockVersion(files, program, lock) : null;
  const wanted = version ?? within(await askedManager(files, packageJson, program), ofLock);
  if (program === 'bun') return { ...parts, kind: 'bun', program, wanted };
  if (program === 'pnpm') return { ...parts, kind: 'pnpm', program, wanted };
  if (!(await isYarnBerry(files, wanted))) return { ...parts, kind: 'yarn-classic', program, wanted };
  return { ...parts, kind: 'yarn-berry', program, wanted, isPnp: await asksForPnp(files) };
}

async function lockVersion(files: SourceFiles, program: Program, lock: string | null): Promise<WantedVersion | null> {
  if (program === 'bun') return bunOfFile(files);
  return program === 'pnpm' ? pnpmOfLock(files, lock) : yarnOfLock(files);
}

/** What bun itself writes, where it starts an app, leaves no doubt. */
async function signOfBun(files: SourceFiles, { wants, scripts }: PackageJson): Promise<string | null> {
  if (await files.exists('bunfig.toml')) return 'there is bunfig.toml';
  const types = ['@types/bun', 'bun-types'].find(wants);
  if (types !== undefined) return `package.json asks for ${types}`;
  const isDeveloped = (scripts['start'] ?? '') === '' && /^\s*bunx?\s/.test(scripts['dev'] ?? '');
  return isDeveloped ? 'scripts.dev in package.json calls it' : null;
}

/** Where nothing says so, the packages are unpacked, which every program understands. */
async function asksForPnp(files: SourceFiles): Promise<boolean> {
  const linker = (await files.findLine('.yarnrc.yml', /^nodeLinker:\s*["']?([\w-]+)/))?.match[1];
  return linker === undefined ? files.exists('.pnp.cjs') : linker === 'pnp';
}

async function bunOfFile(files: SourceFiles): Promise<WantedVersion | null> {
  const text = (await files.findLine('.bun-version', /^\s*v?([\d.]+)/))?.match[1] ?? null;
  const range = text === null ? null : validRange(text);
  return text === null || range === null ? null : { range, text, from: '.bun-version' };
}

/** `packageManager`: `yarn@4.1.0`, with a hash behind it or not; else the first of devEngines, whose version may be a range. */
function namedManager(packageJson: PackageJson): { program: Program; wanted: WantedVersion | null } | null {
  const [, program, version = ''] =
    /^(npm|yarn|pnpm|bun)@([^+\s]{1,80})/.exec(packageJson.text('packageManager') ?? '') ?? [];
  if (program === undefined) {
    const names = developerManagers(packageJson).map(({ name }) => name);
    const first = LOCKS.find(([each]) => each === names[0]);
    return first === undefined ? null : { program: first[0], wanted: null };
  }
  const range = validRange(version);
  const wanted = range === null ? null : { range, text: version, from: 'packageManager in package.json' };
  return { program: program as Program, wanted };
}

/** The oldest pnpm that reads the lock file without rewriting it would do; the newest of that line is taken. */
async function pnpmOfLock(files: SourceFiles, lock: string | null): Promise<WantedVersion | null> {
  const found = lock === null ? null : await files.findLine(lock, /^lockfileVersion:\s*['"]?(\d+)(?:\.(\d+))?/);
  if (lock === null || found === null) return null;
  // Older ones do not read a lock file of two documents.
  if (await files.hasLine(lock, /^---\s*$/)) return { range: '>=11', text: 'two documents', from: lock };
  const [, major, minor = '0'] = found.match;
  const range = major === '5' ? (Number(minor) >= 4 ? '7' : '6') : major === '6' ? '8' : '9 || 10';
  return { range, text: `lockfileVersion ${major}.${minor}`, from: lock };
}

async function yarnOfLock(files: SourceFiles): Promise<WantedVersion | null> {
  if (!(await files.exists('yarn.lock'))) return null;
  const metadata = await files.findLine('yarn.lock', /^__metadata:/);
  if (metadata === null) return null;
  const version = Number((await files.findLine('yarn.lock', /^\s{2}version: (\d+)/))?.match[1] ?? 8);
  const range = version <= 5 ? '2' : version <= 7 ? '3' : '4';
  return { range, text: `lock file version ${version}`, from: 'yarn.lock' };
}

async function isYarnBerry(files: SourceFiles, wanted: WantedVersion | null): Promise<boolean> {
  if (wanted?.from.startsWith('packageManager') === true && valid(wanted.text) !== null)
    return !wanted.text.startsWith('1.');
  return (await files.exists('.yarnrc.yml')) || (await files.hasLine('yarn.lock', /^__metadata:/));
}
