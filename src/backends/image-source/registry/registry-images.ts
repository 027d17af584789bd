/**
 * Images from registries. Owns the way from a name to a slug: the manifest, the layers, the root file system they make; and the blobs
 * that are kept for those who build on images. What is pulled belongs to the artifact store; units of it are the provisioner's business.
 */
import { resolve } from 'node:path';
import type { ArtifactStore } from '../../../domain/artifacts/artifact-store.ts';
import type { ImageSource } from '../../../domain/deploys/image-source.ts';
import type { ImageName } from '../../../domain/deploys/image-name.ts';
import { type AddressGuardOptions, createAddressGuard } from '../../../lib/guarded/address-guard.ts';
import { BlobCache } from './blob-cache.ts';
import { asFailure, type TransferInterruption } from './failures.ts';
import type { Lookup } from './find-image.ts';
import { IMAGE_LIMITS, type ImageLimits } from './limits.ts';
import { RegistryClient } from './registry-client.ts';
import type { RegistryCredentials } from '../../../domain/registries/registry-login.ts';

export interface RegistryImagesOptions {
  /** Which addresses may be called. */
  readonly addresses: AddressGuardOptions;
  /** Where images that are pulled are kept. */
  readonly artifacts: ArtifactStore;
  /** Directory of blobs that are kept for builds; absent: none are. */
  readonly blobs?: string;
  /** By the host of the registry. */
  readonly logins: ReadonlyMap<string, RegistryCredentials>;
  /** Hosts of registries that get passwords without TLS; absent: none does. */
  readonly insecure?: readonly string[];
  /** File with PEM of roots, beside those that everybody trusts; null and absent: none. */
  readonly roots?: string | null;
  readonly timeoutMs: number;
  readonly limits?: Partial<ImageLimits>;
  /** As Node calls it; this machine's by default. */
  readonly arch?: string;
}

/** One image on its way. */
export interface Transfer extends Lookup {
  readonly line: (text: string) => void;
  /** Ends whatever is still on its way. */
  readonly abandon: () => void;
}

export function createRegistryImages(options: RegistryImagesOptions): ImageSource {
  const { addresses, artifacts, logins, insecure = [], roots, timeoutMs, arch = process.arch } = options;
  const limits: ImageLimits = { ...IMAGE_LIMITS, timeoutMs, ...options.limits };
  const guard = createAddressGuard(addresses);
  const blobs = options.blobs === undefined ? null : new BlobCache(resolve(options.blobs));

  /** Within the time that it may take, until the caller gives up. */
  async function transfer<T>(
    { image, logins: own }: { readonly image: ImageName; readonly logins: ReadonlyMap<string, RegistryCredentials> },
    line: (text: string) => void,
    signal: AbortSignal,
    work: (transfer: Transfer) => Promise<T>,
  ): Promise<T> {
    let stopped: TransferInterruption = signal.aborted ? 'cancelled' : null;
    const stop = new AbortController();
    const end = (why: TransferInterruption): void => {
      stopped ??= why;
      stop.abort(new Error(`the pull was ended: ${why}`));
    };
    const onAbort = (): void => end('cancelled');
    signal.addEventListener('abort', onAbort, { once: true });
    if (signal.aborted) onAbort();
    const timer = setTimeout(() => end('timeout'), limits.timeoutMs);
    const { host, repository } = image;
    const client = new RegistryClient({
      guard,
      host,
      repository,
      login: own.get(host) ?? logins.get(host) ?? null,
      isInsecure: insecure.includes(host),
      signal: stop.signal,
      ...(roots != null && { roots: await (await import('./trusted-roots.ts')).trustedRoots(roots) }),
    });
    const abandon = (): void => stop.abort(new Error('the pull has failed'));
    try {
      return await work({ client, limits, arch, signal: stop.signal, line, abandon });
    } catch (error) {
      throw asFailure(error, stopped, limits.timeoutMs);
    } finally {
      clearTimeout(timer);
      signal.removeEventListener('abort', onAbort);
    }
  }

  return {
    async pull(request, line, signal) {
      const { pullImage } = await import('./pull-image.ts');
      return transfer(request, line, signal, (one) => pullImage({ ...one, request, artifacts }));
    },
    async copy(request, line, signal) {
      const { copyImage } = await import('./copy-image.ts');
      return transfer(request, line, signal, (one) => copyImage({ ...one, ...request, blobs }));
    },
    async unpack(request, line, signal) {
      const { unpackImage } = await import('./unpack-image.ts');
      return unpackImage({ ...request, line, signal, limits, arch });
    },
  };
}
