/** Reads YAML as a tree whose every node knows its file, line and key, so that a mistake can be named exactly. */
import { isAlias, isMap, isScalar, isSeq, LineCounter, parseDocument } from 'yaml';
import type { Document, Node } from 'yaml';
import { beyondYamlBounds } from '../lib/yaml-bounds.ts';

/** What is wrong in a YAML file; `message` names the file, the line, the key and what was expected. */
export class YamlMistake extends Error {
  override readonly name = 'YamlMistake';
}

interface Source {
  readonly file: string;
  readonly lines: LineCounter;
  readonly document: Document.Parsed;
}

export class YamlNode {
  readonly #source: Source;
  readonly #node: Node | null;
  readonly #offset: number;
  /** Dotted path from the root, e.g. `hooks.build`; '' for the root. */
  readonly key: string;

  private constructor(source: Source, node: Node | null, key: string, offset: number) {
    this.#source = source;
    this.#node = isAlias(node) ? (node.resolve(source.document) ?? null) : node;
    this.#offset = offset;
    this.key = key;
  }

  static parse(file: string, text: string): YamlNode {
    const beyond = beyondYamlBounds(text);
    if (beyond !== null) throw new YamlMistake(`${file} line 1: the file ${beyond}.`);
    const lines = new LineCounter();
    const document = parseDocument(text, { lineCounter: lines, prettyErrors: false });
    const wrong = document.errors[0];
    if (wrong !== undefined) {
      throw new YamlMistake(`${file} line ${lines.linePos(wrong.pos[0]).line}: this is not YAML: ${wrong.message}`);
    }
    return new YamlNode({ file, lines, document }, document.contents, '', 0);
  }

  get isEmpty(): boolean {
    return this.#node === null || (isScalar(this.#node) && this.#node.value === null);
  }

  get isMap(): boolean {
    return isMap(this.#node);
  }

  get isList(): boolean {
    return isSeq(this.#node);
  }

  get isText(): boolean {
    return isScalar(this.#node) && typeof this.#node.value === 'string';
  }

  get line(): number {
    return this.#source.lines.linePos(this.#offset).line;
  }

  mistake(expected: string): YamlMistake {
    return this.wrong(`must be ${expected}, found ${this.#found()}`);
  }

  /** A mistake in free words that follow the key. */
  wrong(what: string): YamlMistake {
    const subject = this.key === '' ? 'the file' : this.key;
    return new YamlMistake(`${this.#source.file} line ${this.line}: ${subject} ${what}.`);
  }

  /** The entries of a mapping; a key outside `known` is refused, or given to `ignored` where that is wanted. */
  fields(known: readonly string[], ignored?: (key: string) => void): Map<string, YamlNode> {
    const result = new Map<string, YamlNode>();
    for (const [name, child] of this.entries()) {
      if (known.includes(name)) result.set(name, child);
      else if (ignored !== undefined) ignored(child.key);
      else {
        throw child.wrong(`is not a known key; known here: ${known.join(', ')}`);
      }
    }
    return result;
  }

  /** The entries of a mapping with free keys; an empty node has none. */
  entries(): [string, YamlNode][] {
    if (this.isEmpty) return [];
    if (!isMap(this.#node)) throw this.mistake('a mapping of keys to values');
    return this.#node.items.map((pair) => {
      const key = pair.key as Node;
      const name = isScalar(key) ? String(key.value) : '?';
      const path = this.key === '' ? name : `${this.key}.${name}`;
      return [name, new YamlNode(this.#source, pair.value as Node | null, path, key.range?.[0] ?? this.#offset)];
    });
  }

  list(): YamlNode[] {
    if (!isSeq(this.#node)) throw this.mistake('a list');
    return this.#node.items.map((item, index) => {
      const node = item as Node | null;
      return new YamlNode(this.#source, node, `${this.key}[${index}]`, node?.range?.[0] ?? this.#offset);
    });
  }

  text(expected = 'text'): string {
    const value = isScalar(this.#node) ? this.#node.value : undefined;
    if (typeof value !== 'string' || value.trim() === '') throw this.mistake(expected);
    return value;
  }

  /** A list of texts. */
  texts(expected = 'a list of texts'): string[] {
    if (!isSeq(this.#node)) throw this.mistake(expected);
    return this.list().map((item) => item.text());
  }

  integer(min: number, max: number): number {
    const value = isScalar(this.#node) ? this.#node.value : undefined;
    if (typeof value !== 'number' || !Number.isInteger(value) || value < min || value > max) {
      throw this.mistake(`a whole number from ${min} to ${max}`);
    }
    return value;
  }

  flag(): boolean {
    const value = isScalar(this.#node) ? this.#node.value : undefined;
    if (typeof value !== 'boolean') throw this.mistake('true or false');
    return value;
  }

  regex(flags = ''): RegExp {
    const source = this.text('a regular expression');
    try {
      return new RegExp(source, flags);
    } catch {
      throw this.mistake('a valid regular expression');
    }
  }

  #found(): string {
    if (this.isEmpty) return 'nothing';
    if (isMap(this.#node)) return 'a mapping';
    if (isSeq(this.#node)) return 'a list';
    const value = isScalar(this.#node) ? this.#node.value : undefined;
    if (typeof value === 'string')
      return value.trim() === '' ? 'empty text' : `the text ${JSON.stringify(value.slice(0, 60))}`;
    return String(value);
  }
}
