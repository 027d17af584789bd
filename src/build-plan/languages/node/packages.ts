/** How the packages of an app are installed, and the development packages removed again. */
import { isRecord } from '../../../lib/is-record.ts';
import type { DependencySet, Step } from '../../build-plan.ts';
import type { SourceFiles } from '../../source/source-files.ts';
import type { PackageJson } from './package-json.ts';
import type { PackageManager } from './package-manager.ts';
import { type InstalledPart, partWords } from './part-of-workspace.ts';

const KEYS = [
  ...[
    'dependencies',
    'devDependencies',
    'optionalDependencies',
    'peerDependencies',
    'overrides',
    'resolutions',
    'pnpm',
  ],
  ...['engines', 'packageManager', 'allowScripts'],
];
const LOCKS = ['package-lock.json', 'npm-shrinkwrap.json', 'yarn.lock', 'pnpm-lock.yaml', 'bun.lock', 'bun.lockb'];
const SETTINGS = ['.npmrc', '.yarnrc', '.yarnrc.yml', 'bunfig.toml'];
const INSTALL_SCRIPTS = ['preinstall', 'install', 'postinstall', 'prepare'].map((name) => `scripts.${name}`);
/** Prisma's client is generated from these when it is installed, into node_modules. */
const SCHEMAS = ['schema.prisma', 'prisma/*.prisma', 'prisma/*/*.prisma'];
const PLAIN_PATH = /^(?:\.\/)?([\w-][\w./-]{0,200})$/;
/** A directory of the source, which npm links, and others copy. */
const COPIED = /^(?:file:|\.\.?\/)(?!.*\.t(?:ar\.)?gz$)/;
const PNPM = ['--store-dir', '{downloads}/pnpm', '--package-import-method', 'copy'];

interface InstalledPackages {
  readonly manager: PackageManager;
  readonly packageJson: PackageJson;
  /** Steps of the build need the development packages. */
  readonly builds: boolean;
  /** Why units need them; null: they are removed at the end. */
  readonly developmentStays: string | null;
  readonly isWorkspace: boolean;
  /** The package of the workspace whose packages are enough; null: all of it is installed. */
  readonly part: InstalledPart | null;
  /** The lock file has to be written anew, see isBunLockStale(). */
  readonly isLockStale?: boolean;
}

/** Install and build scripts may need tools that are only there for development. */
export function needsDevelopment({ packageJson, builds, developmentStays, isWorkspace }: InstalledPackages): boolean {
  const isBuilt = builds || developmentStays !== null;
  // Those of its packages are not looked at.
  if (isWorkspace && isBuilt) return true;
  return packageJson.has('devDependencies') && (isBuilt || packageJson.has(...INSTALL_SCRIPTS));
}

/** Such scripts may make anything. */
export function hasInstallScript(...packages: readonly PackageJson[]): boolean {
  return packages.some((each) => each.has(...INSTALL_SCRIPTS));
}

/** None: without any package no package manager is even started. */
export async function packageSets(files: SourceFiles, installed: InstalledPackages): Promise<DependencySet[]> {
  const { packageJson } = installed;
  const parts = ['dependencies', 'optionalDependencies', 'workspaces'];
  if (!installed.isWorkspace && !packageJson.has(...parts, ...INSTALL_SCRIPTS) && !needsDevelopment(installed))
    return [];
  return [
    {
      name: `${installed.manager.program} packages`,
      keep: { kind: 'restored', directory: 'node_modules' },
      neverKept: await whyNeverKept(files, installed),
      key: {
        files: [...LOCKS, ...SETTINGS, ...SCHEMAS, ...ownSchema(packageJson)],
        values: Object.fromEntries(KEYS.map((key) => [key, packageJson.content[key] ?? null])),
      },
      steps: [installStep(installed)],
    },
  ];
}

/** Where package.json says that they are: a file, or a directory of them. */
function ownSchema(packageJson: PackageJson): string[] {
  const path = PLAIN_PATH.exec(packageJson.text('prisma.schema') ?? '')?.[1];
  return path === undefined ? [] : [path, `${path}/*.prisma`];
}

