/** Node.js, with npm, yarn or pnpm. */
import type { Step } from '../../build-plan.ts';
import { type Asked, firstSign, type Language, type PlanParts } from '../../language.ts';
import type { SourceFiles } from '../../source/source-files.ts';
import { NETWORK_VARIABLES } from '../network-variables.ts';
import { SITE_OPTIONS } from '../static/site-server.ts';
import { whyDevelopmentStays } from './development.ts';
import { findFramework, type Framework } from './frameworks.ts';
import { lockProblem } from './lock-file.ts';
import { nodeVersion } from './node-version.ts';
import { readPackageJson, type PackageJson } from './package-json.ts';
import { packageManager, type PackageManager } from './package-manager.ts';
import { needsDevelopment, packageSets, packageVariables, pruneSteps } from './packages.ts';
import { frameworkBuild, startOf } from './start.ts';
import { NODE_TOOLS, nodeTools } from './tools.ts';

const PROGRAMS = ['server.js', 'index.js', 'app.js'];

export const nodejs: Language = {
  name: 'nodejs',
  description: 'Node.js, with npm, yarn or pnpm',
  example: 'node server.js',
  signs: ['package.json', ...PROGRAMS],
  tools: NODE_TOOLS,
  options: SITE_OPTIONS,
  inherit: [...NETWORK_VARIABLES, 'NODE_EXTRA_CA_CERTS', 'npm_config_registry', 'npm_config_cafile'],
  ask: [
    // In a file of the private home, because a variable would win over the app's own .npmrc.
    {
      command: ['npm', 'config', 'get', 'registry'],
      into: { homeFile: '.npmrc', text: 'registry={answer}' },
    },
    // What npm alone is told, yarn needs too.
    { command: ['npm', 'config', 'get', 'cafile'], into: { variable: 'NODE_EXTRA_CA_CERTS' } },
    // Newer yarns do not read the file above.
    {
      command: ['npm', 'config', 'get', 'registry'],
      into: { homeFile: '.yarnrc.yml', text: 'npmRegistryServer: "{answer}"' },
    },
  ],
  detect: (files) => firstSign(files, { manifest: ['package.json'], program: PROGRAMS }),
  plan,
};

async function plan(files: SourceFiles, asked: Asked): Promise<PlanParts> {
  const packageJson = await readPackageJson(files);
  const manager = await packageManager(files, packageJson);
  const version = await nodeVersion(files, packageJson);
  const framework = await findFramework(files, packageJson);
  const start = await startOf(files, packageJson, framework, asked);
  const build = buildSteps(packageJson, manager, framework === null ? null : frameworkBuild(framework, start));
  const commands = Object.values(asked.processes ?? start.processes).map((each) =>
    typeof each === 'string' ? each : each.command,
  );
  const stays = asked.keepsDevelopment ? 'it is set on the app' : whyDevelopmentStays(commands, packageJson);
  const installed = { manager, packageJson, builds: build.length > 0 || asked.replacesSteps, developmentStays: stays };
  const misfit = await lockProblem(files, packageJson, manager);
  const kept = stays === null || !needsDevelopment(installed) ? [] : [`Development packages stay: ${stays}`];
  return {
    title: titleOf(packageJson, manager, framework),
    tools: nodeTools(version.wanted, manager),
    environment: [...packageVariables(manager), ...(framework?.environment ?? []), ...(start.environment ?? [])],
    files: start.files ?? [],
    dependencies: await packageSets(files, installed),
    // Of a site nothing but its files is used.
    steps: [...build, ...(start.site == null ? pruneSteps(installed) : [])],
    site: start.site ?? null,
    processes: start.processes,
    notes: [...manager.notes, ...version.notes, ...start.notes, ...kept],
    problems: [...[version.problem, misfit].filter((each) => each !== null), ...start.problems],
  };
}

function titleOf({ isThere }: PackageJson, { title }: PackageManager, framework: Framework | null): string {
  return isThere ? `${framework?.name ?? 'Node.js'} with ${title}` : 'Node.js';
}

function buildSteps({ scripts }: PackageJson, { program }: PackageManager, otherwise: Step | null): Step[] {
  const script = ['heroku-postbuild', 'build'].find((name) => (scripts[name] ?? '') !== '');
  if (script !== undefined) return [{ name: `${program} run ${script}`, run: [program, 'run', script] }];
  return otherwise === null ? [] : [otherwise];
}
