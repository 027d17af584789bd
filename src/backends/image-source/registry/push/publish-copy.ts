/** An image as it is, by its digest: the nodes of a cluster need no login of somebody else's registry, and it stays when that takes it away. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { unfit } from '../failures.ts';
import { findImage } from '../find-image.ts';
import { MANIFEST } from '../copy-image.ts';
import { mib } from '../limits.ts';
import { type Descriptor, processorOf, readManifest } from '../manifests.ts';
import { copiedBlob, fileBlob } from './blobs.ts';
import type { Publishing } from './image-pushes.ts';
import { patiently, pushBlob, type PushedBlob } from './push-blob.ts';
import { pushManifest } from './push-manifest.ts';

interface Whole {
  readonly text: string;
  readonly mediaType: string;
  readonly blobs: readonly PushedBlob[];
}

/** Answers the digest. */
export async function publishCopy(publishing: Publishing): Promise<string> {
  const { request, target, tag, line } = publishing;
  const { text, mediaType, blobs } = await (request.image === '' ? built(publishing) : pulled(publishing));
  let sent = 0;
  for (const blob of blobs) sent += (await pushBlob(publishing.push, blob)) === 'sent' ? blob.size : 0;
  const digest = await patiently(publishing.push, () => pushManifest(target, tag, { text, mediaType }));
  const size = blobs.reduce((bytes, blob) => bytes + blob.size, 0);
  line(`The image, ${mib(size)}, ${mib(sent)} of it sent: ${digest}`);
  return digest;
}

async function pulled(publishing: Publishing): Promise<Whole> {
  const { options, request, signal } = publishing;
  const { client, reference } = publishing.reader(request.image);
  const { manifest, text, mediaType } = await findImage(
    { client, limits: options.limits, arch: options.arch, signal },
    reference,
  );
  const blobs = distinct([manifest.config, ...manifest.layers]).map((blob) => copiedBlob(publishing, client, blob));
  return { text, mediaType, blobs };
}

/** By a build from a Dockerfile, which left it beside what units here run. */
async function built({ options, artifact }: Publishing): Promise<Whole> {
  const { packed } = artifact;
  if (packed === null) throw unfit('only what units of this machine run was kept of it.', 'Deploy the app again.');
  const text = await readFile(join(packed, MANIFEST), 'utf8');
  const manifest = readManifest(text, '', processorOf(options.arch), options.limits);
  if (manifest.kind !== 'image') throw unfit('it is no single image.');
  const { mediaType } = JSON.parse(text) as { mediaType?: string };
  const blobs = distinct([manifest.config, ...manifest.layers]).map((blob) =>
    fileBlob(blob, join(packed, blob.digest.replace(/^sha256:/, ''))),
  );
  return { text, mediaType: mediaType ?? 'application/vnd.oci.image.manifest.v1+json', blobs };
}

function distinct(blobs: readonly Descriptor[]): Descriptor[] {
  return [...new Map(blobs.map((blob) => [blob.digest, blob])).values()];
}