async function whyNeverKept(files: SourceFiles, installed: InstalledPackages): Promise<string | null> {
  const { manager, packageJson, isWorkspace } = installed;
  // Such scripts may change files outside node_modules, and packages of a workspace live there.
  const script = INSTALL_SCRIPTS.find((name) => packageJson.has(name));
  if (script !== undefined) return `${script} in package.json may change other files`;
  const copied = manager.kind === 'npm' ? undefined : copiedPackage(installed);
  if (copied !== undefined) return `${copied} in package.json is a directory of the source`;
  if (manager.isPnp) return 'packages lie outside of node_modules';
  const isWhole = isWorkspace || (await files.exists('pnpm-workspace.yaml'));
  return isWhole ? 'packages of a workspace lie outside of node_modules' : null;
}

function copiedPackage(installed: InstalledPackages): string | undefined {
  const { dependencies, devDependencies, content } = installed.packageJson;
  const optional = content['optionalDependencies'];
  const all = {
    ...(needsDevelopment(installed) ? devDependencies : {}),
    ...dependencies,
    ...(isRecord(optional) ? optional : {}),
  };
  return Object.entries(all).find(([, from]) => typeof from === 'string' && COPIED.test(from))?.[0];
}

function installStep(installed: InstalledPackages): Step {
  const { manager } = installed;
  const development = needsDevelopment(installed);
  const words = partWords(installed);
  const of = installed.part === null ? '' : ` for ${installed.part.directory}`;
  const why = `${of}${development ? ' (with development packages)' : ''}`;
  switch (manager.kind) {
    case 'npm': {
      const omit = development ? '--include=dev' : '--omit=dev';
      if (manager.lock !== null) return { name: `npm ci${why}`, run: ['npm', 'ci', omit, ...words] };
      return {
        name: `npm install${of}${development ? ' (with development packages; there is no package-lock.json)' : ' (there is no package-lock.json)'}`,
        run: ['npm', 'install', omit, '--no-package-lock', ...words],
      };
    }
    case 'yarn-classic':
      return {
        name: `yarn install${why}`,
        run: ['yarn', 'install', '--frozen-lockfile', '--non-interactive', `--production=${!development}`],
      };
    case 'yarn-berry':
      if (words.length > 0)
        return { name: `yarn workspaces focus${of}`, run: ['yarn', 'workspaces', 'focus', ...words] };
      return {
        name: 'yarn install',
        run: ['yarn', 'install', manager.lock === null ? '--no-immutable' : '--immutable'],
      };
    case 'pnpm':
      return {
        name: `pnpm install${why}`,
        run: [
          ...['pnpm', 'install', manager.lock === null ? '--no-frozen-lockfile' : '--frozen-lockfile'],
          ...[development ? '--prod=false' : '--prod', ...PNPM, ...words],
        ],
      };
    case 'bun': {
      const locked = manager.lock === null || installed.isLockStale === true ? [] : ['--frozen-lockfile'];
      return {
        name: `bun install${why}`,
        run: ['bun', 'install', ...locked, ...(development ? [] : ['--production'])],
      };
    }
  }
}

/** After the build; none where they stay. */
export function pruneSteps(installed: InstalledPackages): Step[] {
  const { manager } = installed;
  if (!needsDevelopment(installed) || installed.developmentStays !== null) return [];
  // Its packages share what lies at the top.
  if (installed.isWorkspace) return [];
  switch (manager.kind) {
    case 'npm':
      return [{ name: 'npm prune', run: ['npm', 'prune', '--omit=dev', '--ignore-scripts'] }];
    case 'yarn-classic': {
      const production = ['--production=true', '--ignore-scripts', '--offline'];
      const run = ['yarn', 'install', '--frozen-lockfile', '--non-interactive', ...production];
      return [{ name: 'yarn install --production', run }];
    }
    case 'yarn-berry':
    case 'bun':
      return [];
    case 'pnpm':
      return [{ name: 'pnpm prune', run: ['pnpm', 'prune', '--prod', '--ignore-scripts'] }];
  }
}
