/**
 * Images that code is built on: pulled by name, unpacked once per digest to `<bases>/<digest>/root`, where builds and units of every app see them,
 * read-only. What runs elsewhere begins with the very same layers.
 */
import { chmod, mkdir, readdir, readFile, rename, stat, utimes, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import type { SlugBase } from '../../../../domain/artifacts/slug.ts';
import { parseImageName } from '../../../../domain/deploys/image-name.ts';
import type { ImageSource } from '../../../../domain/deploys/image-source.ts';
import type { RegistryCredentials } from '../../../../domain/registries/registry-login.ts';
import { Failure } from '../../../../domain/failure.ts';
import { randomHex } from '../../../../lib/ids.ts';
import { KeyedQueue } from '../../../../lib/keyed-queue.ts';
import { removeTree } from '../../../../lib/remove-tree.ts';
import { SYSTEM_PATH } from '../toolchain/programs.ts';

export interface CodeBase extends SlugBase {
  /** Of the image; PATH is not among them. */
  readonly env: Readonly<Record<string, string>>;
  /** Directories of programs beside those of every system. */
  readonly path: readonly string[];
}

interface BasesOptions {
  readonly images: Pick<ImageSource, 'copy' | 'unpack'>;
  /** Platform -> image; `*` for all others. */
  readonly names: ReadonlyMap<string, string>;
  readonly directory: string;
  /** Of the platform: everything that builds and units are shown lies below it. */
  readonly home: string;
  readonly now?: () => number;
}

interface Asked {
  readonly platform: string;
  readonly logins: ReadonlyMap<string, RegistryCredentials>;
  readonly line: (text: string) => void;
  readonly signal: AbortSignal;
}

const FACTS = 'base.json';
const NEW = 'new-';
/** What a tag means is asked again after it. */
const FRESH_MS = 3_600_000;
/** Nothing is on its way for so long. */
const CUT_OFF_MS = 24 * 3_600_000;
/** Where programs keep files for a while. */
const TEMPORARY = '/var/tmp';

export class Bases {
  readonly #options: BasesOptions;
  readonly #queue = new KeyedQueue();
  readonly #known = new Map<string, { readonly base: CodeBase; readonly at: number }>();

  constructor(options: BasesOptions) {
    this.#options = { ...options, directory: resolve(options.directory), home: resolve(options.home) };
  }

  /** Whether one is named for the platform. */
  has(platform: string): boolean {
    return this.#nameFor(platform) !== undefined;
  }

  /** Null where none is named for the platform. Throws Failure as ImageSource.copy(), but where an earlier one of the name is here. */
  async of({ platform, ...asked }: Asked): Promise<CodeBase | null> {
    const { now = Date.now } = this.#options;
    const name = this.#nameFor(platform);
    if (name === undefined) return null;
    return this.#queue.run(
      name,
      async () => {
        const known = this.#known.get(name);
        if (known !== undefined && now() - known.at < FRESH_MS) return known.base;
        const base = await this.#bring(name, asked).catch(async (error: unknown) => {
          const earlier = asked.signal.aborted ? null : await this.#newest(name);
          if (earlier === null || !(error instanceof Failure)) throw error;
          asked.line(`Warning: ${error.message} The one that is here is used.`);
          return earlier;
        });
        this.#known.set(name, { base, at: now() });
        return base;
      },
      asked.signal,
    );
  }

  /** Removes those that no artifact needs and no build has asked for since then. Answers names. */
  async removeUnused(needed: ReadonlySet<string>, since: Date): Promise<string[]> {
    const removed: string[] = [];
    await this.#removeCutOff(needed);
    for (const { base, at, directory } of await this.#all()) {
      if (needed.has(base.root) || at >= since.getTime()) continue;
      await this.#queue.run('', () => removeTree(directory));
      for (const [name, known] of this.#known) if (known.base.root === base.root) this.#known.delete(name);
      removed.push(base.image);
    }
    return removed;
  }

  #nameFor(platform: string): string | undefined {
    const { names } = this.#options;
    return names.get(platform) ?? names.get('*');
  }

  async #bring(name: string, { logins, line, signal }: Omit<Asked, 'platform'>): Promise<CodeBase> {
    const { images, directory } = this.#options;
    const fresh = join(directory, `${NEW}${randomHex(12)}`);
    const [copy, root] = [join(fresh, 'copy'), join(fresh, 'root')];
    await mkdir(directory, { recursive: true, mode: 0o711 });
    try {
      for (const path of [copy, root]) await mkdir(path, { recursive: true, mode: 0o755 });
      const image = await images.copy({ image: parseImageName(name), logins, directory: copy }, line, signal);
      const own = join(directory, image.split('@sha256:')[1] ?? '');
      const there = await this.#read(own);
      if (there !== null) {
        await utimes(join(own, FACTS), new Date(), new Date());
        return there;
      }
      const unpacked = await images.unpack({ directory: copy, root }, line, signal);
      await this.#makeRoom(root);
      const { uid, gid, name: user = '' } = unpacked.image;
      const { PATH = '', ...env } = unpacked.env;
      const path = PATH.split(':').filter((part) => part.startsWith('/') && !SYSTEM_PATH.includes(part));
      const { home } = this.#options;
      const base: CodeBase = { image, root: join(own, 'root'), home, uid, gid, name: user, env, path };
      await writeFile(join(fresh, FACTS), `${JSON.stringify({ name, base }, null, 2)}\n`, { mode: 0o644 });
      await removeTree(copy);
      await removeTree(own);
      await rename(fresh, own);
      await chmod(own, 0o711);
      return base;
    } finally {
      await removeTree(fresh);
    }
  }

  /** Directories that are shown in place of its own; whoever is not root passes through those above them. */
  async #makeRoom(root: string): Promise<void> {
    for (const path of [this.#options.home, TEMPORARY]) {
      const place = join(root, path);
      await mkdir(place, { recursive: true, mode: 0o755 });
      for (let at = place; at !== root; at = dirname(at)) await chmod(at, 0o755);
    }
    await chmod(root, 0o755);
  }

  /** Of servers that were killed, and machines that lost their power, meanwhile. */
  async #removeCutOff(needed: ReadonlySet<string>): Promise<void> {
    for (const entry of await readdir(this.#options.directory).catch(() => [])) {
      const path = join(this.#options.directory, entry);
      const isWhole = !entry.startsWith(NEW) && (await factsIn(path)) !== null;
      if (isWhole || needed.has(join(path, 'root'))) continue;
      const facts = await stat(path).catch(() => null);
      if (facts !== null && Date.now() - facts.mtimeMs > CUT_OFF_MS) await removeTree(path);
    }
  }

  async #newest(name: string): Promise<CodeBase | null> {
    const all = (await this.#all()).filter((one) => one.name === name).sort((a, b) => b.at - a.at);
    return all[0]?.base ?? null;
  }

  async #all(): Promise<{ name: string; base: CodeBase; at: number; directory: string }[]> {
    const found = [];
    for (const entry of await readdir(this.#options.directory).catch(() => [])) {
      const directory = join(this.#options.directory, entry);
      const facts = entry.startsWith(NEW) ? null : await factsIn(directory);
      if (facts !== null) found.push({ ...facts, directory });
    }
    return found;
  }

  async #read(directory: string): Promise<CodeBase | null> {
    return (await factsIn(directory))?.base ?? null;
  }
}

/** Null where it is not whole, as after a power cut, too: then it is made anew. */
async function factsIn(directory: string): Promise<{ name: string; base: CodeBase; at: number } | null> {
  const file = join(directory, FACTS);
  try {
    const { name, base } = JSON.parse(await readFile(file, 'utf8')) as { name: string; base: CodeBase };
    return { name, base, at: (await stat(file)).mtimeMs };
  } catch (error) {
    if (error instanceof SyntaxError || (error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}
