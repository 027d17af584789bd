/** The steps between the packages and the start. */
import type { Step } from '../../build-plan.ts';
import type { SourceFiles } from '../../source/source-files.ts';
import type { AppPackage } from './app-package.ts';
import type { Framework } from './frameworks.ts';
import type { PackageJson } from './package-json.ts';
import type { PackageManager } from './package-manager.ts';
import type { Start } from './start.ts';
import { type Member, withItsParts } from './workspace.ts';

const SCRIPTS = ['heroku-postbuild', 'build'];

export async function buildSteps(
  files: SourceFiles,
  top: PackageJson,
  manager: PackageManager,
  app: AppPackage,
): Promise<Step[]> {
  const { directory, members, packageJson, framework, start } = app;
  const after = framework?.afterBuild(directory) ?? [];
  if (directory === '' || members === null) return [...scriptOrFramework(packageJson, manager, app), ...after];
  const member = members.find((each) => each.directory === directory);
  const parts = member === undefined ? [] : withItsParts(member, members);
  const orchestrated = member === undefined ? null : await orchestratedBuild(files, top, manager, member);
  if (orchestrated !== null && scriptOf(packageJson) !== null) return [orchestrated, ...after];
  const before = parts.slice(0, -1).flatMap((part) => scriptStep(part.packageJson, manager, part.directory));
  const own = scriptStep(packageJson, manager, directory);
  const otherwise = framework === null ? null : frameworkBuild(framework, manager, start);
  const built = own.length > 0 || otherwise === null ? own : [{ ...otherwise, directory }];
  return [...before, ...built, ...after];
}

function scriptOrFramework(
  packageJson: PackageJson,
  manager: PackageManager,
  { framework, start }: AppPackage,
): Step[] {
  const own = scriptStep(packageJson, manager, '');
  if (own.length > 0) return own;
  const step = framework === null ? null : frameworkBuild(framework, manager, start);
  return step === null ? [] : [step];
}

function scriptOf({ scripts }: PackageJson): string | null {
  return SCRIPTS.find((name) => (scripts[name] ?? '') !== '') ?? null;
}

function scriptStep(packageJson: PackageJson, { program }: PackageManager, directory: string): Step[] {
  const script = scriptOf(packageJson);
  if (script === null) return [];
  const run = [program, 'run', script];
  if (directory === '') return [{ name: `${program} run ${script}`, run }];
  return [{ name: `${program} run ${script} (${directory})`, run, directory }];
}

/** Turborepo and Nx know what has to be built before. */
async function orchestratedBuild(
  files: SourceFiles,
  top: PackageJson,
  manager: PackageManager,
  { name }: Member,
): Promise<Step | null> {
  if (!/^[\w@./-]+$/.test(name)) return null;
  if (top.wants('turbo') && (await files.exists('turbo.json')))
    return localProgram(`turbo run build --filter=${name}`, manager, ['turbo', 'run', 'build', `--filter=${name}`]);
  if (top.wants('nx') && (await files.exists('nx.json')))
    return localProgram(`nx run-many -t build -p ${name}`, manager, ['nx', 'run-many', '-t', 'build', '-p', name]);
  return null;
}

/** For an app without a build script, what its framework is built with. */
function frameworkBuild({ name, build, runs }: Framework, manager: PackageManager, { site }: Start): Step | null {
  // Of a site that nobody serves there may be a part in something else.
  if (build === null || (runs.kind !== 'server' && site == null)) return null;
  return localProgram(`${build.join(' ')} (${name}; there is no build script)`, manager, build);
}

/** Of a package that is installed, also at the top of a workspace. */
function localProgram(name: string, { program, isNpmRefused }: PackageManager, run: readonly string[]): Step {
  const own = [program, program === 'pnpm' ? 'exec' : 'run'];
  return { name, run: [...(isNpmRefused && program !== 'npm' ? own : ['npm', 'exec', '--no', '--']), ...run] };
}
