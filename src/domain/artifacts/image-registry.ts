/**
 * Contract: keeps artifacts as images in a registry, for engines on other machines, which know them by name and digest. Implementations
 * live in backends/image-source/<name>.
 */
import type { RegistryCredentials } from '../registries/registry-login.ts';

export interface PublishRequest {
  readonly app: string;
  /** Its name in the artifact store. */
  readonly artifact: string;
  /** Name and digest of the image that it was made of, where it can be had again; '' for built code. */
  readonly image: string;
  /** Process name -> command line, which the image is to know. */
  readonly processes: Readonly<Record<string, string>>;
  /** As in PullRequest. */
  readonly logins: ReadonlyMap<string, RegistryCredentials>;
}

/** What a registry has of an app. */
interface StoredImage {
  /** The name of the artifact. */
  readonly artifact: string;
  readonly app: string;
}

export interface ImageRegistry {
  /**
   * Pushes an artifact as an image, unless it is there: the base image with the layers that were built on it, or an image as it is, by its
   * digest. Answers its name with the digest: `registry.example.com/apps/shop@sha256:...`. Idempotent; equal artifacts with equal processes have
   * equal digests. What is there of an earlier or another artifact is not sent again. Throws Failure: `push_failed`, `pull_failed`
   * for what it begins with, `invalid_source`, `disk_full`, `timeout`, `cancelled`, `internal` where none of the name is kept.
   */
  publish(request: PublishRequest, line: (text: string) => void, signal: AbortSignal): Promise<string>;
  /**
   * Has an image removed, by the name that publish() gave or by that of its artifact. False: the registry removes nothing. Missing: nothing
   * to do. `unless`: names that stay, whatever else they are called there. Throws Failure as publish().
   */
  withdraw(
    image: { readonly app: string } & (
      { readonly published: string } | { readonly artifact: string; readonly unless?: readonly string[] }
    ),
    signal: AbortSignal,
  ): Promise<boolean>;
  /** What is there of an app, for those that no release names. Throws Failure as publish(). */
  list(app: string, signal: AbortSignal): Promise<StoredImage[]>;
}
