/** In place of an app's platform: what its first push turns out to be. No platform can have this name. */
export const AUTO_PLATFORM = 'auto';

/** A platform: a language and how its apps are built. */
export interface PlatformInfo {
  readonly name: string;
  readonly description: string;
  /** True when this machine has every tool the platform needs. */
  readonly ready: boolean;
  /** Version lines of the tools found, e.g. `node v20.19.2`. */
  readonly tools: readonly string[];
  /** What is missing and the command that installs it, one sentence each; empty when ready. */
  readonly missing: readonly string[];
}
