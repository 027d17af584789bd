/** Hugo: a site of Markdown and templates, built once and served as files. */
import { gte, validRange } from 'semver';
import type { DependencySet, PlanProblem, Step, Tool, Variable, WantedVersion } from '../../build-plan.ts';
import { type AppDeclaration, type Detection, firstSign, type Language, type PlanParts } from '../../language.ts';
import type { FoundLine, SourceFiles } from '../../source/source-files.ts';
import { frontEnd } from '../front-end.ts';
import { GO } from '../go/go.ts';
import { NETWORK_VARIABLES } from '../network-variables.ts';
import { nodejs } from '../node/node.ts';
import { readPackageJson } from '../node/package-json.ts';
import { scriptLines, withCalledScripts } from '../node/script-lines.ts';
import { ASKED_OF_PIP, PIP_SETTINGS, PYTHON, UV } from '../python/tools.ts';
import { serveSite, SITE_NODE, SITE_OPTIONS } from '../static/site-server.ts';
import { HUGO, OLDEST_FETCHED } from './tool.ts';

const SETTINGS = ['hugo.toml', 'hugo.yaml', 'hugo.yml', 'hugo.json', 'config/_default/hugo.*'];
/** Before 0.110; others have files of these names, too. */
const OLD_SETTINGS = ['config.toml', 'config.yaml', 'config.yml', 'config.json', 'config/_default/config.*'];
const ASIDE = ['content', 'archetypes/default.md', 'layouts', 'themes', '.gitmodules'];
const BASE_URL = /^\s*["']?baseURL["']?\s*[:=]/i;
const DIRECTORY = /^\s*["']?publishDir["']?\s*[:=]\s*["']?([\w][\w./-]*)/i;
/** A name of its own below themes/; what has a host in it is a module. */
const THEME = /^\s*["']?theme["']?\s*[:=]\s*\[?\s*["']?([\w][\w-]*)["'\]\s,]*(?:#.*)?$/i;
const CACHE = '{downloads}/hugo';
const MAX_COMMAND = 4_096;

export const hugo: Language = {
  name: 'hugo',
  description: 'Hugo sites, built and served as files',
  example: 'node .tancho/server.mjs',
  signs: ['hugo.toml', 'hugo.yaml', 'hugo.json', 'config/_default/hugo.toml'],
  tools: [HUGO, PYTHON, SITE_NODE],
  inherit: [...NETWORK_VARIABLES, ...PIP_SETTINGS, 'GOPROXY', 'GOSUMDB', 'npm_config_registry', 'NPM_CONFIG_REGISTRY'],
  ask: [...ASKED_OF_PIP, { command: ['npm', 'config', 'get', 'registry'], into: { variable: 'NPM_CONFIG_REGISTRY' } }],
  options: SITE_OPTIONS,
  detect,
  plan,
};

async function detect(files: SourceFiles): Promise<Detection | null> {
  const found = await firstSign(files, { manifest: SETTINGS });
  if (found !== null) return found;
  for (const pattern of OLD_SETTINGS) {
    const line = (await files.exists(ASIDE[0] ?? '')) ? await files.findLine(pattern, BASE_URL) : null;
    if (line !== null && (await files.find(...ASIDE.slice(1))) !== null) {
      return { because: line.file, strength: 'manifest' };
    }
  }
  return null;
}

async function plan(files: SourceFiles, asked: AppDeclaration): Promise<PlanParts> {
  const { wanted, note } = await wantedHugo(files);
  const packages = await packagesOf(files, asked);
  const modules = await files.exists('go.mod');
  const served = serveSite(
    {
      roots: [(await setting(files, DIRECTORY))?.match[1] ?? 'public'],
      fallback: null,
      from: 'Hugo',
      otherwise: {
        cause: 'build_failed',
        message: 'Hugo has made no index.html.',
        hint: 'Try "hugo" in the directory of the source: its warnings say which layouts are missing. Commit these, or the theme that has them, and push again.',
      },
    },
    asked,
  );
  return {
    title: 'Hugo',
    tools: [
      { ...HUGO, wanted },
      { ...PYTHON, runtime: false },
      ...(modules ? [GO] : []),
      ...withServer(packages.tools),
    ],
    sharedTools: [UV],
    ...served,
    environment: [...VARIABLES, ...packages.environment, ...served.environment],
    dependencies: packages.dependencies,
    steps: packages.steps,
    notes: [...(note === null ? [] : [note]), ...packages.notes],
    problems: [...packages.problems, ...(await missingTheme(files))],
  };
}

const VARIABLES: readonly Variable[] = [
  // The site answers at whatever name it is asked by; where whole addresses are needed, the app sets this variable itself.
  { name: 'HUGO_BASEURL', value: '/', scope: 'build' },
  { name: 'HUGO_CACHEDIR', value: CACHE, scope: 'build' },
  { name: 'GOPATH', value: '{downloads}/go', scope: 'build' },
  { name: 'GOCACHE', value: '{downloads}/go-build', scope: 'build' },
  { name: 'GOFLAGS', value: '-modcacherw', scope: 'build' },
];

interface Packages {
  readonly tools: readonly Tool[];
  readonly environment: readonly Variable[];
  readonly dependencies: readonly DependencySet[];
  readonly steps: readonly Step[];
  readonly notes: readonly string[];
  readonly problems: readonly PlanProblem[];
}

const BUILD: Step = { name: 'hugo', run: ['hugo'] };

/** Styles are often made by packages of npm; a build script may call Hugo itself. */
async function packagesOf(files: SourceFiles, asked: AppDeclaration): Promise<Packages> {
  const script = await files.jsonValue('package.json', 'scripts.build');
  if (typeof script === 'string' && script !== '') {
    const front = await frontEnd(files, asked);
    const packageJson = await readPackageJson(files);
    const lines = withCalledScripts(scriptLines('build', packageJson), packageJson);
    const callsHugo = lines.some((line) => /(?:^|[\s;&|])hugo(?:\s|$)/.test(line.slice(0, MAX_COMMAND)));
    const steps = callsHugo ? front.steps : [...front.steps.slice(0, -1), BUILD, ...front.steps.slice(-1)];
    return { ...front, steps };
  }
  const nothing = { tools: [], environment: [], dependencies: [], steps: [BUILD], notes: [], problems: [] };
  if ((await files.find('package.json')) === null) return nothing;
  const {
    tools = [],
    environment = [],
    ...node
  } = await nodejs.plan(files, {
    ...asked,
    processes: {},
    keepsDevelopment: true,
  });
  return {
    ...nothing,
    tools: tools.map((tool) => ({ ...tool, runtime: false })),
    environment: environment.map((variable) => ({ ...variable, scope: 'build' as const })),
    dependencies: node.dependencies ?? [],
    problems: node.problems ?? [],
  };
}

/** The site is served by Node. */
function withServer(tools: readonly Tool[]): Tool[] {
  const others = tools.filter(({ program }) => program !== SITE_NODE.program);
  const node = tools.find(({ program }) => program === SITE_NODE.program) ?? SITE_NODE;
  return [{ ...node, runtime: true }, ...others];
}

async function setting(files: SourceFiles, line: RegExp): Promise<FoundLine | null> {
  for (const pattern of [...SETTINGS, ...OLD_SETTINGS]) {
    const found = await files.findLine(pattern, line);
    if (found !== null) return found;
  }
  return null;
}

async function missingTheme(files: SourceFiles): Promise<PlanProblem[]> {
  const found = await setting(files, THEME);
  const theme = found?.match[1] ?? '';
  if (found === null || (await files.list(`themes/${theme}`)).length > 0) return [];
  const isSubmodule = await files.hasLine('.gitmodules', new RegExp(`^\\s*path\\s*=\\s*themes/${theme}\\s*$`));
  const add = `git add themes/${theme} && git commit -m "Add the theme", and push again`;
  return [
    {
      cause: 'invalid_config',
      message: `${found.file} line ${found.line} names the theme ${theme}, and there is nothing in themes/${theme}${isSubmodule ? ', which is a submodule that is not there' : ''}.`,
      hint: isSubmodule
        ? `Make its files part of the repository: git submodule update --init themes/${theme} && git rm -q --cached themes/${theme} && rm themes/${theme}/.git && ${add}.`
        : `Put its files there: ${add}.`,
    },
  ];
}

/** Where other hosting platforms read the version of Hugo. */
const VERSIONS: readonly (readonly [file: string, line: RegExp])[] = [
  ['.tool-versions', /^\s*hugo\s+(?:extended_)?v?(\d+\.\d+\.\d+)/],
  ['.hvm', /^\s*v?(\d+\.\d+\.\d+)/],
  ['netlify.toml', /^\s*HUGO_VERSION\s*=\s*["']v?(\d+\.\d+\.\d+)/],
  ['vercel.json', /"HUGO_VERSION"\s*:\s*"v?(\d+\.\d+\.\d+)/],
  ['.github/workflows/*', /^\s*HUGO_VERSION\s*:\s*["']?v?(\d+\.\d+\.\d+)/],
];

async function wantedHugo(files: SourceFiles): Promise<{ wanted: WantedVersion | null; note: string | null }> {
  for (const [file, line] of VERSIONS) {
    const found = await files.findLine(file, line);
    const text = found?.match[1];
    const range = text === undefined ? null : validRange(text);
    if (found === null || text === undefined || range === null) continue;
    if (gte(text, OLDEST_FETCHED)) return { wanted: { range, text, from: found.file }, note: null };
    // What was written for an old one is understood best by the oldest.
    const wanted = { range: `${range} || ${OLDEST_FETCHED}`, text, from: found.file };
    const note = `${found.file} asks for Hugo ${text}, which can only be installed on the server: without it, ${OLDEST_FETCHED} builds the site`;
    return { wanted, note };
  }
  return { wanted: null, note: null };
}
