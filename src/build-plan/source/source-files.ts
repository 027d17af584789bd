/**
 * Looks into a source tree that somebody else wrote: nothing outside the tree is ever read, whatever its links say,
 * and nothing large.
 */
import { constants } from 'node:fs';
import { open, readdir, realpath, stat } from 'node:fs/promises';
import { join, sep } from 'node:path';
import { Failure } from '../../domain/rollouts/rollout.ts';

const MAX_BYTES = 4 * 1024 * 1024;
const BEGINNING_BYTES = 256 * 1024;

export class SourceFiles {
  readonly root: string;
  readonly #texts = new Map<string, string | null>();
  readonly #beginnings = new Map<string, string | null>();

  constructor(root: string) {
    this.root = root;
  }

  /** True when a file or directory matches; `*` in a component stands for any characters but a slash. */
  async exists(pattern: string): Promise<boolean> {
    return (await this.find(pattern)) !== null;
  }

  /** The first path (in name order) that matches, relative to the root. */
  async find(pattern: string): Promise<string | null> {
    return (await this.findAll(pattern))[0] ?? null;
  }

  async findAll(pattern: string): Promise<string[]> {
    if (!pattern.includes('*')) return (await this.#inside(pattern)) === null ? [] : [pattern];
    return this.#match('', pattern.split('/'));
  }

  /** A file's text as it was when first asked for, whatever build steps do to it later; null when there is no such file. */
  async text(path: string): Promise<string | null> {
    const known = this.#texts.get(path);
    if (known !== undefined) return known;
    const text = await this.#read(path);
    this.#texts.set(path, text);
    return text;
  }

  /** As text(), of a file of any size what it begins with. */
  async beginning(path: string): Promise<string | null> {
    const known = this.#beginnings.get(path);
    if (known !== undefined) return known;
    const text = await this.#read(path, BEGINNING_BYTES);
    this.#beginnings.set(path, text);
    return text;
  }

  async #read(path: string, most?: number): Promise<string | null> {
    const real = await this.#inside(path);
    if (real === null) return null;
    const file = await open(real, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    try {
      const stats = await file.stat();
      if (!stats.isFile()) return null;
      if (most !== undefined) {
        const { buffer, bytesRead } = await file.read(Buffer.alloc(most), 0, most, 0);
        return withoutMark(buffer.toString('utf8', 0, bytesRead));
      }
      if (stats.size > MAX_BYTES) {
        throw new Failure('invalid_config', `${path} is larger than ${MAX_BYTES / 1024 / 1024} MiB.`);
      }
      return withoutMark(await file.readFile('utf8'));
    } finally {
      await file.close();
    }
  }

  /** A JSON file's content; undefined when there is no such file. */
  async json(path: string): Promise<unknown> {
    const text = await this.text(path);
    if (text === null) return undefined;
    try {
      return JSON.parse(text) as unknown;
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      throw new Failure('invalid_config', `${path} is not valid JSON: ${reason}.`, {
        hint: `Correct ${path} and push again.`,
      });
    }
  }

  /** One value of a JSON file by dotted path; undefined when the file or the key is not there. */
  async jsonValue(path: string, key: string): Promise<unknown> {
    let value = await this.json(path);
    for (const part of key.split('.')) {
      if (typeof value !== 'object' || value === null || !Object.hasOwn(value, part)) return undefined;
      value = (value as Record<string, unknown>)[part];
    }
    return value;
  }

  async #match(base: string, parts: readonly string[]): Promise<string[]> {
    const [part, ...rest] = parts;
    if (part === undefined) return [base];
    const real = await this.#inside(base === '' ? '.' : base);
    if (real === null || !(await stat(real)).isDirectory()) return [];
    const wanted = new RegExp(`^${part.split('*').map(escape).join('[^/]*')}$`);
    const found: string[] = [];
    for (const name of (await readdir(real)).filter((entry) => wanted.test(entry)).sort()) {
      const path = base === '' ? name : `${base}/${name}`;
      if ((await this.#inside(path)) !== null) found.push(...(await this.#match(path, rest)));
    }
    return found;
  }

  async #inside(path: string): Promise<string | null> {
    try {
      const root = await realpath(this.root);
      const real = await realpath(join(this.root, path));
      return real === root || real.startsWith(root + sep) ? real : null;
    } catch (error) {
      if (isMissing(error)) return null;
      throw error;
    }
  }
}

function withoutMark(text: string): string {
  return text.replace(/^\uFEFF/, '');
}

function escape(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');
}

function isMissing(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return code === 'ENOENT' || code === 'ENOTDIR' || code === 'ELOOP' || code === 'EACCES';
}
