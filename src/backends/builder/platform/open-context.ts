/** Sets up what the builds of one builder share, and clears up after builds that were cut short. */
import { mkdir, mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { Logger } from '../../../lib/logger.ts';
import type { ArtifactStore } from '../../../domain/artifacts/artifact-store.ts';
import type { DiskWriters } from '../../../domain/disk/disk-writers.ts';
import type { ImageSource } from '../../../domain/deploys/image-source.ts';
import type { Sandbox } from '../../../sandbox/sandbox.ts';
import { removeTree } from '../../../lib/remove-tree.ts';
import type { CodeBase, Bases } from './base/bases.ts';
import { once } from '../../../lib/once.ts';
import { CacheLayers } from './cache/layers.ts';
import type { Language } from '../../../build-plan/language.ts';
import type { StepLimits } from './steps/run-step.ts';
import { MachineSettings } from './toolchain/machine-settings.ts';
import { ProgramFinder, TOOLCHAIN_TENANT } from './toolchain/programs.ts';
import { Toolchains } from './toolchain/toolchains.ts';
import type { BuilderContext, ImageBuilder, ImageClient } from './builder-context.ts';

interface BaseSettings {
  /** Platform -> image; `*` for all others. */
  readonly names: ReadonlyMap<string, string>;
  readonly directory: string;
  /** Of the platform. */
  readonly home: string;
}

export interface PlatformBuilderOptions {
  /** Directory with the files that languages put into the code of apps. */
  readonly platformFiles: string;
  /** Those that come with the program by default. */
  readonly languages?: readonly Language[];
  /** What it makes is put there; nobody else puts before the builder is opened. */
  readonly artifacts: ArtifactStore;
  /** Directories owned by this builder; made when missing. */
  readonly cache: string;
  readonly toolchains: string;
  /** Images that code is built on; absent: none. */
  readonly bases?: BaseSettings;
  /** Brings and unpacks images for builds from a Dockerfile; absent: there are none. */
  readonly images?: Pick<ImageSource, 'copy' | 'unpack'>;
  /** Absent: buildah. */
  readonly imageBuilder?: ImageBuilder;
  /** Images that are built stay packed beside what units here run, to be pushed; absent: they do not. */
  readonly keepsImages?: boolean;
  readonly sandbox: Sandbox;
  readonly buildTimeoutMs: number;
  /** Where builds are noted; absent: nobody watches what they write. */
  readonly writers?: DiskWriters;
  /** Of each step; 0 for no limit. */
  readonly buildMemoryBytes?: number;
  readonly logger: Logger;
  /** The Node that runs the server; process.execPath by default. */
  readonly execPath?: string;
  /** The server's own environment; process.env by default. */
  readonly environment?: Readonly<Record<string, string | undefined>>;
}

const PROCESSES = 4_096;
const KEPT_LAYERS = 3;
/** What clients of Docker and BuildKit look at. */
const CLIENT_VARIABLES = /^(?:DOCKER_\w+|BUILDKIT_\w+|BUILDX_\w+|HOME|PATH|HTTPS?_PROXY|NO_PROXY|SSH_AUTH_SOCK)$/i;

export async function openContext(options: PlatformBuilderOptions): Promise<BuilderContext> {
  const cache = resolve(options.cache);
  const toolchains = resolve(options.toolchains);
  // Apps may pass through to what is theirs, but not see which other apps there are; toolchains are for all.
  await mkdir(cache, { recursive: true, mode: 0o711 });
  await mkdir(toolchains, { recursive: true, mode: 0o755 });
  const { sandbox, buildTimeoutMs: timeoutMs, buildMemoryBytes: memoryBytes = 0 } = options;
  const limits: StepLimits = { memoryBytes, cpuMillis: 0, processes: PROCESSES };
  const environment = options.environment ?? process.env;
  const execPath = options.execPath ?? process.execPath;
  const context: BuilderContext = {
    languages: once(() => languagesOf(options)),
    written: writtenLanguage,
    platformFiles: resolve(options.platformFiles),
    artifacts: options.artifacts,
    layers: new CacheLayers(cache, KEPT_LAYERS),
    programs: new ProgramFinder({ sandbox, directory: toolchains, execPath, environment, limits }),
    programsOn: eachOnce(
      (base) => new ProgramFinder({ sandbox, directory: toolchains, execPath, environment, limits, base }),
    ),
    bases: once(() => basesOf(options)),
    toolchains: new Toolchains({ directory: toolchains, sandbox, limits }),
    settings: new MachineSettings(environment),
    images: options.images ?? null,
    imageClient: clientOf(options.imageBuilder, environment),
    keepsImages: options.keepsImages ?? false,
    sandbox,
    isInPod: environment['KUBERNETES_SERVICE_HOST'] !== undefined,
    cache,
    limits,
    timeoutMs,
    separated: await separatesUsers(sandbox, toolchains),
  };
  const removed = await context.artifacts.removeUnfinished();
  if (removed > 0) options.logger.info({ removed }, 'removed unfinished slugs of interrupted builds');
  await removeLeftovers(cache);
  return context;
}

/** Null where none are named. */
async function basesOf({ bases, images }: PlatformBuilderOptions): Promise<Bases | null> {
  if (bases === undefined || images === undefined || bases.names.size === 0) return null;
  const { Bases: Opened } = await import('./base/bases.ts');
  return new Opened({ ...bases, images });
}

function eachOnce(make: (base: CodeBase) => ProgramFinder): (base: CodeBase) => ProgramFinder {
  const made = new Map<string, ProgramFinder>();
  return (base) => {
    const programs = made.get(base.root) ?? make(base);
    made.set(base.root, programs);
    return programs;
  };
}

/** Environments of clients are theirs alone: builds get nothing of them. */
function clientOf(
  builder: ImageBuilder | undefined,
  environment: Readonly<Record<string, string | undefined>>,
): ImageClient | null {
  if (builder === undefined) return null;
  const names = Object.keys(environment).filter((name) => CLIENT_VARIABLES.test(name));
  const given = Object.fromEntries(names.map((name) => [name, environment[name] ?? '']));
  return { builder, environment: { ...given, LANG: 'C.UTF-8', NO_COLOR: '1' } };
}

async function languagesOf({ languages, imageBuilder }: PlatformBuilderOptions): Promise<readonly Language[]> {
  const all = languages ?? (await builtIn()).LANGUAGES;
  if (imageBuilder === undefined) return all;
  const { dockerfileBuiltBy } = await import('../../../build-plan/languages/dockerfile/dockerfile.ts');
  const own = dockerfileBuiltBy(imageBuilder.kind);
  return all.map((language) => (language.name === own.name ? own : language));
}

/** What reads source trees is a good part of the program, and needed by builds alone. */
function builtIn() {
  return import('../../../build-plan/languages/built-in.ts');
}

async function writtenLanguage(name: string, definition: string): Promise<Language> {
  const { INHERITABLE } = await builtIn();
  const { writtenLanguage: read } = await import('../../../build-plan/written/written-language.ts');
  return read(name, definition, INHERITABLE);
}

/** Sees whether a directory given to a tenant really becomes somebody else's. */
async function separatesUsers(sandbox: Sandbox, directory: string): Promise<boolean> {
  const probe = await mkdtemp(join(directory, '.owner-'));
  try {
    await sandbox.own(probe, TOOLCHAIN_TENANT);
    return (await stat(probe)).uid !== process.getuid?.();
  } finally {
    await rm(probe, { recursive: true, force: true });
  }
}

/** Private directories of builds that were cut short. */
async function removeLeftovers(cache: string): Promise<void> {
  for (const app of await readdir(cache)) {
    for (const name of await readdir(join(cache, app)).catch(() => [])) {
      if (name.startsWith('build-')) await removeTree(join(cache, app, name));
    }
  }
}
