/**
 * Artifacts on the disk of this machine: `<root>/<app>/<deploy>/{code,slug.json}`. The manifest is written last and goes first, so what has none is
 * unfinished. Engines of this machine run the code where it lies: nothing is copied, and nothing is read to be put.
 */
import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, rename, rm, rmdir, stat, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import {
  type ArtifactPlace,
  type ArtifactStore,
  type KeptArtifact,
  type OpenArtifact,
  PACKED_IMAGE,
} from '../../../domain/artifacts/artifact-store.ts';
import type { SlugManifest } from '../../../domain/artifacts/slug.ts';
import { Failure } from '../../../domain/failure.ts';
import { KeyedQueue } from '../../../lib/keyed-queue.ts';
import { removeTree } from '../../../lib/remove-tree.ts';
import { treesOf } from '../../../domain/artifacts/trees.ts';

const APP = /^[a-z0-9][a-z0-9-]{0,63}$/i;
const ID = /^[a-z0-9][a-z0-9._-]{0,63}(?:\/[a-z0-9][a-z0-9._-]{0,63})?$/i;
const MANIFEST = 'slug.json';
const DIGEST = 'digest';

export class LocalArtifacts implements ArtifactStore {
  readonly name = 'local';
  readonly #root: string;
  readonly #queue = new KeyedQueue();

  constructor(root: string) {
    this.#root = resolve(root);
  }

  async begin(app: string, deploy: string): Promise<ArtifactPlace> {
    if (!APP.test(app) || !APP.test(deploy)) throw new TypeError(`no name of an artifact: ${app}/${deploy}`);
    const id = `${app}/${deploy}`;
    const directory = join(this.#root, id);
    const code = join(directory, 'code');
    await removeTree(directory);
    // Apps may pass through to what is theirs, but not see which other apps there are.
    await mkdir(directory, { recursive: true, mode: 0o711 });
    // Of what is being written there others could read all: command lines, which every user of the machine sees, name the path.
    await mkdir(code, { mode: 0o700 });
    return { id, directory, code };
  }

  async put({ directory }: ArtifactPlace, manifest: SlugManifest): Promise<void> {
    await replaced(join(directory, MANIFEST), `${JSON.stringify(manifest, null, 2)}\n`);
  }

  async open(id: string): Promise<OpenArtifact | null> {
    if (!ID.test(id)) return null;
    const text = await textOf(join(this.#root, id, MANIFEST));
    if (text === null) return null;
    let found: Partial<SlugManifest>;
    try {
      found = JSON.parse(text) as Partial<SlugManifest>;
    } catch (error) {
      if (error instanceof SyntaxError) return null;
      throw error;
    }
    const { platform = '', path = [], env = {}, binds = [], base, image } = found;
    const more = { ...(base !== undefined && { base }), ...(image !== undefined && { image }) };
    const manifest = { format: 1, platform, path, env, binds, ...more } as const;
    const packed = image === undefined ? null : await packedIn(join(this.#root, id));
    return { id, code: join(this.#root, id, 'code'), manifest, packed };
  }

  digest(id: string, signal: AbortSignal): Promise<string> {
    return this.#queue.run(
      id,
      async () => {
        const artifact = await this.open(id);
        if (artifact === null) throw notThere(id);
        if (artifact.manifest.image !== undefined) return artifact.manifest.image.digest;
        const file = join(this.#root, id, DIGEST);
        const known = await textOf(file);
        if (known !== null) return known.trim();
        const digest = await digestOf(artifact, signal);
        await replaced(file, `${digest}\n`);
        return digest;
      },
      signal,
    );
  }

  async list(app?: string): Promise<KeptArtifact[]> {
    const all = await this.#all(app);
    const manifests = await Promise.all(all.map(({ id }) => textOf(join(this.#root, id, MANIFEST))));
    return all.filter((_, index) => manifests[index] !== null);
  }

  async remove(id: string): Promise<void> {
    if (!ID.test(id)) return;
    const directory = join(this.#root, id);
    await rm(join(directory, MANIFEST), { force: true });
    await removeTree(directory);
    if (id.includes('/')) await rmdir(join(directory, '..')).catch(() => undefined);
  }

  async removeUnfinished(): Promise<number> {
    const [all, finished] = [await this.#all(), new Set((await this.list()).map(({ id }) => id))];
    const unfinished = all.filter(({ id }) => !finished.has(id));
    for (const { id } of unfinished) await this.remove(id);
    return unfinished.length;
  }

  async #all(only?: string): Promise<KeptArtifact[]> {
    const apps = only === undefined ? await names(this.#root) : [only];
    const found = await Promise.all(
      apps
        .filter((app) => APP.test(app))
        .map(async (app) => {
          const deploys = await names(join(this.#root, app));
          return deploys.filter((deploy) => APP.test(deploy)).map((deploy) => ({ id: `${app}/${deploy}`, app }));
        }),
    );
    return found.flat();
  }
}

/** Of the manifest and of each tree as it lies in an image. */
async function digestOf(artifact: OpenArtifact, signal: AbortSignal): Promise<string> {
  const { treeTar } = await import('../../../lib/tree-tar.ts');
  const trees: [at: string, digest: string][] = [];
  for (const tree of treesOf(artifact)) {
    const hash = createHash('sha256');
    for await (const chunk of treeTar([tree], signal)) hash.update(chunk);
    trees.push([tree.at, hash.digest('hex')]);
  }
  const whole = JSON.stringify({ format: 1, manifest: artifact.manifest, trees });
  return `sha256:${createHash('sha256').update(whole).digest('hex')}`;
}

async function replaced(file: string, text: string): Promise<void> {
  const unfinished = `${file}.new`;
  await writeFile(unfinished, text, { mode: 0o644 });
  await rename(unfinished, file);
}

async function packedIn(directory: string): Promise<string | null> {
  const path = join(directory, PACKED_IMAGE);
  return (await stat(path).catch(() => null)) === null ? null : path;
}

/** Null where there is none. */
async function textOf(file: string): Promise<string | null> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '')) return null;
    throw error;
  }
}

async function names(directory: string): Promise<string[]> {
  return readdir(directory).catch((error: unknown) => {
    if (error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ENOTDIR')) return [];
    throw error;
  });
}

function notThere(id: string): Failure {
  return new Failure('internal', `The built code "${id}" is not on this machine or is damaged.`, {
    hint: 'Deploy the app again.',
  });
}
