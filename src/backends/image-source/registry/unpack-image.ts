/** An image that was built on this machine, in a directory with its manifest and blobs, as a slug. Who built it may have written anything there. */
import { createHash } from 'node:crypto';
import { constants, type ReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import type { UnpackedImage, UnpackRequest } from '../../../domain/deploys/image-source.ts';
import { unfit } from './failures.ts';
import { readImageConfig } from './image-config.ts';
import { MANIFEST } from './copy-image.ts';
import { ImageLayers } from './layers.ts';
import { type ImageLimits, mib } from './limits.ts';
import { type Descriptor, processorOf, readManifest } from './manifests.ts';
import { prepareRoot } from './prepare-root.ts';
import { RootTree } from './root-tree.ts';

export interface Unpack extends UnpackRequest {
  readonly line: (text: string) => void;
  readonly signal: AbortSignal;
  readonly limits: ImageLimits;
  readonly arch: string;
}

export async function unpackImage(unpack: Unpack): Promise<UnpackedImage> {
  const { directory, root, line, signal, limits, arch } = unpack;
  const text = (await textOf(join(directory, MANIFEST), limits.manifestBytes)).toString('utf8');
  const digest = `sha256:${createHash('sha256').update(text, 'utf8').digest('hex')}`;
  const manifest = readManifest(text, '', processorOf(arch), limits);
  if (manifest.kind !== 'image') throw unfit('it is no single image.');
  const configText = await textOf(fileOf(directory, manifest.config), limits.manifestBytes);
  if (digestOf(configText) !== manifest.config.digest) throw unfit('its configuration is damaged.');
  const config = readImageConfig(configText.toString('utf8'), processorOf(arch));
  const tree = new RootTree(root);
  const layers = new ImageLayers(tree, limits);
  for (const blob of manifest.layers) {
    signal.throwIfAborted();
    await layers.add(await checked(fileOf(directory, blob), blob), signal);
  }
  const image = await prepareRoot(tree, config);
  line(`The image has ${layers.entries} entries, ${mib(layers.bytes)}`);
  const { argv, env, health } = config;
  if (health.note !== '') line(health.note);
  const { healthCheck, liveness } = health;
  return { argv, env, healthCheck, liveness, image: { digest, ...image } };
}

function fileOf(directory: string, { digest }: Descriptor): string {
  return join(directory, digest.replace(/^sha256:/, ''));
}

/** Never through a link, and never anything but a file. */
async function readOf(path: string): Promise<{ stream: ReadStream; size: number }> {
  const handle = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK).catch(() => null);
  const facts = await handle?.stat();
  if (handle == null || facts?.isFile() !== true) {
    await handle?.close();
    throw unfit('a part of it is missing.');
  }
  return { stream: handle.createReadStream(), size: facts.size };
}

async function textOf(path: string, most: number): Promise<Buffer> {
  const { stream, size } = await readOf(path);
  if (size > most) {
    stream.destroy();
    throw unfit('its description is too large.');
  }
  const chunks: Buffer[] = [];
  for await (const chunk of stream as AsyncIterable<Buffer>) chunks.push(chunk);
  return Buffer.concat(chunks);
}

function digestOf(bytes: Buffer): string {
  return `sha256:${createHash('sha256').update(bytes).digest('hex')}`;
}

/** Nobody writes there any more, so what was compared is what is unpacked. */
async function checked(path: string, { digest }: Descriptor): Promise<string> {
  const { stream } = await readOf(path);
  const hash = createHash('sha256');
  for await (const chunk of stream as AsyncIterable<Buffer>) hash.update(chunk);
  if (`sha256:${hash.digest('hex')}` === digest) return path;
  throw unfit('a layer is not what its manifest says.');
}
