/**
 * Questions to a source tree. Every file is read and every directory listed once, only so far, and stays what it was then, whatever a build
 * does to it later.
 */
import { setImmediate as turn } from 'node:timers/promises';
import { parse as parseToml, TomlError } from 'smol-toml';
import { parse as parseYaml } from 'yaml';
import { Failure } from '../../domain/failure.ts';
import { isRecord } from '../../lib/is-record.ts';
import { beyondYamlBounds } from '../../lib/yaml-bounds.ts';
import { fitsPattern } from './name-pattern.ts';
import type { SourceEntry, SourceReader } from './source-reader.ts';

/** Lock files of large apps have several. */
const MAX_BYTES = 16 * 1024 * 1024;
const BEGINNING_BYTES = 256 * 1024;
/** Of settings that people write by hand: the parser takes seconds for each MiB, and nothing else is done meanwhile. */
const MAX_TOML_BYTES = 256 * 1024;
/** Of all files that are read whole, and of all settings in TOML: a workspace has hundreds. */
const MAX_ALL_BYTES = 64 * 1024 * 1024;
const MAX_ALL_TOML_BYTES = 4 * 1024 * 1024;
/** What files begin with, kept for the next question; beyond it they are read anew. */
const MAX_BEGINNINGS_BYTES = 32 * 1024 * 1024;
/** Patterns look at one line at a time, and only so far: over a whole file some would take hours, and nothing can stop them. */
const MAX_LINE = 1_000;
const MAX_FILES = 100;
/** Of all directories together; only by links there are more. Beyond it they are listed anew. */
const MAX_LISTED = 300_000;
/** Names and lines looked at before others have their turn: some milliseconds' work. */
const LOOKED_AT_ONCE = 20_000;
const NEVER = new AbortController().signal;
const MAX_ALIASES = 100;
/** The string is its first group. What is not closed matches, too: looked for from each beginning anew, its end would take a time that grows with the square. */
const STRING_OR_COMMENT = /("(?:[^"\\\n]|\\.)*"?)|\/\/[^\n]*|\/\*[^]*?(?:\*\/|$)/g;

export interface FoundLine {
  readonly file: string;
  /** From 1. */
  readonly line: number;
  readonly match: RegExpExecArray;
}

/** Of a source and all its parts. */
interface Amounts {
  bytes: number;
  tomlBytes: number;
  beginningBytes: number;
  /** Names in directories. */
  listed: number;
  /** Names and lines since others had their turn. */
  looked: number;
}

export class SourceFiles {
  readonly #reader: SourceReader;
  readonly #signal: AbortSignal;
  readonly #parts = new Map<string, SourceFiles>();
  readonly #listings = new Map<string, ReadonlyMap<string, SourceEntry['kind']>>();
  readonly #texts = new Map<string, string | null>();
  readonly #beginnings = new Map<string, string | null>();
  readonly #tomls = new Map<string, Readonly<Record<string, unknown>>>();

  readonly #amounts: Amounts;

  /** Every question throws the reason of the signal once that is aborted. */
  constructor(
    reader: SourceReader,
    signal: AbortSignal = NEVER,
    amounts: Amounts = { bytes: 0, tomlBytes: 0, beginningBytes: 0, listed: 0, looked: 0 },
  ) {
    this.#reader = reader;
    this.#signal = signal;
    this.#amounts = amounts;
  }

  /** The same questions to a directory of the source; '' is all of it. */
  below(directory: string): SourceFiles {
    if (directory === '') return this;
    const known = this.#parts.get(directory);
    if (known !== undefined) return known;
    const reader = this.#reader;
    const inside = (path: string): string => (path === '' || path === '.' ? directory : `${directory}/${path}`);
    const part = new SourceFiles(
      {
        kind: (path) => reader.kind(inside(path)),
        list: (path) => reader.list(inside(path)),
        read: (path, most) => reader.read(inside(path), most),
      },
      this.#signal,
      this.#amounts,
    );
    this.#parts.set(directory, part);
    return part;
  }

  /** True when a file or directory matches; `*` in a component stands for any characters but a slash. */
  async exists(pattern: string): Promise<boolean> {
    return (await this.find(pattern)) !== null;
  }

  /** The first of the patterns that something matches: the path, in name order, relative to the top. */
  async find(...patterns: readonly string[]): Promise<string | null> {
    for (const pattern of patterns) {
      const [found] = await this.findAll(pattern);
      if (found !== undefined) return found;
    }
    return null;
  }

