/** Built code as an image: the base that it was built on, what it shares with other code, and the code itself. */
import { join } from 'node:path';
import { treesOf } from '../../../../domain/artifacts/trees.ts';
import type { TarTree } from '../../../../lib/tree-tar.ts';
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
  const { artifact, request } = publishing;
  const { manifest, code } = artifact;
  const { app, processes } = request;
  const layers = await packed(publishing, layersOf(publishing));
  return publishOn(publishing, { base: baseOf(publishing), layers, app, code, manifest, processes });
}

type Target = Pick<Publishing, 'target' | 'push' | 'tag' | 'directory' | 'line' | 'signal' | 'reader'> & {
  readonly options: Pick<Publishing['options'], 'limits' | 'arch'>;
};

interface OnBase extends Pick<Parameters<typeof assemble>[0], 'app' | 'code' | 'manifest' | 'processes'> {
  /** Name of the image. */
  readonly base: string;
  readonly layers: readonly Packed[];
}

/** Pushes a base with layers of ours over it. Answers the digest. */
export async function publishOn(
  to: Target,
  { base: name, layers, app, code, manifest: own, processes }: OnBase,
): Promise<string> {
  const { options, line, signal, target } = to;
  const { client, reference, full } = to.reader(name);
  const lookup = { client, limits: options.limits, arch: options.arch, signal };
  const found = await findImage(lookup, reference);
  const config = await downloadText({ client, blob: found.manifest.config, stallMs: options.limits.stallMs, signal });
  const base = { config, layers: found.manifest.layers };
  const processor = processorOf(options.arch);
  const image = assemble({
    ...{ app, base, code, manifest: own, processes, processor },
    layers: layers.map(({ layer }) => layer),
  });
  let sent = 0;
  const blobs = [
    ...found.manifest.layers.map((blob) => copiedBlob(to, client, blob)),
    ...layers.map(({ blob }) => blob),
  ];
  for (const blob of blobs) sent += (await pushBlob(to.push, blob)) === 'sent' ? blob.size : 0;
  await pushBlob(to.push, textBlob(image.config));
  await patiently(to.push, () => pushManifest(target, to.tag, { text: image.manifest.text, mediaType: OCI_MANIFEST }));
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

interface Layer {
  readonly trees: readonly TarTree[];
  readonly by: string;
}

/** Each tree of what is shared is a layer of its own, so that the next release and other apps have it already. */
function layersOf({ artifact }: Publishing): Layer[] {
  return treesOf(artifact).map((tree) => ({
    trees: [tree],
    by: `tancho: ${tree.directory === artifact.code ? 'code' : 'shared with other code'}`,
  }));
}

export async function packed(
  { directory, signal }: Pick<Publishing, 'directory' | 'signal'>,
  layers: readonly Layer[],
): Promise<Packed[]> {
  const all: Packed[] = [];
  for (const [index, { trees, by }] of layers.entries()) {
    const file = join(directory, `layer-${index}`);
    const layer = await packLayer({ trees, by, file, signal });
    all.push({ layer, blob: fileBlob(layer, file) });
  }
  return all;
}

function sum(blobs: readonly Descriptor[]): number {
  return blobs.reduce((bytes, { size }) => bytes + size, 0);
}
