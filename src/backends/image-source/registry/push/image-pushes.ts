/**
 * Artifacts as images in a registry of the operator's: `<host>/<path>/<app>`, with the name of the deploy as tag. Images are put together here
 * without any daemon: layers of a base that the registry may have already, and layers that are packed from what was built.
 */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { ArtifactStore, OpenArtifact } from '../../../../domain/artifacts/artifact-store.ts';
import type { ImageRegistry, PublishRequest } from '../../../../domain/artifacts/image-registry.ts';
import { parseImageName } from '../../../../domain/deploys/image-name.ts';
import { Failure } from '../../../../domain/failure.ts';
import { randomHex } from '../../../../lib/ids.ts';
import { removeTree } from '../../../../lib/remove-tree.ts';
import type { AddressGuard } from '../../../../lib/guarded/address-guard.ts';
import { asFailure, type TransferInterruption } from '../failures.ts';
import { RegistryClient } from '../registry-client.ts';
import type { RegistryCredentials } from '../../../../domain/registries/registry-login.ts';
import type { ImageLimits } from '../limits.ts';
import type { BlobPush } from './push-blob.ts';
import { publishCode } from './publish-code.ts';
import { publishCopy } from './publish-copy.ts';
import { withdraw, storedTags } from './stored-images.ts';

export interface ImagePushesOptions {
  readonly artifacts: Pick<ArtifactStore, 'open'>;
  readonly guard: AddressGuard;
  /** Host and path below which each app has a repository: `registry.example.com/apps`. */
  readonly place: string;
  /** Platform -> the image that its apps are built on; `*` for all others. */
  readonly bases: ReadonlyMap<string, string>;
  readonly logins: ReadonlyMap<string, RegistryCredentials>;
  readonly insecure: readonly string[];
  /** PEM; absent: those that everybody trusts. */
  readonly roots?: string;
  /** What is larger goes in pieces of so many bytes; 32 MiB when absent. */
  readonly pieceBytes?: number;
  /** For layers on their way; ours alone. */
  readonly directory: string;
  readonly limits: ImageLimits;
  /** As Node calls it. */
  readonly arch: string;
}

/** One publication on its way. */
export interface Publishing {
  readonly options: ImagePushesOptions;
  readonly request: PublishRequest;
  readonly artifact: OpenArtifact;
  readonly target: RegistryClient;
  readonly push: BlobPush;
  /** Of the target. */
  readonly repository: string;
  readonly tag: string;
  /** Empty, and gone afterwards. */
  readonly directory: string;
  readonly line: (text: string) => void;
  readonly signal: AbortSignal;
  /** Of any registry, for what is read there. */
  readonly reader: (image: string) => {
    readonly client: RegistryClient;
    readonly reference: string;
    readonly full: string;
  };
}

export function createImagePushes(options: ImagePushesOptions): ImageRegistry {
  const { artifacts, guard, logins, insecure, roots, limits, pieceBytes } = options;
  const [host = '', ...path] = options.place.split('/');

  function client(
    of: string,
    repository: string,
    signal: AbortSignal,
    more: Partial<Pick<Publishing, 'request'>> & { purpose: 'pull' | 'push' },
  ): RegistryClient {
    const { request, purpose } = more;
    const own = purpose === 'pull' ? request?.logins.get(of) : undefined;
    const login = own ?? logins.get(of) ?? null;
    const isInsecure = insecure.includes(of);
    return new RegistryClient({
      guard,
      host: of,
      repository,
      login,
      isInsecure,
      signal,
      purpose,
      ...(roots !== undefined && { roots }),
    });
  }
  const repositoryOf = (app: string): string => [...path, app].join('/');

  /** Within the time that it may take, until the caller gives up. */
  async function inTime<T>(signal: AbortSignal, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    let stopped: TransferInterruption = null;
    const stop = new AbortController();
    const end = (why: TransferInterruption): void => {
      stopped ??= why;
      stop.abort(new Error(`the push was ended: ${why}`));
    };
    const onAbort = (): void => end('cancelled');
    signal.addEventListener('abort', onAbort, { once: true });
    if (signal.aborted) onAbort();
    const timer = setTimeout(() => end('timeout'), limits.timeoutMs);
    try {
      return await work(stop.signal);
    } catch (error) {
      throw asFailure(error, stopped, limits.timeoutMs, 'push');
    } finally {
      clearTimeout(timer);
      signal.removeEventListener('abort', onAbort);
    }
  }

  return {
    publish: (request, line, given) =>
      inTime(given, async (signal) => {
        const artifact = await artifacts.open(request.artifact);
        if (artifact === null) throw notKept(request.artifact);
        const directory = join(options.directory, `push-${randomHex(12)}`);
        await mkdir(directory, { recursive: true, mode: 0o700 });
        const repository = repositoryOf(request.app);
        const target = client(host, repository, signal, { purpose: 'push' });
        const publishing: Publishing = {
          ...{ options, request, artifact, repository, directory, line, signal },
          tag: tagOf(request.artifact),
          target,
          push: { client: target, signal, ...(pieceBytes !== undefined && { pieceBytes }) },
          reader(image) {
            const name = parseImageName(image);
            const { reference, full } = name;
            return {
              client: client(name.host, name.repository, signal, { request, purpose: 'pull' }),
              reference,
              full,
            };
          },
        };
        try {
          const digest = await (artifact.manifest.image === undefined ? publishCode : publishCopy)(publishing);
          return `${host}/${repository}@${digest}`;
        } finally {
          await removeTree(directory);
        }
      }),
    withdraw: ({ app, ...image }, given) =>
      inTime(given, (signal) => {
        const reference = 'published' in image ? (image.published.split('@')[1] ?? '') : tagOf(image.artifact);
        const unless = 'artifact' in image ? (image.unless ?? []).flatMap((name) => name.split('@')[1] ?? []) : [];
        return withdraw(client(host, repositoryOf(app), signal, { purpose: 'push' }), { reference, unless }, signal);
      }),
    list: (app, given) =>
      inTime(given, async (signal) => {
        const tags = await storedTags(client(host, repositoryOf(app), signal, { purpose: 'push' }), signal);
        return tags.map((tag) => ({ artifact: `${app}/${tag}`, app }));
      }),
  };
}

/** Of `shop/6565…` the second part. */
function tagOf(artifact: string): string {
  return artifact.split('/').at(-1) ?? '';
}

function notKept(id: string): Failure {
  return new Failure('internal', `The built code "${id}" is not on this machine or is damaged.`, {
    hint: 'Deploy the app again.',
  });
}
