/** What starts an app that has no Procfile: its scripts, its framework, a program with a usual name, or its files as a site. */
import type { PlannedProcess, PlanProblem, Variable } from '../../build-plan.ts';
import type { AppDeclaration, PlanParts } from '../../language.ts';
import { isOnlyPages } from '../../only-pages.ts';
import type { SourceFiles } from '../../source/source-files.ts';
import { serveSite } from '../static/site-server.ts';
import type { Framework } from './frameworks.ts';
import type { PackageJson } from './package-json.ts';
import type { PackageManager } from './package-manager.ts';
import { calledLine } from './script-lines.ts';
import { watchedProgram } from './watched-program.ts';

/** `npm start` costs a second process and some hundred milliseconds; a plain `node file` needs neither. */
const PLAIN = /^node(\s+[\w@%+=:,./-]+)+$/;
const MAX_PLAIN = 1_000;
/** Servers of people who develop: they build in memory, reload, and mostly answer their own machine only. */
const DEVELOPMENT =
  /^(?:npx\s+|cross-env\s+|[A-Z_]+=\S*\s+|export\s+[A-Z_]+=\S*\s*(?:&&|;)\s*)*(?:vite(?:\s+(?:dev|serve|preview))?(?=\s+-|\s*$)|(?:react-scripts|craco|react-app-rewired)\s+(?:--\S+\s+)*start|ng\s+serve|docusaurus\s+(?:start|serve)|astro\s+(?:dev|preview)|vue-cli-service\s+serve|gatsby\s+(?:develop|serve)|parcel(?!\s+build)|(?:@11ty\/)?eleventy\s+(?:--\w+\s+)*--serve|webpack(?:-dev-server|\s+serve)|next\s+dev|next(?=\s*$)|nuxt\s+dev|remix\s+(?:vite:)?dev|react-router\s+dev|svelte-kit\s+dev|(?:vite|vue)press\s+dev|rsbuild\s+(?:dev|preview)|nx\s+(?:serve|dev)|vinxi\s+dev|nuxi\s+(?:dev|preview)|hexo\s+s(?:erver)?|ember\s+s(?:erve|erver)?)\b/;
const BUN_PROGRAMS = ['index.ts', 'index.tsx', 'server.ts', 'app.ts', 'src/index.ts', 'src/index.tsx', 'src/server.ts'];
/** It compiles at every start; the built program is quicker. */
const COMPILING = /^nest\s+start\b/;

export type Start = Pick<PlanParts, 'environment' | 'files' | 'site'> & {
  readonly processes: Readonly<Record<string, PlannedProcess>>;
  readonly notes: readonly string[];
  readonly warnings?: readonly string[];
  readonly problems: readonly PlanProblem[];
};

/** The build may make another page. */
const PAGES = {
  roots: ['dist', 'build', '_site', '.'],
  fallback: null,
  otherwise: noPage('After the build there is no index.html any more, at the top or in dist, build or _site.'),
};

const NOTHING: Start = { processes: {}, notes: [], problems: [] };

interface StartContext {
  readonly framework: Framework | null;
  readonly manager: PackageManager;
  readonly asked: AppDeclaration;
}

