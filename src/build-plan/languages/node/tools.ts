/** Node and the package managers, and how versions that are not installed are fetched from the npm registry. */
import type { ToolDownload, Tool, WantedVersion } from '../../build-plan.ts';
import { DENO } from '../deno/tool.ts';
import { CALLED_TOOLS, type CalledTool, type CalledTools } from './called-tools.ts';
import type { PackageManager } from './package-manager.ts';

const NODE: Tool = {
  program: 'node',
  minimum: '18.0.0',
  runtime: true,
  install: {
    'apt-get': 'apt-get install -y nodejs npm',
    apk: 'apk add nodejs npm',
    dnf: 'dnf install -y nodejs npm',
    brew: 'brew install node',
  },
  download: {
    otherwise: null,
    available: ['npm', 'view', 'node', 'versions', '--json'],
    // The package brings the binary with a script, which newer npm runs only when allowed by name.
    files: { 'package.json': '{"private":true,"allowScripts":{"node":true}}' },
    install: [...fromNpm('--ignore-scripts=false'), 'node@{version}'],
    // Today's npm does not run on these.
    companions: [
      { for: '<14.17', argument: 'npm@6' },
      { for: '>=14.17 <18.17', argument: 'npm@9' },
      { for: '>=18.17 <20.17 || >=21 <22.9', argument: 'npm@10' },
    ],
    bin: 'node_modules/.bin',
  },
};

const NPM: Tool = {
  program: 'npm',
  runtime: true,
  install: {
    'apt-get': 'apt-get install -y npm',
    apk: 'apk add npm',
    dnf: 'dnf install -y npm',
    brew: 'brew install node',
  },
};

/** What every app needs. */
export const NODE_TOOLS: readonly Tool[] = [NODE, NPM];

/** Those of the package manager, and those that are called by name. */
export function nodeTools(node: WantedVersion | null, packages: PackageManager, called: CalledTools): Tool[] {
  const tools = managerTools(node, packages);
  const own = tools.map((tool) => {
    const isCalled = CALLED_TOOLS.some((name) => name === tool.program && called.byUnits.has(name));
    return isCalled ? { ...tool, runtime: true } : tool;
  });
  const missing = CALLED_TOOLS.filter((name) => !tools.some(({ program }) => program === name));
  const others = missing.filter((name) => called.byUnits.has(name) || called.byBuild.has(name));
  return [...own, ...others.map((name) => ({ ...otherTool(name), runtime: called.byUnits.has(name) }))];
}

function otherTool(name: CalledTool): Tool {
  switch (name) {
    case 'yarn':
      return manager('yarn', 'yarn', '1', null);
    case 'pnpm':
      return manager('pnpm', 'pnpm', '10', null);
    case 'bun':
      return bun(null);
    case 'deno':
      return DENO;
  }
}

function managerTools(node: WantedVersion | null, { kind, wanted, isPnp }: PackageManager): Tool[] {
  const tools: Tool[] = [{ ...NODE, wanted: node }, NPM];
  if (kind === 'yarn-classic') tools.push(manager('yarn', 'yarn', '1', wanted));
  if (kind === 'yarn-berry') {
    const yarn = manager('yarn', '@yarnpkg/cli-dist', '4', wanted);
    // Without unpacked packages only yarn finds their programs.
    tools.push({ ...yarn, minimum: '2.0.0', runtime: isPnp });
  }
  if (kind === 'bun') tools.push(bun(wanted));
  if (kind === 'pnpm') tools.push(manager('pnpm', 'pnpm', '10', wanted));
  return tools;
}

/** Its package brings the program with a script, as that of Node does. */
function bun(wanted: WantedVersion | null): Tool {
  const tool = manager('bun', 'bun', '1', wanted);
  const { download = null } = tool;
  return {
    ...tool,
    runtime: true,
    download: download && {
      ...download,
      files: { 'package.json': '{"private":true,"allowScripts":{"bun":true}}' },
      install: [...fromNpm('--ignore-scripts=false'), 'bun@{version}'],
    },
  };
}

function manager(program: string, name: string, otherwise: string, wanted: WantedVersion | null): Tool {
  const download: ToolDownload = {
    otherwise,
    available: ['npm', 'view', name, 'versions', '--json'],
    install: [...fromNpm(), `${name}@{version}`],
    bin: 'node_modules/.bin',
  };
  return { program, install: { npm: `npm install -g ${name}` }, wanted, download };
}

function fromNpm(...more: readonly string[]): string[] {
  return ['npm', 'install', '--prefix', '{directory}', '--no-package-lock', '--no-audit', '--no-fund', ...more];
}
