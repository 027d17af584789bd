/** What every build of one builder shares. */
import type { ArtifactStore } from '../../../domain/artifacts/artifact-store.ts';
import type { ImageSource } from '../../../domain/deploys/image-source.ts';
import type { Sandbox } from '../../../sandbox/sandbox.ts';
import type { CodeBase, Bases } from './base/bases.ts';
import type { CacheLayers } from './cache/layers.ts';
import type { Language } from '../../../build-plan/language.ts';
import type { StepLimits } from './steps/run-step.ts';
import type { MachineSettings } from './toolchain/machine-settings.ts';
import type { ProgramFinder } from './toolchain/programs.ts';
import type { Toolchains } from './toolchain/toolchains.ts';

/** A daemon that the operator has named for builds from a Dockerfile. */
export type ImageBuilder = { readonly kind: 'docker' } | { readonly kind: 'buildkit'; readonly address: string };

export interface ImageClient {
  readonly builder: ImageBuilder;
  /** Of the program that asks it. */
  readonly environment: Readonly<Record<string, string>>;
}

export interface BuilderContext {
  /** Those that the builder brings; loaded when they are first asked for. */
  readonly languages: () => Promise<readonly Language[]>;
  /** Reads the definition of a platform that was added. Throws PlatformError `platform.invalid_definition`, `unsupported`. */
  readonly written: (name: string, definition: string) => Promise<Language>;
  /** Absolute: where files that languages put into the code lie. */
  readonly platformFiles: string;
  readonly artifacts: ArtifactStore;
  readonly layers: CacheLayers;
  readonly programs: ProgramFinder;
  /** Those of an image that code is built on. */
  readonly programsOn: (base: CodeBase) => ProgramFinder;
  /** Null: code is built with what the machine has. Loaded when they are first asked for. */
  readonly bases: () => Promise<Bases | null>;
  readonly toolchains: Toolchains;
  readonly settings: MachineSettings;
  /** For builds of images; null: there are none. */
  readonly images: Pick<ImageSource, 'copy' | 'unpack'> | null;
  /** Null: images are built by buildah, within the sandbox. */
  readonly imageClient: ImageClient | null;
  /** Images that are built stay packed beside what units here run, to be pushed. */
  readonly keepsImages: boolean;
  readonly sandbox: Sandbox;
  /** The server runs in a pod of Kubernetes. */
  readonly isInPod: boolean;
  /** Absolute; per app: `layers/` (kept dependencies) and `downloads/` (caches of package managers). */
  readonly cache: string;
  readonly limits: StepLimits;
  readonly timeoutMs: number;
  /** True when tenants are users of their own, other than the server's. */
  readonly separated: boolean;
}
