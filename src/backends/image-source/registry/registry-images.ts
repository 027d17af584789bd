/**
 * Images from registries. Owns the way from a name to a slug: the manifest, the layers, the root file system they make. Slugs are
 * removed by the builder, like its own; units of them are the provisioner's business.
 */
import { createHash } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { Artifact } from '../../../domain/deploys/builder.ts';
import { DIGEST } from '../../../domain/deploys/image-name.ts';
import type { ImageSource, PulledImage, PullRequest } from '../../../domain/deploys/image-source.ts';
import { argvText } from '../../../lib/argv-text.ts';
import { type AddressGuardOptions, createAddressGuard } from '../../../lib/guarded/address-guard.ts';
import { readAnswer } from '../../../lib/guarded/guarded-request.ts';
import { removeTree } from '../../../lib/remove-tree.ts';
import { downloadFile, downloadText } from './download.ts';
import { asFailure, notPulled, type Stopped, unfit } from './failures.ts';
import { type ImageConfig, readImageConfig } from './image-config.ts';
import { Layers } from './layers.ts';
import { IMAGE_LIMITS, type ImageLimits, mib } from './limits.ts';
import { ACCEPT, type Descriptor, type Manifest, processorOf, readManifest } from './manifests.ts';
import { type Login, RegistryClient } from './registry-client.ts';
import { RootTree } from './root-tree.ts';
import { prepareRoot } from './prepare-root.ts';
import { beginSlug, finishSlug, readSlug, type SlugPlace } from './slug-place.ts';

export interface RegistryImagesOptions {
  /** Which addresses may be called. */
  readonly addresses: AddressGuardOptions;
  /** Directory of slugs, see SlugManifest. */
  readonly slugs: string;
  /** By the host of the registry. */
  readonly logins: ReadonlyMap<string, Login>;
  readonly timeoutMs: number;
  readonly limits?: Partial<ImageLimits>;
  /** As Node calls it; this machine's by default. */
  readonly arch?: string;
}

/** Told soon, then less often. */
const PROGRESS_MS = { first: 1_000, most: 10_000 };

export function createRegistryImages(options: RegistryImagesOptions): ImageSource {
  const { addresses, logins, timeoutMs, arch = process.arch } = options;
  const limits: ImageLimits = { ...IMAGE_LIMITS, timeoutMs, ...options.limits };
  const slugs = resolve(options.slugs);
  const guard = createAddressGuard(addresses);
  return {
    async pull(request, line, signal) {
      let stopped: Stopped = signal.aborted ? 'cancelled' : null;
      const stop = new AbortController();
      const end = (why: Stopped): void => {
        stopped ??= why;
        stop.abort(new Error(`the pull was ended: ${why}`));
      };
      const onAbort = (): void => end('cancelled');
      signal.addEventListener('abort', onAbort, { once: true });
      if (signal.aborted) onAbort();
      const timer = setTimeout(() => end('timeout'), limits.timeoutMs);
      const { host, repository } = request.image;
      const login = logins.get(host) ?? null;
      const client = new RegistryClient({ guard, host, repository, login, signal: stop.signal });
      try {
        return await new Pull({ request, line, signal: stop.signal, client, limits, slugs, arch }).run();
      } catch (error) {
        throw asFailure(error, stopped, limits.timeoutMs);
      } finally {
        clearTimeout(timer);
        signal.removeEventListener('abort', onAbort);
      }
    },
  };
}

interface PullOptions {
  readonly request: PullRequest;
  readonly line: (text: string) => void;
  readonly signal: AbortSignal;
  readonly client: RegistryClient;
  readonly limits: ImageLimits;
  readonly slugs: string;
  readonly arch: string;
}

interface Found {
  readonly digest: string;
  readonly manifest: Extract<Manifest, { kind: 'image' }>;
}

class Pull {
  readonly #options: PullOptions;

  constructor(options: PullOptions) {
    this.#options = options;
  }

