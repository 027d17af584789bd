/** Frameworks that say by themselves how an app is built, what starts it, or which files are its site. */
import { subset, validRange } from 'semver';
import type { NewVariable, PlanProblem, Step, Variable } from '../../build-plan.ts';
import type { FoundLine, SourceFiles } from '../../source/source-files.ts';
import { MAX_RANGE } from '../../versions.ts';
import { angularSite } from './angular.ts';
import { NEXT_START, nextStandalone } from './next-standalone.ts';
import type { PackageJson } from './package-json.ts';
import { nxAppFramework, nxApps, nxFramework } from './nx.ts';
import { svelteKitRuns } from './sveltekit.ts';

export interface Framework {
  readonly name: string;
  /** Program and arguments, for an app without a build script; null: it does not bring the program. */
  readonly build: readonly string[] | null;
  readonly runs: Runs;
  readonly environment: readonly Variable[];
  /** What apps get that it does not start without. */
  readonly newVariables: readonly NewVariable[];
  /** Steps after the build of the package in that directory. */
  afterBuild(directory: string): readonly Step[];
}

export type Runs =
  | {
      readonly kind: 'server';
      readonly command: string;
      readonly env?: Readonly<Record<string, string>>;
      /** Variables of the units, whatever starts them. */
      readonly unitEnv?: Readonly<Record<string, string>>;
      /** Variables of the build alone. */
      readonly buildEnv?: Readonly<Record<string, string>>;
      /** Start scripts in whose place the command is run. */
      readonly replaces?: RegExp;
      readonly afterBuild?: (directory: string) => readonly Step[];
    }
  /** Files to be served; `fallback` answers unknown paths. */
  | {
      readonly kind: 'site';
      readonly roots: readonly string[];
      readonly fallback: string | null;
      /** As of a server: start scripts that cannot serve it. */
      readonly replaces?: RegExp;
    }
  | { readonly kind: 'nothing'; readonly problem: PlanProblem };

interface Known {
  /** One of these among the packages means it. */
  readonly packages: readonly string[];
  readonly name: string;
  readonly build: readonly string[] | ((files: SourceFiles) => Promise<readonly string[]>) | null;
  /** The package that brings the program that builds; the first of `packages` by default. */
  readonly cli?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly newVariables?: readonly NewVariable[];
  readonly runs: Runs | ((files: SourceFiles, packageJson: PackageJson) => Promise<Runs>);
}

/** No telemetry: nobody is to hear what is built here. */
const SILENT = {
  NEXT_TELEMETRY_DISABLED: '1',
  NUXT_TELEMETRY_DISABLED: '1',
  ASTRO_TELEMETRY_DISABLED: '1',
  GATSBY_TELEMETRY_DISABLED: '1',
  NG_CLI_ANALYTICS: 'false',
};
const BIN = './node_modules/.bin/';
const ENDINGS = ['js', 'mjs', 'cjs', 'ts', 'mts'];

function site(roots: readonly string[], fallback: string | null = null): Runs {
  return { kind: 'site', roots, fallback };
}

function server(command: string, env: Readonly<Record<string, string>> = {}): Runs {
  return { kind: 'server', command, env };
}

