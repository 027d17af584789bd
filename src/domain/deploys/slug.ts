/**
 * A slug: the built output on the process engine, at `<slugs>/<artifact>/` with the code in `code/` and this manifest in
 * `slug.json`. Written by the builder, read by the provisioner.
 */
export interface SlugManifest {
  readonly format: 1;
  readonly platform: string;
  /** Absolute directories put in front of PATH. */
  readonly path: readonly string[];
  /** Defaults below the app's own environment. */
  readonly env: Readonly<Record<string, string>>;
  /** Absolute directories outside the slug that its units must see, read-only (toolchains, dependency layers). */
  readonly binds: readonly string[];
}
