/**
 * Contract: makes something runnable from source, and puts it into the artifact store. Implementations live in backends/builder/<name> and pass
 * backends/builder/conformance.ts. A build never touches what serves.
 */
import type { HealthCheck, Hooks, Liveness } from '../apps/app.ts';
import type { AppSettings } from '../apps/app-settings.ts';
import type { PlatformInfo } from '../platforms/platform.ts';
import type { RegistryCredentials } from '../registries/registry-login.ts';
import type { DeclaredVolume } from '../volumes/volume.ts';

/** Source code that can be laid out in an empty directory, once. */
export interface SourceTree {
  /** Writes the tree below `directory`, which exists and is empty. Throws PlatformError `deploy.invalid_source`. */
  extract(directory: string, signal: AbortSignal): Promise<void>;
  /** After extract(): what the tree has empty directories for, being of other repositories. Absent: nothing. */
  submodules?(): readonly Submodule[];
}

export interface Submodule {
  readonly path: string;
  readonly commit: string;
}

export interface BuildRequest {
  readonly app: string;
  /** The deploy's id; also names the artifact's directory. */
  readonly deployId: string;
  /** The app's platform; the builder says so when the source looks like another one. `auto`: the one that the source is of. */
  readonly platform: string;
  /** Name -> definition of the platforms that were added, see describe(). */
  readonly added?: Readonly<Record<string, string>>;
  /** Platforms that `auto` may not turn out to be. */
  readonly disabled?: readonly string[];
  readonly source: SourceTree;
  /** What is set on the app in place of files in its source; absent: nothing. */
  readonly settings?: AppSettings;
  /** By the host of a registry, for images that a build begins with; absent: none. */
  readonly registryLogins?: ReadonlyMap<string, RegistryCredentials>;
  /** The app's environment, available to the build. */
  readonly env: Readonly<Record<string, string>>;
  /** Names in `env` whose values are replaced in the printed lines; absent: all of them. */
  readonly privateEnv?: readonly string[];
}

/** What an app's files say of a process, beside its command. */
export interface ProcessSettings {
  /** How many units it has where nobody has said otherwise. */
  readonly count?: number;
  /** As ProcessType. */
  readonly watchSeconds?: number;
  readonly liveness?: Liveness | 'off';
  readonly routed?: true;
  readonly healthCheck?: HealthCheck;
}

interface WantedVariable {
  readonly name: string;
  readonly value: string;
  readonly isPublic: boolean;
  /** With the app's first release only, or with every one before which it is missing. */
  readonly when: 'first' | 'missing';
}

export interface Artifact {
  /** Its name in the artifact store, given to Provisioner.ensure. */
  readonly id: string;
  /** The one that built it; absent: none, as for an image. */
  readonly platform?: string;
  /** Process name -> command line, from the Procfile or the platform's defaults; never empty. */
  readonly processes: Readonly<Record<string, string>>;
  /** By process name; those of a name that is no process mean nothing. */
  readonly settings?: Readonly<Record<string, ProcessSettings>>;
  readonly healthCheck: HealthCheck | null;
  readonly hooks: Hooks;
  /** Instance -> how the app's files call its variables, see Release; absent: as the provider does. */
  readonly bindingNames?: Readonly<Record<string, Readonly<Record<string, string>>>>;
  /** As in Release; absent: nothing. */
  readonly maintenancePage?: string;
  /** What the app gets where it has no variable of that name; absent: nothing. */
  readonly variables?: readonly WantedVariable[];
  /** Volumes that the app's files name; absent: none. */
  readonly volumes?: Readonly<Record<string, DeclaredVolume>>;
}

export interface UnusedBounds {
  readonly since: Date;
  /** Of programs; 0 for any number. */
  readonly toolBytes: number;
}

export interface Builder {
  readonly name: string;
  /** Of the platforms that the builder brings; nothing is probed for them. */
  platformNames(): Promise<readonly string[]>;
  /** The same platforms, with what is missing on this machine. Probed at most once a minute, which takes seconds on a slow machine. */
  platforms(): Promise<PlatformInfo[]>;
  /**
   * Reads the definition of a further platform. Throws PlatformError `platform.invalid_definition`, naming the line; `unsupported`
   * for a kind of definition that this builder cannot follow.
   */
  describe(name: string, definition: string): Promise<PlatformInfo>;
  /**
   * Runs a build in its own sandbox. `line` gets every line printed, as it happens. A failure leaves nothing behind but the cache.
   * Throws Failure: `no_platform`, `no_process`, `invalid_config`, `toolchain_missing`, `build_failed`, `disk_full`, `disk_low`, `timeout`, `cancelled`.
   */
  build(request: BuildRequest, line: (text: string) => void, signal: AbortSignal): Promise<Artifact>;
  /** Removes an app's build cache; missing: nothing to do. What artifacts that are kept need of it stays, and goes with a later removeUnused(). */
  removeCache(app: string): Promise<void>;
  /**
   * Removes programs fetched to this machine that no artifact needs: those no build has used since then, and those used least recently while
   * all together hold more than so many bytes. Removes what builds of an app keep for the next one, but for what artifacts need, where there was
   * no build since then. Whatever goes is fetched again by the build that wants it. Answers names.
   */
  removeUnused(bounds: UnusedBounds): Promise<string[]>;
}
