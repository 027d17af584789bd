/** The slug that an image becomes: unfinished until its manifest is there, so that a pull cut short leaves nothing that counts. */
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { SlugManifest } from '../../../domain/deploys/slug.ts';
import { removeTree } from '../../../lib/remove-tree.ts';

const MANIFEST = 'slug.json';
const NAME = /^[a-z0-9][a-z0-9-]{0,63}$/i;

export interface SlugPlace {
  readonly id: string;
  readonly directory: string;
  /** Becomes the root. */
  readonly code: string;
  /** For what comes from the registry; not there when the slug is finished. */
  readonly downloads: string;
}

export async function beginSlug(slugs: string, app: string, deployId: string): Promise<SlugPlace> {
  if (!NAME.test(app) || !NAME.test(deployId)) throw new TypeError(`no name of a slug: ${app}/${deployId}`);
  const directory = join(slugs, app, deployId);
  const place = {
    id: `${app}/${deployId}`,
    directory,
    code: join(directory, 'code'),
    downloads: join(directory, 'new'),
  };
  await removeTree(directory);
  await mkdir(directory, { recursive: true, mode: 0o711 });
  // Nobody else sees it before it is whole.
  for (const path of [place.code, place.downloads]) await mkdir(path, { mode: 0o700 });
  return place;
}

export async function finishSlug(place: SlugPlace, manifest: SlugManifest): Promise<void> {
  await removeTree(place.downloads);
  const unfinished = join(place.directory, `${MANIFEST}.new`);
  await writeFile(unfinished, `${JSON.stringify(manifest, null, 2)}\n`, { mode: 0o644 });
  await rename(unfinished, join(place.directory, MANIFEST));
}

/** Null for what is no finished slug of an image. */
export async function readSlug(slugs: string, id: string): Promise<SlugManifest | null> {
  if (!id.split('/').every((name) => NAME.test(name))) return null;
  try {
    const manifest = JSON.parse(await readFile(join(slugs, id, MANIFEST), 'utf8')) as SlugManifest;
    return manifest.image === undefined ? null : manifest;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT' || error instanceof SyntaxError) return null;
    throw error;
  }
}

/** Of a finished slug. */
export function codeOf(slugs: string, id: string): string {
  return join(slugs, id, 'code');
}
