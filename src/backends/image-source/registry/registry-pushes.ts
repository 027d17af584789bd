/** Artifacts as images in a registry, from settings: what pushes is loaded with the first push. */
import { rm } from 'node:fs/promises';
import type { ArtifactStore } from '../../../domain/artifacts/artifact-store.ts';
import type { ImageRegistry } from '../../../domain/artifacts/image-registry.ts';
import { type AddressGuardOptions, createAddressGuard } from '../../../lib/guarded/address-guard.ts';
import { once } from '../../../lib/once.ts';
import { IMAGE_LIMITS } from './limits.ts';
import type { RegistryCredentials } from '../../../domain/registries/registry-login.ts';

interface RegistryPushesOptions {
  /** Which addresses may be called, beside the registry's own. */
  readonly addresses: AddressGuardOptions;
  readonly artifacts: Pick<ArtifactStore, 'open'>;
  /** `registry.example.com/apps`. */
  readonly place: string;
  readonly bases: ReadonlyMap<string, string>;
  readonly logins: ReadonlyMap<string, RegistryCredentials>;
  readonly insecure: readonly string[];
  /** File with PEM; null: none. */
  readonly roots: string | null;
  readonly timeoutMs: number;
  /** For layers on their way; ours alone. */
  readonly directory: string;
}

export function createRegistryPushes(options: RegistryPushesOptions): ImageRegistry {
  const { addresses, timeoutMs, roots, ...pushes } = options;
  const { place, directory } = pushes;
  const [, host = ''] = /^(\[[^\]]+\]|[^:/]+)/.exec(place) ?? [];
  // Who names a registry wants it to be called, wherever it is.
  const guard = createAddressGuard({ ...addresses, allow: [...addresses.allow, host.replace(/^\[|\]$/g, '')] });
  const opened = once(async () => {
    const { createImagePushes } = await import('./push/image-pushes.ts');
    // Of a push that was cut off.
    await rm(directory, { recursive: true, force: true });
    const limits = { ...IMAGE_LIMITS, timeoutMs };
    const more = roots === null ? {} : { roots: await (await import('./trusted-roots.ts')).trustedRoots(roots) };
    return createImagePushes({ ...pushes, guard, limits, arch: process.arch, ...more });
  });
  return {
    publish: async (request, line, signal) => (await opened()).publish(request, line, signal),
    withdraw: async (image, signal) => (await opened()).withdraw(image, signal),
    list: async (app, signal) => (await opened()).list(app, signal),
  };
}
