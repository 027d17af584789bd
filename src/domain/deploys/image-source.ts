/**
 * Contract: images that lie in registries. Implementations live in backends/image-source/<name>. What they make is put
 * into the artifact store, beside what was built.
 */
import type { Artifact } from './builder.ts';
import type { HealthCheck, Liveness } from '../apps/app.ts';
import type { ImageName } from './image-name.ts';
import type { RegistryCredentials } from '../registries/registry-login.ts';
import type { SlugImage } from '../artifacts/slug.ts';

export interface PullRequest {
  readonly app: string;
  /** The deploy's id; also names the artifact's directory. */
  readonly deployId: string;
  readonly image: ImageName;
  /** Artifacts that releases of the app name. */
  readonly kept: readonly string[];
  /** Process name -> command, as people have set them; beside what the image says. */
  readonly commands: Readonly<Record<string, string>>;
  /** By the host of the registry; before those of the server's settings. */
  readonly logins: ReadonlyMap<string, RegistryCredentials>;
}

export interface PulledImage extends Artifact {
  /** The image's name with the digest that was meant by it. */
  readonly image: string;
  /** False: it is one of those that are kept, for it is of the same digest; nothing was fetched. */
  readonly isNew: boolean;
}

export interface CopyRequest {
  readonly image: ImageName;
  /** As in PullRequest. */
  readonly logins: ReadonlyMap<string, RegistryCredentials>;
  /** Exists and is empty; gets the manifest, and each blob by the digits of its digest. */
  readonly directory: string;
}

export interface UnpackRequest {
  /** As copy() leaves it; whoever wrote there has ended. */
  readonly directory: string;
  /** Exists and is empty; becomes the root file system. */
  readonly root: string;
}

export interface UnpackedImage {
  /** What it runs when nobody says otherwise; at least one word. */
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly healthCheck: HealthCheck | null;
  /** How its process `web` is looked at; null: as everywhere. */
  readonly liveness: Liveness | 'off' | null;
  readonly image: SlugImage;
}

export interface ImageSource {
  /**
   * Brings an image to this machine and makes it ready to run: its own command as the process `web`, unless tancho.yaml in its working
   * directory or `commands` say otherwise. Every byte is checked against its digest. `line`
   * gets what is worth reporting, at least every few seconds while bytes come. A failure leaves nothing behind.
   * Throws Failure: `pull_failed` when the registry does not give it, `invalid_source` when it cannot run here, `no_process`,
   * `disk_full`, `timeout`, `cancelled`.
   */
  pull(request: PullRequest, line: (text: string) => void, signal: AbortSignal): Promise<PulledImage>;
  /**
   * Brings an image as it is, for a build that begins with it, checked as pull() does; what an earlier build has fetched is not fetched
   * again. Answers its name with the digest. Throws as pull(); a failure may leave something in the directory.
   */
  copy(request: CopyRequest, line: (text: string) => void, signal: AbortSignal): Promise<string>;
  /** Makes an image that was built here ready to run. Throws Failure `invalid_source`, `no_process`. */
  unpack(request: UnpackRequest, line: (text: string) => void, signal: AbortSignal): Promise<UnpackedImage>;
}
