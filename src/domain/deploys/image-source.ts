/**
 * Contract: images that lie in registries. Implementations live in backends/image-source/<name>. What they make is kept and
 * removed by the builder, beside what that has built.
 */
import type { Artifact } from './builder.ts';
import type { ImageName } from './image-name.ts';

export interface PullRequest {
  readonly app: string;
  /** The deploy's id; also names the artifact's directory. */
  readonly deployId: string;
  readonly image: ImageName;
  /** Artifacts that releases of the app name. */
  readonly kept: readonly string[];
}

export interface PulledImage extends Artifact {
  /** The image's name with the digest that was meant by it. */
  readonly image: string;
  /** False: it is one of those that are kept, for it is of the same digest; nothing was brought. */
  readonly isNew: boolean;
}

export interface ImageSource {
  /**
   * Brings an image to this machine and makes it ready to run as the process `web`. Every byte is checked against its digest. `line`
   * gets what is worth telling, at least every few seconds while bytes come. A failure leaves nothing behind.
   * Throws Failure: `pull_failed` when the registry does not give it, `invalid_source` when it cannot run here, `no_process`,
   * `disk_full`, `timeout`, `cancelled`.
   */
  pull(request: PullRequest, line: (text: string) => void, signal: AbortSignal): Promise<PulledImage>;
}
