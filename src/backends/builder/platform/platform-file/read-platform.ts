/** platform.yaml -> Platform. Every mistake is a YamlMistake that names the file, the line and the key. */
import { dirname } from 'node:path';
import { valid, validRange } from 'semver';
import { YamlNode } from '../../../../build-plan/yaml-node.ts';
import { readCondition, required } from './conditions.ts';
import type { Condition, Facts } from './conditions.ts';
import type {
  Ask,
  DefaultProcess,
  Dependencies,
  OtherVersions,
  Platform,
  PlatformCopy,
  SharedTool,
  Step,
  Tool,
  Variable,
} from './platform-file.ts';

const KEYS = [
  ...['description', 'detect', 'facts', 'tools', 'shared-tools', 'inherit', 'ask', 'options', 'files', 'dependencies'],
  ...['steps', 'processes', 'environment', 'example', 'notes'],
];
const MANAGERS = ['apt-get', 'apk', 'dnf', 'brew', 'npm'];
const STEP_NAMES = ['app', 'code', 'downloads', 'layer'];

type Fields = Map<string, YamlNode>;

export function readPlatform(name: string, path: string, text: string): Platform {
  const root = YamlNode.parse(path, text);
  const fields = root.fields(KEYS);
  const facts = new Map<string, Condition>();
  for (const [fact, node] of fields.get('facts')?.entries() ?? []) facts.set(fact, readCondition(node, facts));
  const sharedTools = each(fields, 'shared-tools', readSharedTool);
  const names = [...STEP_NAMES, ...sharedTools.map((tool) => tool.name)];
  return {
    name,
    directory: dirname(path),
    description: required(root, fields, 'description').text(),
    detect: required(root, fields, 'detect').texts('a list of files'),
    facts,
    tools: each(fields, 'tools', (node) => readTool(node, facts)),
    sharedTools,
    inherit: fields.get('inherit')?.texts() ?? [],
    ask: each(fields, 'ask', readAsk),
    options: each(fields, 'options', (node) => {
      const option = node.fields(['key', 'variable', 'description']);
      return {
        key: required(node, option, 'key').text(),
        variable: required(node, option, 'variable').text(),
        description: required(node, option, 'description').text(),
      };
    }),
    files: each(fields, 'files', readCopy),
    dependencies: each(fields, 'dependencies', (node) => readDependencies(node, facts, names)),
    steps: each(fields, 'steps', (node) => readStep(node, facts, names)),
    processes: each(fields, 'processes', (node) => readProcess(node, facts)),
    environment: each(fields, 'environment', (node) => readVariable(node, facts)),
    notes: each(fields, 'notes', (node) => {
      const note = node.fields(['when', 'text']);
      return { when: when(note, facts), text: required(node, note, 'text').text() };
    }),
    example: required(root, fields, 'example').text(),
  };
}

function each<T>(fields: Fields, key: string, read: (node: YamlNode) => T): T[] {
  const node = fields.get(key);
  return node === undefined || node.isEmpty ? [] : node.list().map(read);
}

function when(fields: Fields, facts: Facts, key = 'when'): Condition | null {
  const node = fields.get(key);
  return node === undefined ? null : readCondition(node, facts);
}

function argv(node: YamlNode, names: readonly string[]): string[] {
  const words = node.texts('a list of arguments, the program first');
  if (words.length === 0) throw node.mistake('a list of arguments, the program first');
  for (const word of words) {
    const unknown = [...word.matchAll(/\{([^{}]*)\}/g)].find((match) => !names.includes(match[1] ?? ''));
    if (unknown !== undefined)
      throw node.mistake(`free of {${unknown[1]}}; known here: ${names.map((name) => `{${name}}`).join(', ')}`);
  }
  return words;
}

function readTool(node: YamlNode, facts: Facts): Tool {
  const fields = node.fields([
    'program',
    'version',
    'minimum',
    'check',
    'install',
    'when',
    'runtime',
    'versions',
    'asked',
    'others',
  ]);
  const minimum = fields.get('minimum');
  if (minimum !== undefined && valid(minimum.text()) === null) throw minimum.mistake("a version such as '18.0.0'");
  const check = fields.get('check');
  const versions = fields.get('versions');
  const install = [...required(node, fields, 'install').fields(MANAGERS)];
  return {
    program: required(node, fields, 'program').text(),
    version: fields.get('version')?.texts() ?? ['--version'],
    minimum: minimum?.text() ?? null,
    check: check === undefined ? null : argv(check, []),
    install: Object.fromEntries(install.map(([manager, command]) => [manager, command.text('a command')])),
    when: when(fields, facts),
    runtime: fields.get('runtime')?.flag() ?? false,
    versions: versions === undefined ? null : readVersions(versions),
    asked: each(fields, 'asked', readAsked),
    others: fields.get('others')?.texts() ?? [],
  };
}

function readAsked(node: YamlNode): { file: string; matches: RegExp } {
  const fields = node.fields(['file', 'matches']);
  return {
    file: required(node, fields, 'file').text('a path'),
    matches: required(node, fields, 'matches').regex('m'),
  };
}