/** What is built upon another one comes before it. */
const KNOWN: readonly Known[] = [
  { packages: ['next'], name: 'Next.js', build: ['next', 'build'], runs: nextRuns },
  { packages: ['nuxt', 'nuxt3'], name: 'Nuxt', build: ['nuxt', 'build'], runs: nuxtRuns },
  {
    packages: ['@nestjs/core'],
    name: 'Nest',
    build: ['nest', 'build'],
    cli: '@nestjs/cli',
    runs: server('node dist/main'),
  },
  {
    packages: ['@adonisjs/core'],
    name: 'AdonisJS',
    // Its own program is a file of the app's.
    build: null,
    newVariables: [{ name: 'APP_KEY', value: { generated: 'hex' }, from: 'AdonisJS', when: 'missing' }],
    runs: {
      kind: 'server',
      command: 'node build/bin/server.js',
      env: { HOST: '0.0.0.0' },
      // Its start script is for the directory that the build makes.
      replaces: /^node\s+(?:\.\/)?bin\/server\.js$/,
    },
  },
  { packages: ['@sveltejs/kit'], name: 'SvelteKit', build: ['vite', 'build'], cli: 'vite', runs: svelteKitRuns },
  {
    packages: ['@react-router/serve'],
    name: 'React Router',
    build: ['react-router', 'build'],
    cli: '@react-router/dev',
    runs: server(`${BIN}react-router-serve ./build/server/index.js`),
  },
  {
    packages: ['@react-router/dev'],
    name: 'React Router',
    build: ['react-router', 'build'],
    runs: site(['build/client'], 'index.html'),
  },
  {
    packages: ['@remix-run/serve'],
    name: 'Remix',
    build: ['remix', 'vite:build'],
    cli: '@remix-run/dev',
    runs: remixRuns,
  },
  { packages: ['astro'], name: 'Astro', build: ['astro', 'build'], runs: astroRuns },
  { packages: ['gatsby'], name: 'Gatsby', build: ['gatsby', 'build'], runs: site(['public']) },
  { packages: ['@docusaurus/core'], name: 'Docusaurus', build: ['docusaurus', 'build'], runs: site(['build']) },
  { packages: ['@angular/cli'], name: 'Angular', build: ['ng', 'build'], runs: angularRuns },
  {
    packages: ['react-scripts'],
    name: 'Create React App',
    build: ['react-scripts', 'build'],
    // With CI it takes every warning for a mistake.
    env: { CI: 'false' },
    runs: site(['build'], 'index.html'),
  },
  {
    packages: ['@vue/cli-service'],
    name: 'Vue CLI',
    build: ['vue-cli-service', 'build'],
    runs: site(['dist'], 'index.html'),
  },
  {
    packages: ['parcel'],
    name: 'Parcel',
    build: ['parcel', 'build', 'index.html'],
    runs: site(['dist'], 'index.html'),
  },
  { packages: ['@11ty/eleventy'], name: 'Eleventy', build: ['eleventy'], runs: eleventyRuns },
  {
    packages: ['@solidjs/start'],
    name: 'SolidStart',
    build: ['vinxi', 'build'],
    cli: 'vinxi',
    runs: server('node .output/server/index.mjs'),
  },
  {
    packages: ['@tanstack/react-start', '@tanstack/solid-start'],
    name: 'TanStack Start',
    build: ['vite', 'build'],
    cli: 'vite',
    runs: server('node .output/server/index.mjs'),
  },
  {
    packages: ['vitepress'],
    name: 'VitePress',
    build: async (files) => ['vitepress', 'build', ...(await settingsDirectory(files, '.vitepress'))],
    runs: (files) => builtInSettings(files, '.vitepress'),
  },
  {
    packages: ['vuepress'],
    name: 'VuePress',
    build: async (files) => ['vuepress', 'build', (await settingsDirectory(files, '.vuepress'))[0] ?? '.'],
    runs: (files) => builtInSettings(files, '.vuepress'),
  },
  { packages: ['@rsbuild/core'], name: 'Rsbuild', build: ['rsbuild', 'build'], runs: site(['dist'], 'index.html') },
  { packages: ['hexo'], name: 'Hexo', build: ['hexo', 'generate'], runs: site(['public']) },
  { packages: ['vite'], name: 'Vite', build: ['vite', 'build'], runs: viteRuns },
  {
    packages: ['ember-cli'],
    name: 'Ember',
    build: ['ember', 'build', '--environment=production'],
    runs: site(['dist'], 'index.html'),
  },
];

export async function findFramework(files: SourceFiles, packageJson: PackageJson): Promise<Framework | null> {
  const known = KNOWN.find(({ packages }) => packages.some((name) => packageJson.wants(name)));
  const runs = typeof known?.runs === 'function' ? await known.runs(files, packageJson) : known?.runs;
  const [app, ...others] = await nxApps(files, packageJson);
  if (app !== undefined) return nxAppFramework(files, [app, ...others], runs ?? null);
  if (known === undefined || runs === undefined) return nxFramework(files, packageJson);
  const { name, packages, build, cli = packages[0] ?? '', env = {}, newVariables = [] } = known;
  const { buildEnv = {}, unitEnv = {} } = runs.kind === 'server' ? runs : {};
  return {
    name,
    build: !packageJson.wants(cli) ? null : typeof build === 'function' ? await build(files) : build,
    runs,
    newVariables,
    afterBuild: (directory) => (runs.kind === 'server' ? (runs.afterBuild?.(directory) ?? []) : []),
    environment: [...variables({ ...SILENT, ...env, ...buildEnv }, 'build'), ...variables(unitEnv, 'run')],
  };
}

function variables(values: Readonly<Record<string, string>>, scope: 'build' | 'run'): Variable[] {
  return Object.entries(values).map(([name, value]) => ({ name, value, scope }));
}

async function inConfig(files: SourceFiles, name: string, pattern: RegExp): Promise<RegExpExecArray | null> {
  return (await lineOfConfig(files, name, pattern))?.match ?? null;
}

