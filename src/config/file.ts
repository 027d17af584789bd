/** config.yaml: its text with every setting commented out, and its reading into key -> text. */
import type { YAMLMap } from 'yaml';
import { readFile, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { nearest } from '../lib/nearest.ts';
import { ConfigError } from './config-error.ts';
import { SETTINGS, type Setting } from './schema.ts';

/** What one key of the file holds, and the line it is on. */
export interface FileValue {
  readonly text: string;
  readonly line: number;
}

const MAX_BYTES = 256 * 1024;
const KEYS: ReadonlySet<string> = new Set(Object.values(SETTINGS).map((setting) => setting.key));
const MAPS: ReadonlySet<string> = new Set(
  Object.values(SETTINGS).flatMap((setting: Setting<unknown>) => (setting.isMap === true ? [setting.key] : [])),
);

export function configPath(home: string): string {
  return join(home, 'config.yaml');
}

/** What the first start writes: every key, commented out, with its description and default. */
export function configTemplate(): string {
  const lines = [
    '# Settings of this Tancho server. Remove the "# " before a key to change it, then restart the server.',
    '# An environment variable wins over this file. Every key is explained in docs/config.md.',
  ];
  for (const setting of Object.values(SETTINGS)) {
    lines.push('', ...wrap(setting.description, 110).map((line) => `# ${line}`), `# Variable: ${setting.variable}`);
    lines.push(`# ${setting.key}: ${setting.default === '' ? '""' : setting.default}`);
  }
  return `${lines.join('\n')}\n`;
}

function wrap(text: string, width: number): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    if (line !== '' && line.length + 1 + word.length > width) {
      lines.push(line);
      line = word;
    } else {
      line = line === '' ? word : `${line} ${word}`;
    }
  }
  return [...lines, line];
}

/** Text of the file; null when there is none. */
export async function readConfigText(path: string): Promise<string | null> {
  try {
    const { size } = await stat(path);
    if (size > MAX_BYTES) throw new ConfigError(`${path}: the file is larger than 256 KiB.`, 'Make it smaller.');
    return await readFile(path, 'utf8');
  } catch (error) {
    if (error instanceof ConfigError) throw error;
    const code = (error as NodeJS.ErrnoException).code ?? 'unknown';
    if (code === 'ENOENT') return null;
    if (code === 'ENOTDIR') {
      const hint = 'Choose a directory you own: TANCHO_HOME=/path/to/directory';
      throw new ConfigError(`TANCHO_HOME: ${dirname(path)} is not a directory.`, hint, error);
    }
    throw new ConfigError(`${path}: the file cannot be read (${code}).`, 'Check its owner and permissions.', error);
  }
}

/** Keys may be written flat (`api.listen: ...`) or nested (`api:` and below it `listen: ...`). */
export async function parseConfigText(path: string, text: string): Promise<Map<string, FileValue>> {
  // The file as we write it holds comments only; then there is no need to load a YAML parser.
  if (text.split('\n').every((line) => /^\s*(#|$)/.test(line))) return new Map();
  const yaml = await import('yaml');
  const lines = new yaml.LineCounter();
  const document = yaml.parseDocument(text, { lineCounter: lines });
  const broken = document.errors[0];
  if (broken !== undefined) {
    const problem = broken.message.split('\n')[0]?.replace(/ at line \d+, column \d+:?$/, '') ?? '';
    throw new ConfigError(
      `${path}:${lines.linePos(broken.pos[0]).line}: not valid YAML: ${problem}`,
      'Correct the line; put values such as "[::1]:8080" in quotes.',
    );
  }
  const reading: Reading = {
    yaml,
    path,
    values: new Map(),
    lineOf: (node) => (yaml.isNode(node) && node.range ? lines.linePos(node.range[0]).line : 1),
  };
  if (document.contents !== null) collect(reading, document.contents, '');
  return reading.values;
}

interface Reading {
  readonly yaml: typeof import('yaml');
  readonly path: string;
  readonly values: Map<string, FileValue>;
  readonly lineOf: (node: unknown) => number;
}

function collect(reading: Reading, node: unknown, key: string): void {
  const { yaml, path, lineOf } = reading;
  if (yaml.isMap(node) && MAPS.has(key)) return keep(reading, key, joined(reading, node, key), lineOf(node));
  if (yaml.isMap(node)) {
    for (const pair of node.items) {
      const name = yaml.isScalar(pair.key) ? String(pair.key.value) : '?';
      const inner = key === '' ? name : `${key}.${name}`;
      const line = lineOf(pair.key);
      if (!KEYS.has(inner) && !isSection(inner)) throw unknownKey(path, line, inner);
      if (pair.value === null) throw noValue(path, line, inner);
      collect(reading, pair.value, inner);
    }
    return;
  }
  const line = lineOf(node);
  if (key === '') {
    throw new ConfigError(`${path}:${line}: the file must hold "key: value" lines.`, 'See docs/config.md.');
  }
  if (!KEYS.has(key)) {
    const inside = [...KEYS].filter((known) => known.startsWith(`${key}.`)).join(', ');
    throw new ConfigError(`${path}:${line}: ${key} is a group of settings, not a setting.`, `Use one of: ${inside}.`);
  }
  if (!yaml.isScalar(node)) {
    const hint = 'Put the value in quotes if it begins with a bracket or an asterisk.';
    throw new ConfigError(`${path}:${line}: ${key} must be one value.`, hint);
  }
  if (node.value === null) throw noValue(path, line, key);
  if (typeof node.value !== 'string' && typeof node.value !== 'number') {
    throw new ConfigError(`${path}:${line}: ${key} must be a text or a number.`, 'See docs/config.md.');
  }
  // The text as written: a number such as 0x10 or 1e3 is not to be reinterpreted on its way to the parser.
  const text = typeof node.value === 'number' ? (node.source ?? String(node.value)) : node.value;
  keep(reading, key, text, line);
}

function keep(reading: Reading, key: string, text: string, line: number): void {
  if (reading.values.has(key)) {
    throw new ConfigError(`${reading.path}:${line}: ${key} is set twice.`, 'Remove one of the two lines.');
  }
  reading.values.set(key, { text, line });
}

/** `name: value` lines -> the same as one value. */
function joined(reading: Reading, node: YAMLMap, key: string): string {
  const { yaml, path, lineOf } = reading;
  const entries = node.items.map(({ key: name, value }) => {
    const isText = yaml.isScalar(value) && typeof value.value === 'string';
    if (!yaml.isScalar(name) || !isText) {
      throw new ConfigError(`${path}:${lineOf(name)}: ${key} must hold "name: value" lines.`, 'See docs/config.md.');
    }
    return `${String(name.value)}=${String(value.value)}`;
  });
  return entries.join(',');
}

function isSection(name: string): boolean {
  return [...KEYS].some((key) => key.startsWith(`${name}.`));
}

function noValue(path: string, line: number, key: string): ConfigError {
  return new ConfigError(`${path}:${line}: ${key} has no value.`, 'Write a value, or remove the line for the default.');
}

function unknownKey(path: string, line: number, key: string): ConfigError {
  const near = nearest(key, KEYS);
  const hint = near === undefined ? 'See docs/config.md for the keys there are.' : `Did you mean "${near}"?`;
  return new ConfigError(`${path}:${line}: unknown key "${key}".`, hint);
}