function readVersions(node: YamlNode): OtherVersions {
  const fields = node.fields(['wanted', 'otherwise', 'available', 'files', 'install', 'companions', 'bin']);
  const wanted = required(node, fields, 'wanted').fields(['file', 'key', 'prefix']);
  const otherwise = fields.get('otherwise');
  if (otherwise !== undefined && validRange(otherwise.text()) === null) throw otherwise.mistake("a range such as '4'");
  const files = fields.get('files')?.entries() ?? [];
  return {
    wanted: {
      file: required(node, wanted, 'file').text('a path'),
      key: required(node, wanted, 'key').text('a key'),
      prefix: wanted.get('prefix')?.text() ?? '',
    },
    otherwise: otherwise?.text() ?? null,
    available: argv(required(node, fields, 'available'), []),
    files: Object.fromEntries(files.map(([path, content]) => [path, content.text()])),
    install: argv(required(node, fields, 'install'), ['directory', 'version']),
    companions: fields.get('companions')?.list().map(readCompanion) ?? [],
    bin: required(node, fields, 'bin').text('a directory'),
  };
}

function readCompanion(node: YamlNode): { for: string; argument: string } {
  const fields = node.fields(['for', 'argument']);
  const range = required(node, fields, 'for');
  if (validRange(range.text()) === null) throw range.mistake("a range of versions such as '<18'");
  return { for: range.text(), argument: required(node, fields, 'argument').text() };
}

function readJsonKey(node: YamlNode): { file: string; key: string } {
  const fields = node.fields(['file', 'key']);
  return { file: required(node, fields, 'file').text('a path'), key: required(node, fields, 'key').text('a key') };
}

function readSharedTool(node: YamlNode): SharedTool {
  const fields = node.fields(['name', 'per', 'steps']);
  return {
    name: required(node, fields, 'name').text(),
    per: required(node, fields, 'per').text('a program among the tools'),
    steps: required(node, fields, 'steps')
      .list()
      .map((step) => argv(step, ['directory'])),
  };
}

function readAsk(node: YamlNode): Ask {
  const fields = node.fields(['variable', 'home-file', 'text', 'command']);
  const command = argv(required(node, fields, 'command'), []);
  const file = fields.get('home-file');
  if (file === undefined) return { command, into: { variable: required(node, fields, 'variable').text() } };
  return { command, into: { homeFile: file.text(), text: required(node, fields, 'text').text() } };
}

function readCopy(node: YamlNode): PlatformCopy {
  const fields = node.fields(['from', 'to']);
  const to = required(node, fields, 'to');
  if (!/^\.tancho\/[\w.-]+$/.test(to.text())) throw to.mistake('a file directly below .tancho/');
  return { from: required(node, fields, 'from').text('a path'), to: to.text() };
}

function readStep(node: YamlNode, facts: Facts, names: readonly string[]): Step {
  const fields = node.fields(['name', 'when', 'run']);
  return {
    name: required(node, fields, 'name').text(),
    when: when(fields, facts),
    run: argv(required(node, fields, 'run'), names),
  };
}

function readDependencies(node: YamlNode, facts: Facts, names: readonly string[]): Dependencies {
  const fields = node.fields(['name', 'when', 'never-kept', 'key', 'restored', 'layer', 'steps']);
  const restored = fields.get('restored');
  const layer = fields.get('layer');
  if ((restored === undefined) === (layer?.flag() !== true))
    throw node.mistake('given either "restored: <directory>" or "layer: true"');
  const key = required(node, fields, 'key');
  const keyFields = key.fields(['files', 'json']);
  const json = keyFields.get('json')?.entries() ?? [];
  return {
    name: required(node, fields, 'name').text(),
    when: when(fields, facts),
    neverKept: when(fields, facts, 'never-kept'),
    key: {
      files: keyFields.get('files')?.texts() ?? [],
      json: Object.fromEntries(json.map(([file, keys]) => [file, keys.texts('a list of keys')])),
    },
    keep: restored === undefined ? { kind: 'layer' } : { kind: 'restored', directory: restored.text('a directory') },
    steps: required(node, fields, 'steps')
      .list()
      .map((step) => readStep(step, facts, names)),
  };
}

function readProcess(node: YamlNode, facts: Facts): DefaultProcess {
  const fields = node.fields(['name', 'when', 'module', 'command', 'command-from']);
  const from = fields.get('command-from');
  return {
    name: required(node, fields, 'name').text(),
    when: when(fields, facts),
    module: fields.get('module')?.text('a pattern of files') ?? null,
    command: from === undefined ? required(node, fields, 'command').text('a command') : readJsonKey(from),
  };
}

function readVariable(node: YamlNode, facts: Facts): Variable {
  const fields = node.fields(['name', 'value', 'when', 'scope']);
  const scope = fields.get('scope')?.text() ?? 'both';
  if (scope !== 'both' && scope !== 'build' && scope !== 'run') {
    throw (fields.get('scope') ?? node).mistake('one of both, build, run');
  }
  return {
    name: required(node, fields, 'name').text(),
    value: required(node, fields, 'value').text(),
    when: when(fields, facts),
    scope,
  };
}
