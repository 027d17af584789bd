/** The small language in which a platform asks about a source tree. */
import type { SourceFiles } from '../../../../build-plan/source/source-files.ts';
import type { YamlNode } from '../../../../build-plan/yaml-node.ts';

export type Condition =
  | { readonly kind: 'fact'; readonly name: string }
  | { readonly kind: 'file'; readonly patterns: readonly string[] }
  | { readonly kind: 'json'; readonly file: string; readonly has: string; readonly matches: RegExp | null }
  | { readonly kind: 'text'; readonly file: string; readonly matches: RegExp }
  | { readonly kind: 'not'; readonly of: Condition }
  | { readonly kind: 'any' | 'all'; readonly of: readonly Condition[] };

export type Facts = ReadonlyMap<string, Condition>;

/** Patterns look at one line at a time, and only so far: over a whole file some would take hours, and nothing can stop them. */
const MAX_LINE = 1_000;
const MAX_FILES = 100;
const KINDS = ['file', 'json', 'text', 'not', 'any', 'all'];

/** Text names a fact, a list means all of it, a mapping has one of the keys in KINDS. A fact must be known already. */
export function readCondition(node: YamlNode, facts: Facts): Condition {
  if (node.isText) {
    const name = node.text();
    if (!facts.has(name))
      throw node.mistake(`one of the facts above (${[...facts.keys()].join(', ') || 'there are none'})`);
    return { kind: 'fact', name };
  }
  if (node.isList) return { kind: 'all', of: node.list().map((item) => readCondition(item, facts)) };
  const [entry, second] = [...node.fields(KINDS)];
  if (entry === undefined || second !== undefined) throw node.mistake(`a fact, a list, or one of ${KINDS.join(', ')}`);
  return readKind(entry[0], entry[1], facts);
}

function readKind(kind: string, node: YamlNode, facts: Facts): Condition {
  if (kind === 'file') return { kind, patterns: node.isText ? [node.text()] : node.texts('a path or a list of paths') };
  if (kind === 'not') return { kind, of: readCondition(node, facts) };
  if (kind === 'any' || kind === 'all') return { kind, of: node.list().map((item) => readCondition(item, facts)) };
  const fields = node.fields(kind === 'json' ? ['file', 'has', 'matches'] : ['file', 'matches']);
  const file = required(node, fields, 'file').text('a path');
  if (kind === 'text') return { kind, file, matches: required(node, fields, 'matches').regex('m') };
  const has = required(node, fields, 'has').text('a key such as scripts.build');
  return { kind: 'json', file, has, matches: fields.get('matches')?.regex() ?? null };
}

export function required(node: YamlNode, fields: Map<string, YamlNode>, key: string): YamlNode {
  const field = fields.get(key);
  if (field === undefined) throw node.wrong(`needs the key "${key}"`);
  return field;
}

/** No condition holds always. A JSON key `has` a value unless it is missing, null, empty text or an empty collection. */
export async function holds(condition: Condition | null, files: SourceFiles, facts: Facts): Promise<boolean> {
  if (condition === null) return true;
  switch (condition.kind) {
    case 'fact':
      return holds(facts.get(condition.name) ?? null, files, facts);
    case 'file':
      return some(condition.patterns, (pattern) => files.exists(pattern));
    case 'json': {
      const value = await files.jsonValue(condition.file, condition.has);
      if (isEmpty(value)) return false;
      return (
        condition.matches === null ||
        (typeof value === 'string' && value.length <= MAX_LINE && condition.matches.test(value))
      );
    }
    case 'text':
      return some((await files.findAll(condition.file)).slice(0, MAX_FILES), async (file) =>
        hasLine((await files.beginning(file)) ?? '', condition.matches),
      );
    case 'not':
      return !(await holds(condition.of, files, facts));
    case 'any':
      return some(condition.of, (one) => holds(one, files, facts));
    case 'all':
      return !(await some(condition.of, async (one) => !(await holds(one, files, facts))));
  }
}

function hasLine(text: string, pattern: RegExp): boolean {
  return text.split(/\r\n|\n|\r/).some((line) => pattern.test(line.slice(0, MAX_LINE)));
}

async function some<T>(items: readonly T[], test: (item: T) => Promise<boolean>): Promise<boolean> {
  for (const item of items) if (await test(item)) return true;
  return false;
}

function isEmpty(value: unknown): boolean {
  if (value === undefined || value === null || value === '' || value === false) return true;
  return typeof value === 'object' && Object.keys(value).length === 0;
}