export async function startOf(
  files: SourceFiles,
  packageJson: PackageJson,
  { framework, manager, asked }: StartContext,
): Promise<Start> {
  if (asked.processes !== null) return NOTHING;
  const script = (name: string): Start => scriptStart(name, packageJson.scripts, manager);
  const { scripts } = packageJson;
  const start = calledLine('start', packageJson);
  const isDevelopment = start.length <= MAX_PLAIN && DEVELOPMENT.test(start);
  const hasCompiled = COMPILING.test(start) && (scripts['start:prod'] ?? '') !== '';
  const runs = framework?.runs;
  const isReplaced =
    runs !== undefined && 'replaces' in runs && runs.replaces?.test(start.slice(0, MAX_PLAIN)) === true;
  if (start !== '' && !isDevelopment && !hasCompiled && !isReplaced) return script('start');
  const isNamed = asked.options['STATIC_ROOT'] !== undefined;
  const notes = isDevelopment
    ? [
        `scripts.start in package.json runs a development server (${start.slice(0, 80)}), which is not for an app in use`,
      ]
    : [];
  if ((scripts['start:prod'] ?? '').trim() !== '' && !isNamed) return { ...script('start:prod'), notes };
  if (framework?.runs.kind === 'server' && !isNamed) return { ...serving(framework.name, framework.runs), notes };
  const usual = framework === null ? ['index.js', 'app.js'] : [];
  const program = await files.find('server.js', ...usual, ...(manager.kind === 'bun' ? BUN_PROGRAMS : []));
  const runner = manager.kind === 'bun' ? 'bun' : 'node';
  if (program !== null && !isNamed) return web(`${runner} ${program}`, program);
  if (framework?.runs.kind === 'site' || isNamed) return { ...siteOf(framework, asked), notes };
  if (framework?.runs.kind === 'nothing') return { ...NOTHING, problems: [framework.runs.problem] };
  if (isDevelopment) return { ...script('start'), notes };
  const main = packageJson.text('main');
  const found = main === null ? null : await files.find(main, `${main}.js`, `${main}/index.js`);
  if (found !== null && /^[\w@./-]+$/.test(found)) return web(`${runner} ${found}`, 'main in package.json');
  return (await watchedStart(files, scripts)) ?? NOTHING;
}

/** Null unless there is a page, a build script and nothing that may be a program or a Dockerfile. */
export async function builtPages(
  files: SourceFiles,
  packageJson: PackageJson,
  asked: AppDeclaration,
): Promise<Start | null> {
  if (asked.processes !== null || packageJson.has('dependencies') || !packageJson.has('scripts.build')) return null;
  if (!(await files.exists('index.html')) || !(await isOnlyPages(files))) return null;
  return { ...NOTHING, ...serveSite({ ...PAGES, from: 'index.html' }, asked) };
}

/** A script for development says what the app is, where nothing else does. */
async function watchedStart(files: SourceFiles, scripts: PackageJson['scripts']): Promise<Start | null> {
  for (const name of ['dev', 'develop', 'development', 'serve']) {
    const watched = watchedProgram(scripts[name] ?? '');
    if (watched === null || !(await files.exists(watched.file))) continue;
    const note = `nothing says how it is started in use: it is what scripts.${name} in package.json watches; a "start" script beside it would say so`;
    return { ...web(watched.command, `scripts.${name} in package.json`), notes: [note] };
  }
  return null;
}

function web(command: string, from: string): Start {
  return { ...NOTHING, processes: { web: { command, from } } };
}

function scriptStart(
  name: string,
  scripts: PackageJson['scripts'],
  { kind, program, isPnp, isNpmRefused }: PackageManager,
): Start {
  const line = scripts[name] ?? '';
  const isAlone = scripts[`pre${name}`] === undefined && scripts[`post${name}`] === undefined;
  const isPlain = isAlone && !isPnp && line.length <= MAX_PLAIN && PLAIN.test(line);
  const command =
    kind === 'bun' || isPnp || isNpmRefused
      ? `${program} run ${name}`
      : name === 'start'
        ? 'npm start'
        : `npm run ${name}`;
  return web(isPlain ? line : command, `scripts.${name} in package.json`);
}

function serving(
  name: string,
  { command, env = {} }: { command: string; env?: Readonly<Record<string, string>> },
): Start {
  const environment = Object.entries(env).map(([key, value]): Variable => ({ name: key, value, scope: 'run' }));
  return { ...web(command, name), environment };
}

function siteOf(framework: Framework | null, asked: AppDeclaration): Start {
  const runs = framework?.runs;
  const { roots, fallback } = runs?.kind === 'site' ? runs : { roots: [], fallback: null };
  const from = framework?.name ?? 'tancho.yaml';
  const otherwise = noPage(`The build has made no index.html in ${roots.join(' or ')}, where ${from} puts it.`);
  return { ...NOTHING, ...serveSite({ roots, fallback, from, otherwise }, asked) };
}

function noPage(message: string): PlanProblem {
  return {
    cause: 'build_failed',
    message,
    hint: 'Name the directory that it makes in tancho.yaml: static: { root: <directory> }; or say what starts the app in a Procfile.',
  };
}