  async findAll(pattern: string): Promise<string[]> {
    const found: string[] = [];
    if (pattern.includes('*')) await this.#match('', pattern.split('/'), found);
    else if ((await this.#kind(pattern)) !== null) found.push(pattern);
    return found;
  }

  /** Names directly in a directory, sorted; none when it is not there. */
  async list(directory: string): Promise<string[]> {
    return [...(await this.#listing(directory)).keys()];
  }

  /**
   * A file's text; null when there is no such file. By its byte order mark it may be in UTF-16, as PowerShell writes it: for files that
   * nobody reads but this program. Throws Failure `invalid_config` for a very large one, and where all together are.
   */
  async text(path: string, by: 'utf8' | 'mark' = 'utf8'): Promise<string | null> {
    const known = this.#texts.get(path);
    if (known !== undefined) return known;
    this.#signal.throwIfAborted();
    const found = await this.#reader.read(path, MAX_BYTES);
    if (found !== null && found.size > MAX_BYTES) throw tooLarge(path, `${MAX_BYTES / 1024 / 1024} MiB`);
    this.#amounts.bytes += found?.size ?? 0;
    if (this.#amounts.bytes > MAX_ALL_BYTES) throw tooMuch('The files', path, MAX_ALL_BYTES);
    const text = found === null ? null : decode(found.bytes, by);
    this.#texts.set(path, text);
    return text;
  }

  /** As text() by its mark, of a file of any size what it begins with. */
  async beginning(path: string): Promise<string | null> {
    const known = this.#beginnings.get(path);
    if (known !== undefined) return known;
    this.#signal.throwIfAborted();
    const found = await this.#reader.read(path, BEGINNING_BYTES);
    const text = found === null ? null : decode(found.bytes, 'mark');
    this.#amounts.beginningBytes += text?.length ?? 0;
    if (this.#amounts.beginningBytes <= MAX_BEGINNINGS_BYTES) this.#beginnings.set(path, text);
    return text;
  }

  async isUtf16(path: string): Promise<boolean> {
    this.#signal.throwIfAborted();
    const found = await this.#reader.read(path, 2);
    return found !== null && utf16Of(found.bytes) !== null;
  }

  /** The first line that the pattern fits, in the files that the path pattern fits. Looks at what files and lines begin with. */
  async findLine(files: string, pattern: RegExp): Promise<FoundLine | null> {
    for (const file of (await this.findAll(files)).slice(0, MAX_FILES)) {
      const lines = ((await this.beginning(file)) ?? '').split(/\r\n|\n|\r/);
      await this.#giveWay(lines.length);
      for (const [index, line] of lines.entries()) {
        const match = pattern.exec(line.slice(0, MAX_LINE));
        if (match !== null) return { file, line: index + 1, match };
      }
    }
    return null;
  }

  async hasLine(files: string, pattern: RegExp): Promise<boolean> {
    return (await this.findLine(files, pattern)) !== null;
  }

  /** A JSON file's content; undefined when there is no such file. Throws Failure `invalid_config`. */
  async json(path: string): Promise<unknown> {
    const text = await this.text(path);
    if (text === null) return undefined;
    try {
      return JSON.parse(text) as unknown;
    } catch (error) {
      throw unreadable(path, 'JSON', error instanceof Error ? error.message : String(error));
    }
  }

  /** One value of a JSON file by dotted path; undefined when the file or the key is not there. */
  async jsonValue(path: string, key: string): Promise<unknown> {
    return valueAt(await this.json(path), key.split('.'));
  }

  /** The content of settings in TOML; undefined when there is no such file. Throws Failure `invalid_config` with the line. */
  async toml(path: string): Promise<Readonly<Record<string, unknown>> | undefined> {
    const known = this.#tomls.get(path);
    if (known !== undefined) return known;
    const text = await this.text(path);
    if (text === null) return undefined;
    if (text.length > MAX_TOML_BYTES) throw tooLarge(path, `${MAX_TOML_BYTES / 1024} KiB`);
    this.#amounts.tomlBytes += text.length;
    if (this.#amounts.tomlBytes > MAX_ALL_TOML_BYTES) throw tooMuch('Settings in TOML', path, MAX_ALL_TOML_BYTES);
    try {
      const content = parseToml(text, { maxDepth: 100 });
      this.#tomls.set(path, content);
      return content;
    } catch (error) {
      const [reason = ''] = (error instanceof Error ? error.message : String(error)).split('\n');
      const line = error instanceof TomlError ? ` line ${error.line}` : '';
      throw unreadable(`${path}${line}`, 'TOML', reason.replace(/^Invalid TOML document: /, ''));
    }
  }

  /** A YAML file of another program's; null when there is none, or nothing that can be read, for nothing depends on it. */
  async foreignYaml(path: string): Promise<unknown> {
    return foreignData(await this.beginning(path));
  }

  /**
   * A JSON file of another program's, which may hold comments and commas too many; null as above. `mistakes`: of a file with mistakes what
   * can be understood ('passed over'), or null ('refused').
   */
  async foreignJson(path: string, mistakes: 'passed over' | 'refused' = 'passed over'): Promise<unknown> {
    return foreignData((await this.beginning(path))?.replace(STRING_OR_COMMENT, '$1') ?? null, mistakes);
  }

  /** What fits is added to `found`. */
  async #match(base: string, [part = '', ...rest]: readonly string[], found: string[]): Promise<void> {
    const listing = await this.#listing(base);
    const isPattern = part.includes('*');
    await this.#giveWay(isPattern ? listing.size : 1);
    for (const name of isPattern ? listing.keys() : [part]) {
      const kind = listing.get(name);
      if (kind === undefined || (kind === 'file' && rest.length > 0) || !fitsPattern(name, part)) continue;
      const path = base === '' ? name : `${base}/${name}`;
      if (rest.length > 0) await this.#match(path, rest, found);
      else if ((kind ?? (await this.#kind(path))) !== null) found.push(path);
    }
  }

  async #kind(path: string): ReturnType<SourceReader['kind']> {
    this.#signal.throwIfAborted();
    return this.#reader.kind(path);
  }

  /** By name, in order. */
  async #listing(directory: string): Promise<ReadonlyMap<string, SourceEntry['kind']>> {
    const known = this.#listings.get(directory);
    if (known !== undefined) return known;
    this.#signal.throwIfAborted();
    const entries = [...((await this.#reader.list(directory)) ?? [])].sort((a, b) => (a.name < b.name ? -1 : 1));
    const listing = new Map(entries.map(({ name, kind }) => [name, kind]));
    this.#amounts.listed += listing.size + 1;
    if (this.#amounts.listed <= MAX_LISTED) this.#listings.set(directory, listing);
    return listing;
  }

  /** What is answered from memory would let nobody else come on. */
  async #giveWay(looked: number): Promise<void> {
    this.#amounts.looked += looked;
    if (this.#amounts.looked < LOOKED_AT_ONCE) return;
    this.#amounts.looked = 0;
    await turn();
    this.#signal.throwIfAborted();
  }
}

/** The value behind the keys; undefined when one of them is not there. */
export function valueAt(value: unknown, keys: readonly string[]): unknown {
  let at = value;
  for (const key of keys) {
    if (!isRecord(at) || !Object.hasOwn(at, key)) return undefined;
    at = at[key];
  }
  return at;
}

/** Without a byte order mark. */
function decode(bytes: Uint8Array, by: 'utf8' | 'mark'): string {
  return new TextDecoder(by === 'utf8' ? 'utf-8' : (utf16Of(bytes) ?? 'utf-8')).decode(bytes);
}

/** By its byte order mark; null: it is in something else. */
function utf16Of([first, second]: Uint8Array): 'utf-16le' | 'utf-16be' | null {
  if (first === 0xff && second === 0xfe) return 'utf-16le';
  return first === 0xfe && second === 0xff ? 'utf-16be' : null;
}

function tooLarge(path: string, most: string): Failure {
  return new Failure('invalid_config', `${path} is larger than ${most}.`, {
    hint: `Make ${path} smaller, or take it out of the repository, commit and push again.`,
  });
}

function tooMuch(what: string, path: string, most: number): Failure {
  const message = `${what} by which the app is built, ${path} among them, hold more than ${most / 1024 / 1024} MiB together.`;
  return new Failure('invalid_config', message, {
    hint: 'Make the largest of them smaller, or take them out of the repository, commit and push again.',
  });
}

function unreadable(path: string, format: string, reason: string): Failure {
  const file = path.split(' ')[0] ?? path;
  return new Failure('invalid_config', `${path} is not valid ${format}: ${reason.replace(/\.$/, '')}.`, {
    hint: `Correct ${file} and push again.`,
  });
}

/** YAML, of which JSON is a part. */
function foreignData(text: string | null, mistakes: 'passed over' | 'refused' = 'passed over'): unknown {
  if (text === null || beyondYamlBounds(text) !== null) return null;
  try {
    const logLevel = mistakes === 'refused' ? 'error' : 'silent';
    return parseYaml(text, { logLevel, maxAliasCount: MAX_ALIASES }) as unknown;
  } catch {
    return null;
  }
}
