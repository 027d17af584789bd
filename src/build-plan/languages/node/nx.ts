/** Apps of Nx: what the target `build` of one makes is started or served. */
import type { PlanProblem } from '../../build-plan.ts';
import { valueAt, type SourceFiles } from '../../source/source-files.ts';
import type { Framework, Runs } from './frameworks.ts';
import type { PackageJson } from './package-json.ts';

/** Their output is run by Node, unless its options say that it is for browsers. */
const EXECUTORS = /^@n(?:x|rwl)\/(?:esbuild:esbuild|webpack:webpack|rspack:rspack|js:(?:tsc|swc)|node:\w+)$/;
const PATH = /^(?!.*\.\.)[\w@][\w@./-]*$/;
const LISTED = 6;

interface NxApp {
  /** As Nx calls it. */
  readonly name: string;
  readonly directory: string;
}

/** Null where project.json does not say what is made. */
export async function nxFramework(files: SourceFiles, packageJson: PackageJson): Promise<Framework | null> {
  if (!packageJson.wants('nx') || !(await files.exists('nx.json'))) return null;
  const command = await builtProgram(files, 'project.json');
  return command === null ? null : framework(['nx', 'build'], { kind: 'server', command });
}

/** Apps below a top that is none itself, and whose packages are those of all: nothing at the top builds one of them. */
export async function nxApps(files: SourceFiles, { hasWorkspaces, scripts, wants }: PackageJson): Promise<NxApp[]> {
  if (hasWorkspaces || (scripts['build'] ?? '') !== '' || !wants('nx') || !(await files.exists('nx.json'))) return [];
  if ((await files.find('project.json', 'pnpm-workspace.yaml')) !== null) return [];
  const found: NxApp[] = [];
  for (const path of await files.findAll('apps/*/project.json')) {
    const directory = path.slice(0, -'/project.json'.length);
    const name = valueAt(await files.foreignJson(path), ['name']);
    if (PATH.test(directory) && !directory.endsWith('-e2e')) {
      found.push({
        name: typeof name === 'string' && PATH.test(name) ? name : directory.slice('apps/'.length),
        directory,
      });
    }
  }
  return found;
}

/** The only one of them; a problem where there are several, or nothing says what starts it. `runs`: of its framework, were it at the top. */
export async function nxAppFramework(
  files: SourceFiles,
  [app, ...others]: readonly [NxApp, ...NxApp[]],
  runs: Runs | null,
): Promise<Framework> {
  const { name, directory } = app;
  const build = ['nx', 'build', name];
  const command = others.length > 0 ? null : await builtProgram(files, `${directory}/project.json`);
  if (command !== null) return framework(build, { kind: 'server', command });
  if (others.length === 0 && runs?.kind === 'site') {
    const roots = [`dist/${directory}/browser`, `dist/${directory}`, `${directory}/dist`];
    return framework(build, { kind: 'site', roots, fallback: runs.fallback });
  }
  return framework(null, { kind: 'nothing', problem: whichOne([app, ...others]) });
}

function whichOne(apps: readonly [NxApp, ...NxApp[]]): PlanProblem {
  const [{ name, directory }] = apps;
  const names = apps.slice(0, LISTED).map((app) => app.directory);
  const more = apps.length > LISTED ? ', ...' : '';
  return {
    cause: 'no_process',
    message: `The workspace of Nx has ${names.join(', ')}${more}, and nothing says which of them is built and how it is started.`,
    hint: `Say it in the scripts of package.json, for example "build": "nx build ${name}" and "start": "node dist/${directory}/main.js" (for pages, in place of start, in tancho.yaml: static: { root: dist/${directory} }); commit and push again.`,
  };
}

/** `node dist/api/main.js`; null where its project.json does not say so. */
async function builtProgram(files: SourceFiles, project: string): Promise<string | null> {
  const build = valueAt(await files.foreignJson(project), ['targets', 'build']);
  const executor = valueAt(build, ['executor']);
  const option = (name: string): unknown => valueAt(build, ['options', name]);
  const [output, main] = [option('outputPath'), option('main')];
  const isForBrowsers =
    typeof option('index') === 'string' || option('platform') === 'browser' || option('target') === 'web';
  if (typeof executor !== 'string' || !EXECUTORS.test(executor) || isForBrowsers) return null;
  if (typeof output !== 'string' || !PATH.test(output) || typeof main !== 'string') return null;
  const program = (main.split('/').at(-1) ?? '').replace(/\.[cm]?tsx?$/, '.js');
  return PATH.test(program) ? `node ${output}/${program}` : null;
}

function framework(build: readonly string[] | null, runs: Runs): Framework {
  return { name: 'Nx', build, runs, afterBuild: () => [], environment: [], newVariables: [] };
}
