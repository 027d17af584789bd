/** Node.js, with npm, yarn or pnpm. */
import type { Step } from '../../build-plan.ts';
import { type Asked, firstSign, type Language, type PlanParts } from '../../language.ts';
import type { SourceFiles } from '../../source/source-files.ts';
import { NETWORK_VARIABLES } from '../network-variables.ts';
import { SITE_OPTIONS } from '../static/site-server.ts';
import { nodeVersion } from './node-version.ts';
import { readPackageJson, type PackageJson } from './package-json.ts';
import { packageManager, type PackageManager } from './package-manager.ts';
import { packageSets, packageVariables, pruneSteps } from './packages.ts';
import { defaultStart } from './start.ts';
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

async function plan(files: SourceFiles, _asked: Asked): Promise<PlanParts> {
  const packageJson = await readPackageJson(files);
  const manager = await packageManager(files, packageJson);
  const version = await nodeVersion(files, packageJson);
  const build = buildSteps(packageJson, manager);
  const installed = { manager, packageJson, builds: build.length > 0, developmentStays: null };
  return {
    title: packageJson.isThere ? `Node.js with ${manager.title}` : 'Node.js',
    tools: nodeTools(version.wanted, manager),
    environment: packageVariables(manager),
    dependencies: await packageSets(files, installed),
    steps: [...build, ...pruneSteps(installed)],
    processes: await defaultStart(files, packageJson),
    notes: [...manager.notes, ...version.notes],
    problems: version.problem === null ? [] : [version.problem],
  };
}

function buildSteps({ scripts }: PackageJson, { program }: PackageManager): Step[] {
  const script = ['heroku-postbuild', 'build'].find((name) => (scripts[name] ?? '') !== '');
  return script === undefined ? [] : [{ name: `${program} run ${script}`, run: [program, 'run', script] }];
}
