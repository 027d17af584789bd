/** Pure: the JSON documents of an image, as far as they are needed. Everything in them is checked before it is used. */
import { DIGEST } from '../../../domain/deploys/image-name.ts';
import { isRecord } from '../../../lib/is-record.ts';
import { unfit } from './failures.ts';
import { type ImageLimits, mib } from './limits.ts';

export interface Descriptor {
  readonly mediaType: string;
  readonly digest: string;
  readonly size: number;
}

export interface ImagePlatform {
  /** As images call it: `amd64`, `arm64`. */
  readonly architecture: string;
  readonly variant: string;
}

export type ImageManifest =
  | { readonly kind: 'index'; readonly chosen: Descriptor }
  | { readonly kind: 'image'; readonly config: Descriptor; readonly layers: readonly Descriptor[] };

const INDEX = ['application/vnd.oci.image.index.v1+json', 'application/vnd.docker.distribution.manifest.list.v2+json'];
const IMAGE = ['application/vnd.oci.image.manifest.v1+json', 'application/vnd.docker.distribution.manifest.v2+json'];
export const ACCEPT = [...INDEX, ...IMAGE].join(', ');
const LAYER =
  /^application\/vnd\.(?:oci\.image\.layer\.v1\.tar(?:\+(?:gzip|zstd))?|docker\.image\.rootfs\.diff\.tar(?:\.(?:gzip|zstd))?)$/;
const MAX_PLATFORMS = 200;

/** This machine's. */
export function processorOf(arch: string): ImagePlatform {
  const names: Record<string, string> = { x64: 'amd64', ia32: '386', ppc64: 'ppc64le' };
  return { architecture: names[arch] ?? arch, variant: arch === 'arm' ? 'v7' : '' };
}

/** `type`: what the answer said it is. Throws Failure `invalid_source`. */
export function readManifest(text: string, type: string, processor: ImagePlatform, limits: ImageLimits): ImageManifest {
  const document = record(jsonOf(text, 'manifest'), 'its manifest');
  const named = document['mediaType'];
  const mediaType = typeof named === 'string' && named !== '' ? named : (type.split(';', 1)[0] ?? '').trim();
  const isIndex = Array.isArray(document['manifests']);
  const isImage = Array.isArray(document['layers']);
  // Who reads one document as two things can be shown two images under one digest.
  if (document['schemaVersion'] !== 2 || isIndex === isImage || (isIndex ? IMAGE : INDEX).includes(mediaType)) {
    throw unfit('its manifest is of a kind that is not known here.', 'Push it as an OCI or Docker (schema 2) image.');
  }
  if (isIndex) return { kind: 'index', chosen: choose(document['manifests'] as unknown[], processor) };
  const layers = (document['layers'] as unknown[]).map((layer) => descriptor(layer, 'a layer'));
  checkLayers(layers, limits);
  const config = descriptor(document['config'], 'its configuration');
  if (config.size > limits.manifestBytes) throw unfit('its configuration is too large.');
  return { kind: 'image', config, layers };
}

function choose(manifests: readonly unknown[], { architecture, variant }: ImagePlatform): Descriptor {
  const offered: string[] = [];
  const fitting: { chosen: Descriptor; isSame: boolean }[] = [];
  const nested: Descriptor[] = [];
  for (const one of manifests.slice(0, MAX_PLATFORMS)) {
    const { platform: named, mediaType } = record(one, 'its index');
    if (named === undefined && INDEX.includes(String(mediaType))) nested.push(descriptor(one, 'its index'));
    const platform = record(named ?? {}, 'its index');
    const [os, arch, itsVariant] = ['os', 'architecture', 'variant'].map((name) => String(platform[name] ?? ''));
    if (os !== 'unknown' && os !== '') offered.push(`${os}/${arch}`.replace(/[^\w/.-]/g, '?').slice(0, 40));
    if (os !== 'linux' || arch !== architecture) continue;
    fitting.push({ chosen: descriptor(one, 'its index'), isSame: itsVariant === variant });
  }
  const found = fitting.find(({ isSame }) => isSame) ?? fitting[0];
  const [inner] = nested;
  if (found !== undefined) return found.chosen;
  if (inner !== undefined) return inner;
  throw unfit(
    `it is not made for linux/${architecture}, only for ${offered.slice(0, 10).join(', ') || 'nothing'}.`,
    `Build it for linux/${architecture} and push it again.`,
  );
}

function checkLayers(layers: readonly Descriptor[], limits: ImageLimits): void {
  if (layers.length > limits.layers) throw unfit(`it has more than ${limits.layers} layers.`);
  const bytes = layers.reduce((sum, { size }) => sum + size, 0);
  if (bytes > limits.compressedBytes) throw unfit(`its layers are larger than ${mib(limits.compressedBytes)}.`);
  for (const { mediaType } of layers) {
    if (LAYER.test(mediaType)) continue;
    throw unfit(`a layer is of the kind ${JSON.stringify(mediaType.slice(0, 100))}, which is not known here.`);
  }
}

function descriptor(value: unknown, what: string): Descriptor {
  const { mediaType, digest, size } = record(value, what);
  const isGood =
    typeof mediaType === 'string' &&
    typeof digest === 'string' &&
    DIGEST.test(digest) &&
    typeof size === 'number' &&
    Number.isSafeInteger(size) &&
    size >= 0;
  if (!isGood) throw unfit(`the description of ${what} is damaged, or its digest is not of the kind sha256.`);
  return { mediaType, digest, size };
}

/** Throws Failure `invalid_source`. */
export function jsonOf(text: string, what: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    throw unfit(`its ${what} is not JSON.`);
  }
}

export function record(value: unknown, what: string): Readonly<Record<string, unknown>> {
  if (isRecord(value)) return value;
  throw unfit(`the description of ${what} is damaged.`);
}
