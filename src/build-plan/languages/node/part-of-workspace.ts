/** Installing the packages of one part of a workspace, and of what that is made of, in place of everybody's. */
import { gte, minVersion } from 'semver';
import type { SourceFiles } from '../../source/source-files.ts';
import type { AppPackage } from './app-package.ts';
import type { PackageJson } from './package-json.ts';
import type { PackageManager } from './package-manager.ts';

export interface InstalledPart {
  readonly directory: string;
  /** '' where its package manager does not need it. */
  readonly name: string;
}

/** Others mean something to package managers. */
const DIRECTORY = /^[\w@][\w@./ -]*$/;
const NAME = /^@?[a-z0-9][\w.-]*(?:\/[\w.-]+)?$/i;
/** From which version on the words below mean what they are to mean. */
const SINCE: Readonly<Partial<Record<PackageManager['kind'], string>>> = { pnpm: '8.0.0', 'yarn-berry': '4.0.0' };

/** Null: the whole workspace is installed, for the app is no part of it, its package manager cannot do less, or its build needs more. */
export async function installedPart(
  files: SourceFiles,
  top: PackageJson,
  manager: PackageManager,
  { directory, members }: AppPackage,
): Promise<InstalledPart | null> {
  const member = directory === '' ? undefined : members?.find((each) => each.directory === directory);
  if (member === undefined || !DIRECTORY.test(directory) || !canInstallParts(manager)) return null;
  const { name } = member;
  if (manager.kind === 'yarn-berry') {
    const isOne = members?.filter((each) => each.name === name).length === 1;
    if (!isOne || ![name, top.text('name') ?? ''].every((each) => NAME.test(each))) return null;
  }
  // It runs the settings of every package to know what there is.
  if (top.wants('nx') && (await files.exists('nx.json'))) return null;
  // A task of one package may name those of others that it does not depend on.
  if (await files.hasLine('turbo.json', /"(?!\/\/#)[^"#]+#/)) return null;
  return { directory, name };
}

function canInstallParts({ kind, wanted }: PackageManager): boolean {
  if (kind === 'npm') return true;
  const since = SINCE[kind];
  if (since === undefined) return false;
  const oldest = wanted === null ? null : minVersion(wanted.range);
  // Without a word about it the newest is fetched.
  return oldest === null ? kind === 'pnpm' : gte(oldest, since);
}

/** What installs the part, and the top, whose programs build it; none for all. */
export function partWords({
  manager,
  packageJson,
  part,
}: {
  readonly manager: PackageManager;
  /** Of the top. */
  readonly packageJson: PackageJson;
  readonly part: InstalledPart | null;
}): string[] {
  if (part === null) return [];
  switch (manager.kind) {
    case 'npm':
      return ['--workspace', part.directory, '--include-workspace-root'];
    case 'pnpm':
      return [
        // Without a lock file the versions of all packages would be looked up, those of other apps included.
        ...(manager.lock === null ? ['--config.shared-workspace-lockfile=false'] : []),
        // By its directory, for it may have no name; the dots stand for all that it is made of.
        ...['--filter', '.', '--filter', `{./${part.directory}}...`],
      ];
    case 'yarn-berry':
      return [packageJson.text('name') ?? '', part.name];
    case 'yarn-classic':
    case 'bun':
      return [];
  }
}