async function lineOfConfig(files: SourceFiles, name: string, pattern: RegExp): Promise<FoundLine | null> {
  for (const ending of ENDINGS) {
    const found = await files.findLine(`${name}.${ending}`, pattern);
    if (found !== null) return found;
  }
  return null;
}

async function nextRuns(files: SourceFiles): Promise<Runs> {
  const output = (await inConfig(files, 'next.config', /^[^/]*\boutput\s*:\s*['"](export|standalone)['"]/))?.[1];
  if (output === 'export') {
    // Its own server refuses to start then; with such a line that may not be so for every build.
    const depends = await inConfig(files, 'next.config', /process\.env|&&|\s\?\s|\bif\s*\(/);
    return { kind: 'site', roots: ['out'], fallback: null, ...(depends === null && { replaces: NEXT_START }) };
  }
  return output === 'standalone' ? nextStandalone(files) : server(`${BIN}next start`);
}

async function nuxtRuns(_files: SourceFiles, { scripts, dependencies, devDependencies }: PackageJson): Promise<Runs> {
  if (/\bnuxt(?:i)? generate\b/.test(scripts['build'] ?? '')) return site(['.output/public', 'dist'], '200.html');
  const range = dependencies['nuxt'] ?? devDependencies['nuxt'] ?? '';
  return isBelow(range, '<3')
    ? server(`${BIN}nuxt start`, { HOST: '0.0.0.0' })
    : server('node .output/server/index.mjs');
}

function isBelow(range: string, limit: string): boolean {
  const valid = range.length <= MAX_RANGE ? validRange(range) : null;
  return valid !== null && subset(valid, limit);
}

async function eleventyRuns(files: SourceFiles): Promise<Runs> {
  const output = /^(?:(?!\/\/).)*?(?:\boutput\s*:|\bsetOutputDirectory\()\s*['"](?:\.\/)?([\w./-]+?)\/?['"]/;
  const named = await files.findLine('.eleventy.js', output);
  const directory = (named?.match ?? (await inConfig(files, 'eleventy.config', output)))?.[1];
  return site(directory === undefined || directory.includes('..') ? ['_site'] : [directory]);
}

/** VitePress and VuePress put the pages beside their settings. */
async function builtInSettings(files: SourceFiles, settings: string): Promise<Runs> {
  const found = [...(await settingsDirectory(files, settings)), settings, 'dist'].join('/');
  return site([...new Set([found, `${settings}/dist`, `docs/${settings}/dist`])]);
}

/** Below which they are: none for the top. */
async function settingsDirectory(files: SourceFiles, settings: string): Promise<string[]> {
  const found = await files.find(settings, `docs/${settings}`, `*/${settings}`);
  const directory = found?.slice(0, -settings.length).replace(/\/$/, '') ?? '';
  return /^[\w][\w.-]*$/.test(directory) ? [directory] : [];
}

async function remixRuns(_files: SourceFiles, packageJson: PackageJson): Promise<Runs> {
  const built = packageJson.wants('vite') ? './build/server/index.js' : './build/index.js';
  return server(`${BIN}remix-serve ${built}`);
}

async function astroRuns(files: SourceFiles, packageJson: PackageJson): Promise<Runs> {
  if (!packageJson.wants('@astrojs/node')) return site(['dist']);
  const middleware = await lineOfConfig(files, 'astro.config', /^(?!\s*\/\/).*\bmode\s*:\s*['"]middleware['"]/);
  if (middleware === null) return server('node ./dist/server/entry.mjs', { HOST: '0.0.0.0' });
  const problem: PlanProblem = {
    cause: 'no_process',
    message: `${middleware.file} line ${middleware.line} makes a middleware for a server of the app's own, and nothing starts one.`,
    hint: `Write mode: 'standalone' there, or say in a Procfile what starts the server; commit and push again.`,
  };
  return { kind: 'nothing', problem };
}

async function angularRuns(files: SourceFiles, { scripts }: PackageJson): Promise<Runs> {
  const rendered = Object.keys(scripts).find((name) => name.startsWith('serve:ssr:'));
  return rendered === undefined ? site(await angularSite(files), 'index.html') : server(scripts[rendered] ?? '');
}

async function viteRuns(files: SourceFiles): Promise<Runs> {
  const named = (await inConfig(files, 'vite.config', /^[^/]*\boutDir\s*:\s*['"](?:\.\/)?([\w./-]+)['"]/))?.[1];
  return site(named === undefined || named.includes('..') ? ['dist', 'build'] : [named], 'index.html');
}
