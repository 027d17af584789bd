/** Node.js with npm, yarn or pnpm, and Bun. */
import type { PlannedProcess, PlanProblem } from '../../build-plan.ts';
import { type AppDeclaration, firstSign, type Language, type PlanParts } from '../../language.ts';
import { inDirectory } from '../../part-of-source.ts';
import type { SourceFiles } from '../../source/source-files.ts';
import { NETWORK_VARIABLES } from '../network-variables.ts';
import { SITE_OPTIONS } from '../static/site-server.ts';
import { type AppPackage, findAppPackage } from './app-package.ts';
import { buildSteps } from './build-steps.ts';
import { calledTools, CALLED_TOOLS } from './called-tools.ts';
import { whyDevelopmentStays, whyTypescriptStays } from './development.ts';
import { missingEnvFile, withoutEnvFiles } from './env-file.ts';
import { isBunLockStale, lockProblem } from './lock-file.ts';
import { otherRegistry } from './lock-hosts.ts';
import { missingProgram } from './missing-program.ts';
import { nodeVersion } from './node-version.ts';
import { readPackageJson, type PackageJson } from './package-json.ts';
import { packageManager, type PackageManager } from './package-manager.ts';
import { npxPackages } from './npx.ts';
import { hasInstallScript, needsDevelopment, packageSets, pruneSteps } from './packages.ts';
import { installedPart } from './part-of-workspace.ts';
import { packageVariables } from './package-variables.ts';
import { NODE_TOOLS, nodeTools } from './tools.ts';
import { readWorkspace } from './workspace.ts';

const PROGRAMS = ['server.js', 'index.js', 'app.js'];
/** Where the programs of packages are, beside the directory of a package itself. */
const BIN = 'node_modules/.bin';

const STALE =
  'bun.lock was written for another package.json; bun install makes up for it. Run "bun install" and commit bun.lock to keep that';

export const nodejs: Language = {
  name: 'nodejs',
  description: 'Node.js, with npm, yarn, pnpm or bun',
  example: 'node server.js',
  signs: ['package.json', ...PROGRAMS],
  starts: /\bnode\s+(?:-\S+\s+)*([\w./-]+\.[cm]?js)\b/,
  tools: NODE_TOOLS,
  options: SITE_OPTIONS,
  inherit: [...NETWORK_VARIABLES, 'NODE_EXTRA_CA_CERTS', 'npm_config_registry', 'npm_config_cafile'],
  ask: [
    // In a file of the private home, because a variable would win over the app's own .npmrc.
    {
      command: ['npm', 'config', 'get', 'registry'],
      into: { homeFile: '.npmrc', text: 'registry={answer}' },
    },
    // What is set for npm alone, yarn needs too.
    { command: ['npm', 'config', 'get', 'cafile'], into: { variable: 'NODE_EXTRA_CA_CERTS' } },
    // Newer yarns do not read the file above.
    {
      command: ['npm', 'config', 'get', 'registry'],
      into: { homeFile: '.yarnrc.yml', text: 'npmRegistryServer: "{answer}"' },
    },
  ],
  isPart,
  detect: (files) => firstSign(files, { manifest: ['package.json'], program: PROGRAMS }),
  plan,
};

async function isPart(files: SourceFiles, directory: string): Promise<boolean> {
  if (!(await files.exists('package.json')) && !(await files.exists('pnpm-workspace.yaml'))) return false;
  const members = await readWorkspace(files, await readPackageJson(files));
  return members?.some((member) => member.directory === directory) === true;
}

