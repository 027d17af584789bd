/** How the packages of an app are installed, and the development packages removed again. */
import type { DependencySet, Step, Variable } from '../../build-plan.ts';
import type { SourceFiles } from '../../source/source-files.ts';
import type { PackageJson } from './package-json.ts';
import type { PackageManager } from './package-manager.ts';

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
  ...['engines', 'packageManager'],
];
const LOCKS = ['package-lock.json', 'npm-shrinkwrap.json', 'yarn.lock', 'pnpm-lock.yaml'];
const SETTINGS = ['.npmrc', '.yarnrc', '.yarnrc.yml'];
const INSTALL_SCRIPTS = ['preinstall', 'install', 'postinstall', 'prepare'].map((name) => `scripts.${name}`);
const PNPM = ['--store-dir', '{downloads}/pnpm', '--package-import-method', 'copy'];

export interface InstalledPackages {
  readonly manager: PackageManager;
  readonly packageJson: PackageJson;
  /** Steps of the build need the development packages. */
  readonly builds: boolean;
  /** Why units need them; null: they are removed at the end. */
  readonly developmentStays: string | null;
}

/** Install and build scripts may need tools that are only there for development. */
export function needsDevelopment({ packageJson, builds, developmentStays }: InstalledPackages): boolean {
  return (
    packageJson.has('devDependencies') && (builds || developmentStays !== null || packageJson.has(...INSTALL_SCRIPTS))
  );
}

/** None: without any package no package manager is even started. */
export async function packageSets(files: SourceFiles, installed: InstalledPackages): Promise<DependencySet[]> {
  const { packageJson } = installed;
  const parts = ['dependencies', 'optionalDependencies', 'workspaces'];
  if (!packageJson.has(...parts, ...INSTALL_SCRIPTS) && !needsDevelopment(installed)) return [];
  return [
    {
      name: `${installed.manager.program} packages`,
      keep: { kind: 'restored', directory: 'node_modules' },
      neverKept: await whyNeverKept(files, packageJson),
      key: {
        files: [...LOCKS, ...SETTINGS],
        values: Object.fromEntries(KEYS.map((key) => [key, packageJson.content[key] ?? null])),
      },
      steps: [installStep(installed)],
    },
  ];
}

async function whyNeverKept(files: SourceFiles, packageJson: PackageJson): Promise<string | null> {
  // Such scripts may change files outside node_modules, and packages of a workspace live there.
  const script = INSTALL_SCRIPTS.find((name) => packageJson.has(name));
  if (script !== undefined) return `${script} in package.json may change other files`;
  const isWorkspace = packageJson.hasWorkspaces || (await files.exists('pnpm-workspace.yaml'));
  return isWorkspace ? 'packages of a workspace lie outside of node_modules' : null;
}

function installStep(installed: InstalledPackages): Step {
  const { manager } = installed;
  const development = needsDevelopment(installed);
  const why = development ? ' (with development packages)' : '';
  switch (manager.kind) {
    case 'npm': {
      const omit = development ? '--include=dev' : '--omit=dev';
      if (manager.lock !== null) return { name: `npm ci${why}`, run: ['npm', 'ci', omit] };
      return {
        name: `npm install${why.replace(')', '; there is no package-lock.json)') || ' (there is no package-lock.json)'}`,
        run: ['npm', 'install', omit, '--no-package-lock'],
      };
    }
    case 'yarn-classic':
      return {
        name: `yarn install${why}`,
        run: ['yarn', 'install', '--frozen-lockfile', '--non-interactive', `--production=${!development}`],
      };
    case 'yarn-berry':
      return { name: 'yarn install', run: ['yarn', 'install', ...(manager.lock === null ? [] : ['--immutable'])] };
    case 'pnpm':
      return {
        name: `pnpm install${why}`,
        run: [
          ...['pnpm', 'install', manager.lock === null ? '--no-frozen-lockfile' : '--frozen-lockfile'],
          ...[development ? '--prod=false' : '--prod', ...PNPM],
        ],
      };
  }
}

/** After the build; none where they stay. */
export function pruneSteps(installed: InstalledPackages): Step[] {
  const { manager } = installed;
  if (!needsDevelopment(installed) || installed.developmentStays !== null) return [];
  switch (manager.kind) {
    case 'npm':
      return [{ name: 'npm prune', run: ['npm', 'prune', '--omit=dev', '--ignore-scripts'] }];
    case 'yarn-classic': {
      const production = ['--production=true', '--ignore-scripts', '--offline'];
      const run = ['yarn', 'install', '--frozen-lockfile', '--non-interactive', ...production];
      return [{ name: 'yarn install --production', run }];
    }
    case 'yarn-berry':
      return [];
    case 'pnpm':
      return [{ name: 'pnpm prune', run: ['pnpm', 'prune', '--prod', '--ignore-scripts'] }];
  }
}

export function packageVariables({ kind, program }: PackageManager): Variable[] {
  const build = (name: string, value: string): Variable => ({ name, value, scope: 'build' });
  return [
    { name: 'NODE_ENV', value: 'production' },
    { name: 'npm_config_update_notifier', value: 'false' },
    build('npm_config_cache', '{downloads}/npm'),
    build('npm_config_prefer_offline', 'true'),
    build('npm_config_audit', 'false'),
    build('npm_config_fund', 'false'),
    ...(program === 'yarn' ? [build('YARN_CACHE_FOLDER', '{downloads}/yarn')] : []),
    ...(kind === 'yarn-berry'
      ? [
          build('YARN_GLOBAL_FOLDER', '{downloads}/yarn-global'),
          build('YARN_NODE_LINKER', 'node-modules'),
          build('YARN_ENABLE_TELEMETRY', '0'),
        ]
      : []),
    // pnpm would run itself in another version once more; the one that is asked for is there.
    ...(kind === 'pnpm' ? [build('npm_config_manage_package_manager_versions', 'false')] : []),
  ];
}
