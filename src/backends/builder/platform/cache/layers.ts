/**
 * Dependency sets kept per app: `<cache>/<app>/layers/<key>/tree`, with `ready` beside it written last.
 * See docs/decisions/dependency-cache.md for who may write what.
 */
import { createHash } from 'node:crypto';
import { mkdir, readdir, stat, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { SourceFiles } from '../../../../build-plan/source/source-files.ts';
import type { DependencySet } from '../../../../build-plan/build-plan.ts';
import { removeTree } from '../../../../lib/remove-tree.ts';
import { isThere } from '../../../../lib/is-there.ts';

const FORMAT = '1';
/** Variables of the app that decide what package managers install, and one by which people have it done anew. */
const DECIDING_VARIABLE =
  /^(?:(?:PIP|UV|NPM_CONFIG|PNPM_CONFIG|YARN|BUN|BUNDLE|COMPOSER|CYPRESS|PUPPETEER|PLAYWRIGHT|PRISMA)_|BUILD_CACHE_VERSION$)/i;

export interface Layer {
  /** Where the tree is or is to be. */
  readonly tree: string;
  readonly key: string;
  readonly ready: boolean;
}

interface Deciding {
  readonly dependencies: DependencySet;
  readonly steps: readonly (readonly string[])[];
  readonly versions: Readonly<Record<string, string>>;
  readonly files: SourceFiles;
  /** Of the app. */
  readonly variables: Readonly<Record<string, string>>;
  /** What lies in the tree: the files, or one archive of them. */
  readonly form: 'tree' | 'archive';
}

/** Equal keys mean that the steps would make the same thing: same files, same programs, same steps, same variables, same machine. */
export async function layerKey(deciding: Deciding): Promise<string> {
  const { dependencies, steps, versions, files, variables, form } = deciding;
  const hash = createHash('sha256');
  const add = (label: string, value: unknown): void => void hash.update(JSON.stringify([label, value ?? null]));
  add('format', [FORMAT, dependencies.name, dependencies.keep, process.platform, process.arch]);
  add('versions', Object.entries(versions).sort());
  add('steps', steps);
  if (form !== 'tree') add('form', form);
  const set = Object.entries(variables).filter(([name]) => DECIDING_VARIABLE.test(name));
  if (set.length > 0) add('variables', set.sort());
  for (const pattern of dependencies.key.files) {
    for (const file of await files.findAll(pattern)) add(file, await files.text(file));
  }
  for (const [name, value] of Object.entries(dependencies.key.values ?? {})) add(`#${name}`, value);
  return hash.digest('hex').slice(0, 40);
}

export class CacheLayers {
  readonly #cache: string;
  readonly #kept: number;

  constructor(cache: string, kept: number) {
    this.#cache = cache;
    this.#kept = kept;
  }

  async find(app: string, key: string): Promise<Layer> {
    const directory = join(this.#directory(app), key);
    const ready = await isThere(join(directory, 'ready'));
    return { tree: join(directory, 'tree'), key, ready };
  }

  /** An empty directory for the tree; what an interrupted build left there is gone. */
  async begin(app: string, layer: Layer): Promise<void> {
    await this.discard(app, layer);
    await mkdir(join(this.#directory(app), layer.key), { recursive: true, mode: 0o711 });
  }

  async finish(app: string, layer: Layer): Promise<void> {
    await writeFile(join(this.#directory(app), layer.key, 'ready'), '');
  }

  async discard(app: string, layer: Layer): Promise<void> {
    await removeTree(join(this.#directory(app), layer.key));
  }

  /** Of all that are there, and whether they are whole. */
  async paths(app: string): Promise<{ readonly ready: string[]; readonly unfinished: string[] }> {
    const keys = await readdir(this.#directory(app)).catch(() => []);
    const [ready, unfinished]: [string[], string[]] = [[], []];
    for (const key of keys) {
      const path = join(this.#directory(app), key);
      ((await isThere(join(path, 'ready'))) ? ready : unfinished).push(path);
    }
    return { ready, unfinished };
  }

  /** Remembers that it was used now; prune() keeps the latest. */
  async touch(app: string, layer: Layer): Promise<void> {
    const now = new Date();
    await utimes(join(this.#directory(app), layer.key, 'ready'), now, now);
  }

  /** Removes all but the latest used, and never one whose tree is in `needed`. */
  async prune(app: string, needed: ReadonlySet<string>, kept: number = this.#kept): Promise<void> {
    const directory = this.#directory(app);
    const keys = await readdir(directory).catch(() => []);
    const aged = await Promise.all(
      keys.map(async (key) => ({
        key,
        used: (await stat(join(directory, key, 'ready')).catch(() => null))?.mtimeMs ?? 0,
      })),
    );
    const candidates = aged.sort((a, b) => b.used - a.used).slice(kept);
    for (const { key } of candidates) {
      if (!needed.has(join(directory, key, 'tree'))) await removeTree(join(directory, key));
    }
  }

  #directory(app: string): string {
    return join(this.#cache, app, 'layers');
  }
}
