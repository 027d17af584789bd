/** Deno: programs in TypeScript and JavaScript that name their packages themselves. */
import { validRange } from 'semver';
import { isRecord } from '../../../lib/is-record.ts';
import type { DependencySet, PlannedProcess, Step, WantedVersion } from '../../build-plan.ts';
import { type Detection, firstSign, type Language, type PlanParts } from '../../language.ts';
import type { SourceFiles } from '../../source/source-files.ts';
import { NETWORK_VARIABLES } from '../network-variables.ts';
import { NODE_TOOLS } from '../node/tools.ts';
import { DENO } from './tool.ts';

const SETTINGS = ['deno.json', 'deno.jsonc'];
const PROGRAMS = [
  'main.ts',
  'server.ts',
  'index.ts',
  'mod.ts',
  'main.js',
  'server.js',
  'src/main.ts',
  'src/server.ts',
  'src/index.ts',
];
/** In a program without settings. */
const OF_DENO = /\bDeno\.\w|\bfrom\s+["'](?:https:\/\/deno\.land\/|jsr:)/;
/** Starts anew at every change, or builds in memory. */
const DEVELOPMENT = /(?:^|\s)--watch\b|\bdev\.[jt]sx?\b/;
/** In the code, so that units have it. */
const PACKAGES = '.deno';

/** Made of what is kept: they lie beside that, and Deno makes them by itself only where it is told to. */
const NODE_MODULES: Step = { name: 'deno install (node_modules)', run: ['deno', 'install', '--frozen'] };

/** They only bring it. */
const BRINGING = NODE_TOOLS.map((tool) => ({ ...tool, runtime: false }));

export const deno: Language = {
  name: 'deno',
  description: 'Deno',
  example: 'deno run -A main.ts',
  signs: [...SETTINGS, 'deno.lock'],
  starts: /\bdeno\s+(?:run|serve)\s+(?:-\S+\s+)*([\w./-]+\.[cm]?[jt]sx?)\b/,
  tools: [DENO],
  inherit: [
    ...NETWORK_VARIABLES,
    ...[
      'NODE_EXTRA_CA_CERTS',
      'npm_config_registry',
      'npm_config_cafile',
      'NPM_CONFIG_REGISTRY',
      'JSR_URL',
      'DENO_CERT',
    ],
  ],
  ask: [
    { command: ['npm', 'config', 'get', 'registry'], into: { variable: 'NPM_CONFIG_REGISTRY' } },
    { command: ['npm', 'config', 'get', 'cafile'], into: { variable: 'NODE_EXTRA_CA_CERTS' } },
  ],
  detect,
  plan,
};

async function detect(files: SourceFiles): Promise<Detection | null> {
  const found = await firstSign(files, { manifest: [...SETTINGS, 'deno.lock'] });
  if (found !== null || (await files.exists('package.json'))) return found;
  for (const program of PROGRAMS) {
    if (await files.hasLine(program, OF_DENO)) return { because: program, strength: 'program' };
  }
  return null;
}

async function plan(files: SourceFiles): Promise<PlanParts> {
  const settings = await settingsOf(files);
  const tasks = tasksOf(settings);
  const program = await files.find(...PROGRAMS);
  const start = await startOf(files, tasks, program);
  return {
    title: 'Deno',
    tools: [...BRINGING, { ...DENO, wanted: await wantedDeno(files) }],
    environment: [
      { name: 'DENO_DIR', value: `{code}/${PACKAGES}` },
      { name: 'DENO_NO_UPDATE_CHECK', value: '1' },
      // The authorities that the machine trusts, too.
      { name: 'DENO_TLS_CA_STORE', value: 'mozilla,system' },
      { name: 'DENO_NO_PROMPT', value: '1' },
    ],
    dependencies: [await packages(files, program)],
    steps: [
      ...((await files.exists('deno.lock')) && (await hasNodeModules(files, settings)) ? [NODE_MODULES] : []),
      ...(tasks.has('build') ? [{ name: 'deno task build', run: ['deno', 'task', 'build'] }] : []),
    ],
    processes: start === null ? {} : { web: start },
  };
}

async function packages(files: SourceFiles, program: string | null): Promise<DependencySet> {
  const isLocked = await files.exists('deno.lock');
  const frozen = isLocked ? ['--frozen'] : [];
  const hasList = (await files.find(...SETTINGS, 'package.json')) !== null;
  return {
    name: 'Deno packages',
    keep: { kind: 'restored', directory: PACKAGES },
    neverKept: isLocked ? null : 'there is no deno.lock',
    key: { files: [...SETTINGS, 'deno.lock', 'package.json'] },
    steps: [
      ...(hasList ? [{ name: 'deno install', run: ['deno', 'install', ...frozen] }] : []),
      ...(program === null ? [] : [{ name: `deno cache ${program}`, run: ['deno', 'cache', ...frozen, program] }]),
      { name: `the directory ${PACKAGES}`, run: ['mkdir', '-p', PACKAGES] },
    ],
  };
}

async function startOf(
  files: SourceFiles,
  tasks: ReadonlyMap<string, string>,
  program: string | null,
): Promise<PlannedProcess | null> {
  const isForUse = (task: string): boolean =>
    tasks.has(task) && !DEVELOPMENT.test((tasks.get(task) ?? '').slice(0, 1_000));
  const other = ['preview', 'serve'].find((task) => isForUse(task));
  const task = isForUse('start') ? 'start' : tasks.has('start') ? other : undefined;
  if (task !== undefined) return { command: `deno task ${task}`, from: `tasks.${task} in deno.json` };
  if (program === null)
    return tasks.has('start') ? { command: 'deno task start', from: 'tasks.start in deno.json' } : null;
  // What it exports is served by Deno itself.
  const isHandler = await files.hasLine(program, /^export\s+default\s+(?:\{|app\b)/);
  const command = isHandler ? `deno serve -A --host 0.0.0.0 --port $PORT ${program}` : `deno run -A ${program}`;
  return { command, from: program };
}

/** They may have comments and commas behind the last values. */
async function settingsOf(files: SourceFiles): Promise<Readonly<Record<string, unknown>>> {
  const file = await files.find(...SETTINGS);
  const content = file === null ? null : await files.foreignJson(file);
  return isRecord(content) ? content : {};
}

function tasksOf({ tasks }: Readonly<Record<string, unknown>>): ReadonlyMap<string, string> {
  const named = Object.entries(isRecord(tasks) ? tasks : {});
  return new Map(
    named.map(([name, task]) => {
      const command = isRecord(task) ? task['command'] : task;
      return [name, typeof command === 'string' ? command : ''];
    }),
  );
}

/** With a package.json Deno wants them where nothing else is said. */
async function hasNodeModules(
  files: SourceFiles,
  { nodeModulesDir }: Readonly<Record<string, unknown>>,
): Promise<boolean> {
  if (nodeModulesDir === undefined) return files.exists('package.json');
  return nodeModulesDir !== 'none' && nodeModulesDir !== false;
}

async function wantedDeno(files: SourceFiles): Promise<WantedVersion | null> {
  for (const [file, line] of [
    ['.deno-version', /^\s*v?([\d.]+)/],
    ['.dvmrc', /^\s*v?([\d.]+)/],
    ['.tool-versions', /^\s*deno\s+([\d.]+)/],
  ] as const) {
    const text = (await files.findLine(file, line))?.match[1];
    const range = text === undefined ? null : validRange(text);
    if (text !== undefined && range !== null) return { range, text, from: file };
  }
  return null;
}