async function plan(files: SourceFiles, asked: AppDeclaration): Promise<PlanParts> {
  const top = await readPackageJson(files);
  const manager = await packageManager(files, top);
  const app = await findAppPackage(files, top, manager, asked);
  const version = await nodeVersion(app.files, app.packageJson, { files, packageJson: top });
  const build = await buildSteps(files, top, manager, app);
  const makesNothing = build.length === 0 && !asked.buildsItself && !hasInstallScript(top, app.packageJson);
  const start = makesNothing ? { ...app.start, ...(await withoutEnvFiles(app.files, app.start)) } : app.start;
  const { directory, framework } = app;
  const named = asked.processes ?? commandsOf(start.processes);
  const commands = Object.values(named);
  const stays = asked.keepsDevelopment
    ? 'it is set on the app'
    : (whyDevelopmentStays(commands, app.packageJson) ??
      (await whyTypescriptStays(app.files, commands, app.packageJson)));
  const misfit = await lockProblem(files, top, manager);
  const installed = {
    manager,
    packageJson: top,
    builds: build.length > 0 || asked.replacesSteps,
    developmentStays: stays,
    isWorkspace: app.members !== null,
    part: await installedPart(files, top, manager, app),
    isLockStale: misfit === null && (await isBunLockStale(files, top, manager)),
  };
  const missing = makesNothing
    ? await missingProgram(app.files, asked.processes ?? start.processes, app.packageJson.wants('typescript'))
    : null;
  const unset = makesNothing ? await missingEnvFile(app.files, app.packageJson, named) : null;
  const registry = await otherRegistry(files, manager.lock);
  const npx = npxPackages(commands, app.packageJson, directory);
  const called = calledTools(commands, app.packageJson);
  const callNotes = CALLED_TOOLS.flatMap((name) => {
    const line = name === manager.program ? undefined : (called.byUnits.get(name) ?? called.byBuild.get(name));
    return line === undefined ? [] : [`${name} is fetched, too: "${line.slice(0, 80)}" calls it`];
  });
  const stale = installed.isLockStale ? [STALE] : [];
  const kept = stays === null || !needsDevelopment(installed) ? [] : [`Development packages stay: ${stays}`];
  return {
    title: titleOf(top, manager, app),
    tools: nodeTools(version.wanted, manager, called),
    environment: [
      ...(await packageVariables(files, top, manager)),
      ...(framework?.environment ?? []),
      ...(start.environment ?? []),
      ...npx.environment,
    ],
    newVariables: framework?.newVariables ?? [],
    files: [...(start.files ?? []), ...npx.files],
    dependencies: await packageSets(files, installed),
    // Of a site nothing but its files is used.
    steps: [...build, ...(start.site == null ? pruneSteps(installed) : []), ...npx.steps],
    site: start.site == null ? null : inPackage(directory, start.site),
    processes: start.site == null ? processesIn(directory, start.processes) : start.processes,
    path: directory === '' ? [] : [`${directory}/${BIN}`, BIN],
    notes: [
      ...manager.notes,
      ...version.notes,
      ...app.notes,
      ...start.notes,
      ...kept,
      ...callNotes,
      ...stale,
      ...(registry === null ? [] : [registry]),
    ],
    warnings: start.warnings ?? [],
    problems: [
      ...[version.problem, misfit, missing, unset].filter((each) => each !== null),
      ...app.problems,
      ...start.problems,
      ...(build.length > 0 && asked.processes === null && nothingStarts(app) ? [MAKES_PAGES] : []),
    ],
  };
}

function commandsOf(processes: Readonly<Record<string, PlannedProcess>>): Record<string, string> {
  return Object.fromEntries(Object.entries(processes).map(([name, { command }]) => [name, command]));
}

const MAKES_PAGES: PlanProblem = {
  cause: 'no_process',
  message: 'package.json has a build script, and nothing says what starts the app, or where pages are that it makes.',
  hint: 'Name the directory of the pages in tancho.yaml: static: { root: dist }; or add a file named Procfile at the top of the repository with one process per line, for example: web: node server.js. Then commit and push again.',
};

function nothingStarts({ problems, start }: AppPackage): boolean {
  return [...problems, ...start.problems].length === 0 && Object.keys(start.processes).length === 0;
}

function titleOf({ isThere }: PackageJson, { title }: PackageManager, { framework, directory }: AppPackage): string {
  if (!isThere && directory === '') return 'Node.js';
  return `${framework?.name ?? 'Node.js'} with ${title}${directory === '' ? '' : `, the package ${directory}`}`;
}

function inPackage(directory: string, site: NonNullable<PlanParts['site']>): NonNullable<PlanParts['site']> {
  return directory === '' ? site : { ...site, roots: site.roots.map((root) => `${directory}/${root}`) };
}

/** Programs of packages may lie beside the package or at the top: they are found by their names. */
function processesIn(
  directory: string,
  processes: Readonly<Record<string, PlannedProcess>>,
): Record<string, PlannedProcess> {
  const moved = Object.entries(processes).map(([name, { command, from }]) => {
    const found = directory === '' ? command : command.replaceAll(`./${BIN}/`, '');
    const where =
      directory === '' || !from.endsWith('package.json')
        ? from
        : from.replace(/package\.json$/, `${directory}/package.json`);
    return [name, { command: inDirectory(directory, found), from: where }];
  });
  return Object.fromEntries(moved) as Record<string, PlannedProcess>;
}
