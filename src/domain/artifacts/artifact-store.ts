/**
 * Contract: keeps what builds and pulls make, by name, until no release names it. Implementations live in backends/artifact-store/<name>
 * and pass backends/artifact-store/conformance.ts. Builders and image sources put, engines open, retention removes.
 */
import type { SlugManifest } from './slug.ts';

/** Where one is made: directories of its own, empty. */
export interface ArtifactPlace {
  /** Stable name, `<app>/<deploy>`: what releases name, and engines are given. */
  readonly id: string;
  /** For whatever is needed on the way, beside the code. */
  readonly directory: string;
  /** Exists; becomes the code, or the root file system of an image. */
  readonly code: string;
}

/** Where the image that was built lies in an ArtifactPlace, beside its code, when it is kept. */
export const PACKED_IMAGE = 'image';

export interface OpenArtifact {
  readonly id: string;
  /** Where its files lie; nobody changes them any more. */
  readonly code: string;
  readonly manifest: SlugManifest;
  /** Directory with the image that the code was unpacked from, manifest and blobs, as it was built here; null where it is not kept. */
  readonly packed: string | null;
}

export interface KeptArtifact {
  readonly id: string;
  readonly app: string;
}

export interface ArtifactStore {
  readonly name: string;
  /**
   * Makes an empty place; what is there under this name is gone, for only a deploy that was cut off can have left it. Not kept before put().
   * Throws TypeError for names that cannot be.
   */
  begin(app: string, deploy: string): Promise<ArtifactPlace>;
  /** Keeps what was made, from this moment on as a whole: after a crash before it resolves there is all of it or nothing. */
  put(place: ArtifactPlace, manifest: SlugManifest): Promise<void>;
  /** Null where none of the name is kept. */
  open(id: string): Promise<OpenArtifact | null>;
  /**
   * Of everything that decides what runs: equal files with equal modes and times of change, at equal paths, with equal manifests have equal
   * digests, now and after every restart. Of what was made of an image it is that of the image. Computed when it is first asked for, which
   * takes as long as all files take to be read; kept from then on. Throws Failure `internal` where none of the name is kept, and what the signal says.
   */
  digest(id: string, signal: AbortSignal): Promise<string>;
  /** Of one app, or of all. */
  list(app?: string): Promise<KeptArtifact[]>;
  /** Missing, or no name at all: nothing to do. What is removed is not kept any more before the first of its files goes. */
  remove(id: string): Promise<void>;
  /** Removes what was begun and never put; only while nothing is being made. How many. */
  removeUnfinished(): Promise<number>;
}
