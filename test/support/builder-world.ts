/** A platform builder in a directory of its own, and what tests ask of it. */
import { chmod, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { LocalArtifacts } from '../../src/backends/artifact-store/local/local-artifacts.ts';
import type { ArtifactStore } from '../../src/domain/artifacts/artifact-store.ts';
import type { Artifact, Builder, BuildRequest } from '../../src/domain/deploys/builder.ts';
import type { SlugManifest } from '../../src/domain/artifacts/slug.ts';
import type { Language } from '../../src/build-plan/language.ts';
import { LANGUAGES } from '../../src/build-plan/languages/built-in.ts';
import { createPlatformBuilder } from '../../src/backends/builder/platform/platform-builder.ts';
import type { PlatformBuilderOptions } from '../../src/backends/builder/platform/open-context.ts';
import { SILENT } from '../../src/lib/logger.ts';
import { PlainSandbox } from './plain-sandbox.ts';

/** Files that the languages put into the code of apps. */
export const PLATFORM_FILES = new URL('../../platforms', import.meta.url).pathname;

export interface BuilderWorld {
  readonly home: string;
  readonly artifacts: ArtifactStore;
  readonly builder: Builder;
  readonly sandbox: PlainSandbox;
  /** Lines printed by the last build. */
  readonly lines: string[];
  build(request: Partial<BuildRequest> & Pick<BuildRequest, 'source'>, signal?: AbortSignal): Promise<Artifact>;
  code(artifact: Artifact, path?: string): string;
  manifest(artifact: Artifact): Promise<SlugManifest>;
  /** The same directories, as after a restart. */
  reopen(): Promise<Builder>;
  dispose(): Promise<void>;
}

interface BuilderWorldOptions {
  readonly uid?: number;
  readonly more?: Partial<PlatformBuilderOptions>;
  /** Platform -> the image that its apps are built on; absent: none. */
  readonly bases?: ReadonlyMap<string, string>;
  /** Where its home is made; absent: where temporary files are. */
  readonly parent?: string;
}

/** Without languages, those that come with the program. */
export async function builderWorld(
  languages: readonly Language[] = LANGUAGES,
  options: BuilderWorldOptions = {},
): Promise<BuilderWorld> {
  const home = await mkdtemp(join(options.parent ?? tmpdir(), 'builder-'));
  await chmod(home, 0o711);
  const sandbox = new PlainSandbox(options.uid === undefined ? {} : { uid: options.uid });
  const artifacts = new LocalArtifacts(join(home, 'slugs'));
  const open = () =>
    createPlatformBuilder({
      languages,
      platformFiles: PLATFORM_FILES,
      artifacts,
      cache: join(home, 'cache'),
      toolchains: join(home, 'toolchains'),
      sandbox,
      buildTimeoutMs: 120_000,
      logger: SILENT,
      ...(options.bases !== undefined && { bases: { names: options.bases, directory: join(home, 'bases'), home } }),
      ...options.more,
    });
  const builder = await open().catch(async (error: unknown) => {
    await rm(home, { recursive: true, force: true });
    throw error;
  });
  const lines: string[] = [];
  let deploys = 0;
  return {
    home,
    artifacts,
    builder,
    sandbox,
    lines,
    build(request, signal = new AbortController().signal) {
      deploys += 1;
      lines.length = 0;
      const defaults = { app: 'shop', deployId: deploys.toString(16).padStart(24, '0'), platform: 'fake', env: {} };
      return builder.build({ ...defaults, ...request }, (line) => lines.push(line), signal);
    },
    code: (artifact, path = '') => join(home, 'slugs', artifact.id, 'code', path),
    manifest: async (artifact) =>
      JSON.parse(await readFile(join(home, 'slugs', artifact.id, 'slug.json'), 'utf8')) as SlugManifest,
    reopen: open,
    dispose: () => rm(home, { recursive: true, force: true }),
  };
}
