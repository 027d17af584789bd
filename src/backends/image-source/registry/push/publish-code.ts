/** Built code as an image: the base that it was built on, what it shares with other code, and the code itself. */
import { join } from 'node:path';
import { treesOf } from '../../../../domain/artifacts/trees.ts';
import { downloadText } from '../download.ts';
import { notPushed } from '../failures.ts';
import { findImage } from '../find-image.ts';
import { mib } from '../limits.ts';
import { type Descriptor, processorOf } from '../manifests.ts';
import { assemble, type BuiltLayer, OCI_MANIFEST } from './assemble.ts';
import type { Publishing } from './image-pushes.ts';
import { packLayer } from './pack-layer.ts';
import { copiedBlob, fileBlob, textBlob } from './blobs.ts';
import { patiently, pushBlob, type PushedBlob } from './push-blob.ts';
import { pushManifest } from './push-manifest.ts';

/** Answers the digest. */
export async function publishCode(publishing: Publishing): Promise<string> {
  const { options, request, artifact, line, signal, target } = publishing;
  const name = baseOf(publishing);
  const { client, reference, full } = publishing.reader(name);
  const lookup = { client, limits: options.limits, arch: options.arch, signal };
  const found = await findImage(lookup, reference);
  const config = await downloadText({ client, blob: found.manifest.config, stallMs: options.limits.stallMs, signal });
  const layers = await ownLayers(publishing);
  const base = { config, layers: found.manifest.layers };
  const processor = processorOf(options.arch);
  const { manifest, app, code } = { manifest: artifact.manifest, app: request.app, code: artifact.code };
  const { processes } = request;
  const image = assemble({
    ...{ app, base, code, manifest, processes, processor },
    layers: layers.map(({ layer }) => layer),
  });
  let sent = 0;
  const blobs = [
    ...found.manifest.layers.map((blob) => copiedBlob(publishing, client, blob)),
    ...layers.map(({ blob }) => blob),
  ];
  for (const blob of blobs) sent += (await pushBlob(publishing.push, blob)) === 'sent' ? blob.size : 0;
  await pushBlob(publishing.push, textBlob(image.config));
  await patiently(publishing.push, () =>
    pushManifest(target, publishing.tag, { text: image.manifest.text, mediaType: OCI_MANIFEST }),
  );
  const whole = [...found.manifest.layers, ...layers.map(({ layer }) => layer)];
  line(`${whole.length} layers on ${full}, ${mib(sum(whole))}, ${mib(sent)} of it sent: ${image.manifest.digest}`);
  return image.manifest.digest;
}

function baseOf({ options: { bases }, artifact: { manifest } }: Publishing): string {
  const name = manifest.base?.image ?? bases.get(manifest.platform) ?? bases.get('*');
  if (name !== undefined) return name;
  throw notPushed(
    `no base image is named for the platform ${manifest.platform}, and code without one runs nowhere else.`,
    `An operator can name one in the setting "images.base", such as ${manifest.platform}=registry.example.com/debian:12; then deploy again.`,
  );
}

interface Packed {
  readonly layer: BuiltLayer;
  readonly blob: PushedBlob;
}

/** Each tree of what is shared is a layer of its own, so that the next release and other apps have it already. */
async function ownLayers({ artifact, directory, signal }: Publishing): Promise<Packed[]> {
  const packed: Packed[] = [];
  for (const [index, tree] of treesOf(artifact).entries()) {
    const file = join(directory, `layer-${index}`);
    const by = tree.directory === artifact.code ? 'code' : 'shared with other code';
    const layer = await packLayer({ trees: [tree], by: `tancho: ${by}`, file, signal });
    packed.push({ layer, blob: fileBlob(layer, file) });
  }
  return packed;
}

function sum(blobs: readonly Descriptor[]): number {
  return blobs.reduce((bytes, { size }) => bytes + size, 0);
}
