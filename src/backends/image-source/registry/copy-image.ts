/** An image of a registry as it is, packed, in the form that programs for containers read: a directory with its manifest and blobs. */
import { chmod, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { CopyRequest } from '../../../domain/deploys/image-source.ts';
import { ahead } from '../../../lib/ahead.ts';
import type { BlobCache } from './blob-cache.ts';
import { downloadFile } from './download.ts';
import { findImage } from './find-image.ts';
import { mib } from './limits.ts';
import type { Descriptor } from './manifests.ts';
import { progressOf } from './progress.ts';
import { DOWNLOADS } from './pull-image.ts';
import type { Transfer } from './registry-images.ts';

/** Names of the form `dir:` of those programs. */
export const MANIFEST = 'manifest.json';
const VERSION = { name: 'version', text: 'Directory Transport Version: 1.1\n' };

export interface Copy extends Transfer, CopyRequest {
  readonly blobs: BlobCache | null;
}

/** Answers the name of the image with its digest. */
export async function copyImage(copy: Copy): Promise<string> {
  const { client, image, directory, line, blobs } = copy;
  const { host, repository } = client;
  const { digest, manifest, text } = await findImage(copy, image.reference);
  const size = manifest.layers.reduce((sum, layer) => sum + layer.size, 0);
  const wanted = [...new Map([manifest.config, ...manifest.layers].map((blob) => [blob.digest, blob])).values()];
  let fetched = 0;
  const tasks = wanted.map((blob, index) => async () => {
    const path = join(directory, blob.digest.replace(/^sha256:/, ''));
    const name = `${image.full}, part ${index + 1} of ${wanted.length}`;
    const fetch = (file: string): Promise<void> => download(copy, blob, file, name);
    const kept = { host, repository, digest: blob.digest };
    if (blobs === null) await fetch(path);
    if (blobs === null || (await blobs.put(kept, path, fetch, copy.signal)) === 'fetched') fetched += blob.size;
  });
  try {
    for await (const _ of ahead(DOWNLOADS, tasks));
  } catch (error) {
    copy.abandon();
    throw error;
  }
  await writeFile(join(directory, VERSION.name), VERSION.text);
  await writeFile(join(directory, MANIFEST), text);
  line(`${image.full}: ${mib(size)}${fetched === 0 ? ', here already' : `, ${mib(fetched)} of it fetched`}`);
  await blobs?.prune();
  return `${image.full}@${digest}`;
}

async function download(copy: Copy, blob: Descriptor, file: string, name: string): Promise<void> {
  const { client, limits, line, signal } = copy;
  const progress = progressOf(name, blob.size, line);
  await downloadFile({ client, blob, stallMs: limits.stallMs, signal, progress }, file);
  // Builds read it as nobody in particular.
  await chmod(file, 0o644);
}
