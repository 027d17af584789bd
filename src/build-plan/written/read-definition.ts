/** YAML -> Definition. Every mistake is a YamlMistake that names the file, the line and the key. */
import { valid } from 'semver';
import type { Variable } from '../build-plan.ts';
import { YamlNode } from '../yaml-node.ts';
import type { Conditional, Definition, When, WrittenDependencies, WrittenTool } from './definition.ts';

const KEYS = [
  ...['description', 'detect', 'tools', 'inherit', 'options', 'dependencies', 'steps', 'processes', 'environment'],
  ...['example', 'notes'],
];
const TOOL_KEYS = ['program', 'version', 'minimum', 'check', 'install', 'when', 'runtime', 'asked', 'others'];
const MANAGERS = ['apt-get', 'apk', 'dnf', 'brew', 'npm'];
const WORDS = ['app', 'code', 'downloads', 'layer'];
const PROGRAM = /^\w[\w.+-]*$/;

type Fields = Map<string, YamlNode>;

/** `file`: how the text is called in mistakes. `inheritable`: the variables of the server that builds may be given. */
export function readDefinition(file: string, text: string, inheritable: ReadonlySet<string>): Definition {
  const root = YamlNode.parse(file, text);
  const fields = root.fields(KEYS);
  return {
    description: required(root, fields, 'description').text(),
    example: required(root, fields, 'example').text(),
    detect: required(root, fields, 'detect').texts('a list of files'),
    tools: each(fields, 'tools', readTool),
    inherit: each(fields, 'inherit', (node) => {
      // Other variables of the server may hold its secrets.
      if (!inheritable.has(node.text())) throw node.mistake(`one of ${[...inheritable].sort().join(', ')}`);
      return node.text();
    }),
    options: each(fields, 'options', (node) => {
      const option = node.fields(['key', 'variable', 'description']);
      return {
        key: required(node, option, 'key').text(),
        variable: required(node, option, 'variable').text(),
        description: required(node, option, 'description').text(),
      };
    }),
    dependencies: each(fields, 'dependencies', readDependencies),
    steps: each(fields, 'steps', readStep),
    processes: each(fields, 'processes', (node) => {
      const process = node.fields(['name', 'when', 'command']);
      return {
        name: required(node, process, 'name').text(),
        when: when(process),
        command: required(node, process, 'command').text('a command'),
      };
    }),
    environment: each(fields, 'environment', readVariable),
    notes: each(fields, 'notes', (node) => {
      const note = node.fields(['when', 'text']);
      return { when: when(note), text: required(node, note, 'text').text() };
    }),
  };
}

function required(node: YamlNode, fields: Fields, key: string): YamlNode {
  const field = fields.get(key);
  if (field === undefined) throw node.wrong(`needs the key "${key}"`);
  return field;
}

function each<T>(fields: Fields, key: string, read: (node: YamlNode) => T): T[] {
  const node = fields.get(key);
  return node === undefined || node.isEmpty ? [] : node.list().map(read);
}

function when(fields: Fields, key = 'when'): When {
  const node = fields.get(key);
  if (node === undefined) return null;
  return node.isText ? [node.text()] : node.texts('a file or a list of files, one of which is there');
}

function argv(node: YamlNode, words: readonly string[]): string[] {
  const list = node.texts('a list of arguments, the program first');
  if (list.length === 0) throw node.mistake('a list of arguments, the program first');
  for (const word of list) {
    const unknown = [...word.matchAll(/\{([^{}]*)\}/g)].find((match) => !words.includes(match[1] ?? ''));
    if (unknown !== undefined)
      throw node.mistake(`free of {${unknown[1]}}; known here: ${words.map((name) => `{${name}}`).join(', ')}`);
  }
  return list;
}

function readTool(node: YamlNode): Conditional<WrittenTool> {
  const fields = node.fields(TOOL_KEYS);
  const minimum = fields.get('minimum');
  if (minimum !== undefined && valid(minimum.text()) === null) throw minimum.mistake("a version such as '18.0.0'");
  const check = fields.get('check');
  const version = fields.get('version')?.texts();
  const install = [...required(node, fields, 'install').fields(MANAGERS)];
  return {
    program: program(required(node, fields, 'program')),
    ...(version !== undefined && { version }),
    ...(minimum !== undefined && { minimum: minimum.text() }),
    ...(check !== undefined && { check: argv(check, []) }),
    install: Object.fromEntries(install.map(([manager, command]) => [manager, command.text('a command')])),
    when: when(fields),
    runtime: fields.get('runtime')?.flag() ?? false,
    asked: each(fields, 'asked', (one) => {
      const asked = one.fields(['file', 'matches']);
      return {
        file: required(one, asked, 'file').text('a path'),
        matches: required(one, asked, 'matches').regex(),
      };
    }),
    others: each(fields, 'others', program),
  };
}

function program(node: YamlNode): string {
  if (!PROGRAM.test(node.text())) throw node.mistake('the name of a program, without a directory');
  return node.text();
}

function readStep(node: YamlNode): Conditional<{ name: string; run: string[] }> {
  const fields = node.fields(['name', 'when', 'run']);
  return {
    name: required(node, fields, 'name').text(),
    when: when(fields),
    run: argv(required(node, fields, 'run'), WORDS),
  };
}

function readDependencies(node: YamlNode): Conditional<WrittenDependencies> {
  const fields = node.fields(['name', 'when', 'never-kept', 'key', 'restored', 'layer', 'steps']);
  const restored = fields.get('restored');
  const layer = fields.get('layer');
  if ((restored === undefined) === (layer?.flag() !== true))
    throw node.mistake('given either "restored: <directory>" or "layer: true"');
  const key = required(node, fields, 'key').fields(['files', 'json']);
  const json = key.get('json')?.entries() ?? [];
  return {
    name: required(node, fields, 'name').text(),
    when: when(fields),
    neverKept: when(fields, 'never-kept'),
    key: {
      files: key.get('files')?.texts() ?? [],
      json: Object.fromEntries(json.map(([file, keys]) => [file, keys.texts('a list of keys')])),
    },
    keep: restored === undefined ? { kind: 'layer' } : { kind: 'restored', directory: restored.text('a directory') },
    steps: required(node, fields, 'steps').list().map(readStep),
  };
}

function readVariable(node: YamlNode): Conditional<Variable> {
  const fields = node.fields(['name', 'value', 'when', 'scope']);
  const scope = fields.get('scope')?.text() ?? 'both';
  if (scope !== 'both' && scope !== 'build' && scope !== 'run') {
    throw (fields.get('scope') ?? node).mistake('one of both, build, run');
  }
  return {
    name: required(node, fields, 'name').text(),
    value: required(node, fields, 'value').text(),
    when: when(fields),
    scope,
  };
}
