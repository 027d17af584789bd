/** From the name of an image to its manifest for this machine's kind of processor, through the indexes there are. */
import { createHash } from 'node:crypto';
import { DIGEST } from '../../../domain/deploys/image-name.ts';
import { readAnswer } from '../../../lib/guarded/guarded-request.ts';
import { downloadText } from './download.ts';
import { notPulled, unfit } from './failures.ts';
import { type ImageConfig, readImageConfig } from './image-config.ts';
import type { ImageLimits } from './limits.ts';
import { ACCEPT, type ImageManifest, processorOf, readManifest } from './manifests.ts';
import type { RegistryClient } from './registry-client.ts';

export interface Lookup {
  readonly client: RegistryClient;
  readonly limits: ImageLimits;
  /** As Node calls it. */
  readonly arch: string;
  readonly signal: AbortSignal;
}

export interface FoundImage {
  readonly digest: string;
  readonly manifest: Extract<ImageManifest, { kind: 'image' }>;
  /** The manifest, byte for byte. */
  readonly text: string;
  /** As what the registry gives it. */
  readonly mediaType: string;
}

/** An index may name another one, and that a third. */
const MAX_INDEXES = 3;

/** Throws Failure `pull_failed`, `invalid_source`. */
export async function findImage(lookup: Lookup, reference: string): Promise<FoundImage> {
  let wanted = reference;
  for (let indexes = 0; indexes <= MAX_INDEXES; indexes += 1) {
    const { manifest, ...found } = await manifestOf(lookup, wanted);
    if (manifest.kind === 'image') return { ...found, manifest };
    wanted = manifest.chosen.digest;
  }
  throw unfit(`its index names other indexes, more than ${MAX_INDEXES} deep.`);
}

/** Throws Failure `pull_failed`, `invalid_source`, `no_process`. */
export async function configOf(
  { client, limits, arch, signal }: Lookup,
  { manifest }: FoundImage,
): Promise<ImageConfig> {
  const text = await downloadText({ client, blob: manifest.config, stallMs: limits.stallMs, signal });
  return readImageConfig(text, processorOf(arch));
}

async function manifestOf(
  { client, limits, arch, signal }: Lookup,
  reference: string,
): Promise<Omit<FoundImage, 'manifest'> & { manifest: ImageManifest }> {
  const answer = await client.get(`manifests/${reference}`, ACCEPT);
  const { 'content-type': type = '', 'docker-content-digest': stated } = answer.headers;
  const text = await readAnswer(answer, limits.manifestBytes, signal);
  const digest = `sha256:${createHash('sha256').update(text, 'utf8').digest('hex')}`;
  const expected = DIGEST.test(reference) ? reference : stated;
  if (expected !== undefined && DIGEST.test(`${expected}`) && expected !== digest) {
    throw notPulled(`what the registry sends as ${String(expected)} is something else.`);
  }
  const mediaType = type.split(';', 1)[0]?.trim() ?? '';
  return { digest, manifest: readManifest(text, type, processorOf(arch), limits), text, mediaType };
}
