/**
 * Slugs on disk: `<slugs>/<app>/<deployId>/{code,slug.json}`. The manifest is written last, so a slug without one is unfinished.
 * Does not know how slugs are built.
 */
import { mkdir, readdir, readFile, rename, rm, rmdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { SlugManifest } from '../../../domain/deploys/slug.ts';
import { removeTree } from '../../../lib/remove-tree.ts';
import { isThere } from './cache/copy-tree.ts';

const APP = /^[a-z][a-z0-9-]{0,62}$/;
const DEPLOY = /^[a-z0-9][a-z0-9-]{0,63}$/i;
const MANIFEST = 'slug.json';

export interface SlugPlace {
  readonly id: string;
  readonly directory: string;
  readonly code: string;
}

export class Slugs {
  readonly #root: string;

  constructor(root: string) {
    this.#root = root;
  }

  place(app: string, deployId: string): SlugPlace {
    if (!APP.test(app) || !DEPLOY.test(deployId)) throw new TypeError(`no name of a slug: ${app}/${deployId}`);
    const directory = join(this.#root, app, deployId);
    return { id: `${app}/${deployId}`, directory, code: join(directory, 'code') };
  }

  /** Null for what cannot be a slug's name. */
  named(id: string): SlugPlace | null {
    const [app = '', deployId = '', ...rest] = id.split('/');
    return rest.length === 0 && APP.test(app) && DEPLOY.test(deployId) ? this.place(app, deployId) : null;
  }

  /** An empty code directory. */
  async begin(place: SlugPlace): Promise<void> {
    await removeTree(place.directory);
    await mkdir(place.code, { recursive: true, mode: 0o711 });
  }

  async finish(place: SlugPlace, manifest: SlugManifest): Promise<void> {
    const unfinished = join(place.directory, `${MANIFEST}.new`);
    await writeFile(unfinished, `${JSON.stringify(manifest, null, 2)}\n`, { mode: 0o644 });
    await rename(unfinished, join(place.directory, MANIFEST));
  }

  /** The manifest goes first, so that a removal cut short leaves an unfinished slug. */
  async remove(place: SlugPlace): Promise<void> {
    await rm(join(place.directory, MANIFEST), { force: true });
    await removeTree(place.directory);
    await rmdir(join(place.directory, '..')).catch(() => undefined);
  }

  /** Finished slugs, of one app or of all. */
  async list(only?: string): Promise<{ id: string; app: string }[]> {
    const all = await this.#all(only);
    const finished = await Promise.all(all.map(async ({ place }) => isThere(join(place.directory, MANIFEST))));
    return all.filter((_, index) => finished[index]).map(({ place, app }) => ({ id: place.id, app }));
  }

  /** Removes what builds that were cut short left; only while no build runs. */
  async removeUnfinished(): Promise<number> {
    let removed = 0;
    for (const { place } of await this.#all()) {
      if (await isThere(join(place.directory, MANIFEST))) continue;
      await this.remove(place);
      removed += 1;
    }
    return removed;
  }

  /** Directories outside their slugs that the slugs of an app, or of all, need. */
  async binds(app?: string): Promise<Set<string>> {
    const needed = new Set<string>();
    for (const { id } of await this.list(app)) {
      const directory = this.named(id)?.directory ?? '';
      const manifest = JSON.parse(await readFile(join(directory, MANIFEST), 'utf8')) as SlugManifest;
      for (const bind of manifest.binds) needed.add(bind);
    }
    return needed;
  }

  async #all(only?: string): Promise<{ app: string; place: SlugPlace }[]> {
    const apps = only === undefined ? await names(this.#root) : [only];
    const found = await Promise.all(
      apps
        .filter((app) => APP.test(app))
        .map(async (app) => {
          const deploys = await names(join(this.#root, app));
          return deploys
            .filter((deploy) => DEPLOY.test(deploy))
            .map((deploy) => ({ app, place: this.place(app, deploy) }));
        }),
    );
    return found.flat();
  }
}

async function names(directory: string): Promise<string[]> {
  return readdir(directory).catch((error: unknown) => {
    if (error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ENOTDIR')) return [];
    throw error;
  });
}
