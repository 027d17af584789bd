/** An image of a registry, as a slug. */
import { chmod, mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { PulledImage, PullRequest } from '../../../domain/deploys/image-source.ts';
import { ahead } from '../../../lib/ahead.ts';
import type { ArtifactPlace, ArtifactStore } from '../../../domain/artifacts/artifact-store.ts';
import { removeTree } from '../../../lib/remove-tree.ts';
import { downloadFile } from './download.ts';
import { configOf, findImage, type FoundImage } from './find-image.ts';
import type { ImageConfig } from './image-config.ts';
import { ImageLayers } from './layers.ts';
import { mib } from './limits.ts';
import type { Descriptor } from './manifests.ts';
import { prepareRoot } from './prepare-root.ts';
import { progressOf } from './progress.ts';
import type { Transfer } from './registry-images.ts';
import { RootTree } from './root-tree.ts';
import type { SlugImage } from '../../../domain/artifacts/slug.ts';

/** Layers on their way at once: more of them would only share the same line. */
export const DOWNLOADS = 3;
const SLOW_MS = 1_000;

export interface Pull extends Transfer {
  readonly request: PullRequest;
  readonly artifacts: ArtifactStore;
}

export async function pullImage(pull: Pull): Promise<PulledImage> {
  const { request, line, artifacts, signal } = pull;
  signal.throwIfAborted();
  const found = await findImage(pull, request.image.reference);
  const { digest, manifest } = found;
  const named = `${request.image.full}@${digest}`;
  const size = manifest.layers.reduce((sum, layer) => sum + layer.size, 0);
  const config = await configOf(pull, found);
  for (const id of request.kept) {
    const kept = await artifacts.open(id);
    const image = kept?.manifest.image;
    if (kept === null || image?.digest !== digest) continue;
    line(`${digest} is here already`);
    const { commands } = request;
    const { appOfImage } = await import('./image-files.ts');
    const artifact = await appOfImage({ id, code: kept.code, image, config, commands, line });
    return { ...artifact, image: named, isNew: false };
  }
  const count = manifest.layers.length;
  line(`${digest}: ${count} ${count === 1 ? 'layer' : 'layers'}, ${mib(size)}`);
  const place = await artifacts.begin(request.app, request.deployId);
  try {
    const made = await unpack(pull, found, config, place);
    const { id, code } = place;
    const { appOfImage } = await import('./image-files.ts');
    const artifact = await appOfImage({ id, code, image: made, config, commands: request.commands, line });
    return { ...artifact, image: named, isNew: true };
  } catch (error) {
    await artifacts.remove(place.id);
    throw error;
  }
}

interface Wanted {
  readonly blob: Descriptor;
  readonly index: number;
  readonly count: number;
}

interface Arrived {
  readonly name: string;
  readonly file: string;
  readonly blob: Descriptor;
}

async function unpack(
  pull: Pull,
  { digest, manifest }: FoundImage,
  config: ImageConfig,
  place: ArtifactPlace,
): Promise<Omit<SlugImage, 'digest'>> {
  const { line, limits, signal, artifacts } = pull;
  const directory = join(place.directory, 'new');
  await mkdir(directory, { mode: 0o700 });
  // Nobody else sees it before it is whole.
  await chmod(place.code, 0o700);
  const tree = new RootTree(place.code);
  const layers = new ImageLayers(tree, limits);
  // The first that goes wrong ends the others, and is the one that is reported.
  let failure: { readonly cause: unknown } | null = null;
  const orEnd = async <T>(work: Promise<T>): Promise<T> => {
    try {
      return await work;
    } catch (cause) {
      failure ??= { cause };
      pull.abandon();
      throw cause;
    }
  };
  const downloads = manifest.layers.map(
    (blob, index) => () => orEnd(arrived(pull, directory, { blob, index, count: manifest.layers.length })),
  );
  try {
    // Layers come while those before them are unpacked.
    for await (const { name, file, blob } of ahead(DOWNLOADS, downloads)) {
      const slow = setTimeout(() => line(`${name}: unpacking`), SLOW_MS);
      await orEnd(layers.add(file, signal)).finally(() => clearTimeout(slow));
      await rm(file);
      line(`${name}: ${mib(blob.size)}, unpacked`);
    }
  } catch (error) {
    throw (failure as { readonly cause: unknown } | null)?.cause ?? error;
  }
  const image = await prepareRoot(tree, config);
  line(`${layers.entries} entries, ${mib(layers.bytes)}`);
  signal.throwIfAborted();
  const manifestOfSlug = { format: 1, platform: '', path: [], env: config.env, binds: [] } as const;
  await removeTree(directory);
  await artifacts.put(place, { ...manifestOfSlug, image: { digest, ...image } });
  return image;
}

async function arrived(pull: Pull, downloads: string, { blob, index, count }: Wanted): Promise<Arrived> {
  const { client, limits, line, signal } = pull;
  const name = `Layer ${index + 1} of ${count}`;
  const file = join(downloads, `${index}`);
  const progress = progressOf(name, blob.size, line);
  await downloadFile({ client, blob, stallMs: limits.stallMs, signal, progress }, file);
  return { name, file, blob };
}