  async run(): Promise<PulledImage> {
    const { request, line, slugs, signal } = this.#options;
    signal.throwIfAborted();
    const found = await this.#find();
    const { digest, manifest } = found;
    const image = `${request.image.full}@${digest}`;
    const size = manifest.layers.reduce((sum, layer) => sum + layer.size, 0);
    const config = await this.#config(manifest.config);
    for (const id of request.kept) {
      if ((await readSlug(slugs, id))?.image?.digest !== digest) continue;
      line(`${digest} is here already`);
      return { ...artifactOf(id, config), image, isNew: false };
    }
    const count = manifest.layers.length;
    line(`${digest}: ${count} ${count === 1 ? 'layer' : 'layers'}, ${mib(size)}`);
    const place = await beginSlug(slugs, request.app, request.deployId);
    try {
      await this.#unpack(found, config, place);
      return { ...artifactOf(place.id, config), image, isNew: true };
    } catch (error) {
      await removeTree(place.directory);
      throw error;
    }
  }

  async #find(): Promise<Found> {
    const { reference } = this.#options.request.image;
    const first = await this.#manifest(reference);
    if (first.manifest.kind === 'image') return { digest: first.digest, manifest: first.manifest };
    const second = await this.#manifest(first.manifest.chosen.digest);
    if (second.manifest.kind === 'image') return { digest: second.digest, manifest: second.manifest };
    throw unfit('its index names another index.');
  }

  async #manifest(reference: string): Promise<{ digest: string; manifest: Manifest }> {
    const { client, limits, arch, signal } = this.#options;
    const answer = await client.get(`manifests/${reference}`, ACCEPT);
    const { 'content-type': type = '', 'docker-content-digest': told } = answer.headers;
    const text = await readAnswer(answer, limits.manifestBytes, signal);
    const digest = `sha256:${createHash('sha256').update(text, 'utf8').digest('hex')}`;
    const expected = DIGEST.test(reference) ? reference : told;
    if (expected !== undefined && DIGEST.test(`${expected}`) && expected !== digest) {
      throw notPulled(`what the registry sends as ${String(expected)} is something else.`);
    }
    return { digest, manifest: readManifest(text, type, processorOf(arch), limits) };
  }

  async #config(blob: Descriptor): Promise<ImageConfig> {
    const { client, limits, arch, signal } = this.#options;
    const text = await downloadText({ client, blob, stallMs: limits.stallMs, signal });
    return readImageConfig(text, processorOf(arch));
  }

  async #unpack({ digest, manifest }: Found, config: ImageConfig, place: SlugPlace): Promise<void> {
    const { line, limits, signal } = this.#options;
    const tree = new RootTree(place.code);
    const layers = new Layers(tree, limits);
    for (const [index, blob] of manifest.layers.entries()) {
      const name = `Layer ${index + 1} of ${manifest.layers.length}`;
      const file = join(place.downloads, `${index}`);
      await this.#download(blob, file, name);
      const slow = setTimeout(() => line(`${name}: unpacking`), PROGRESS_MS.first);
      await layers.add(file, signal).finally(() => clearTimeout(slow));
      await rm(file);
      line(`${name}: ${mib(blob.size)}, unpacked`);
    }
    const image = await prepareRoot(tree, config);
    line(`${layers.entries} entries, ${mib(layers.bytes)}`);
    signal.throwIfAborted();
    const manifestOfSlug = { format: 1, platform: '', path: [], env: config.env, binds: [] } as const;
    await finishSlug(place, { ...manifestOfSlug, image: { digest, ...image } });
  }

  async #download(blob: Descriptor, file: string, name: string): Promise<void> {
    const { client, limits, line, signal } = this.#options;
    let toldAt = Date.now();
    let pauseMs = PROGRESS_MS.first;
    const progress = (bytes: number): void => {
      if (Date.now() - toldAt < pauseMs) return;
      toldAt = Date.now();
      pauseMs = Math.min(pauseMs * 1.5, PROGRESS_MS.most);
      line(`${name}: ${mib(bytes)} of ${mib(blob.size)}`);
    };
    await downloadFile({ client, blob, stallMs: limits.stallMs, signal, progress }, file);
  }
}

function artifactOf(id: string, config: ImageConfig): Artifact {
  return {
    id,
    processes: { web: argvText(config.argv) },
    healthCheck: config.healthCheck,
    hooks: { release: [], restartBefore: [], restartAfter: [] },
  };
}
