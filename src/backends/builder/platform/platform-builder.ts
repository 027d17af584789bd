/**
 * Builder that follows build plans and makes slugs. Owns the cache and the fetched toolchains; what it makes is the artifact store's;
 * knows nothing of releases, units or routes.
 */
import { mkdir, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ArtifactPlace } from '../../../domain/artifacts/artifact-store.ts';
import type { Artifact, Builder, BuildRequest, UnusedBounds } from '../../../domain/deploys/builder.ts';
import { type DiskWriter, DiskWriters } from '../../../domain/disk/disk-writers.ts';
import { isDiskFull } from '../../../domain/errors.ts';
import { Failure } from '../../../domain/failure.ts';
import type { PlatformInfo } from '../../../domain/platforms/platform.ts';
import { KeyedQueue } from '../../../lib/keyed-queue.ts';
import { bestEffort } from '../../../lib/logger.ts';
import type { Logger } from '../../../lib/logger.ts';
import { removeTree } from '../../../lib/remove-tree.ts';
import { isThere } from '../../../lib/is-there.ts';
import { asFailure } from './failures.ts';
import type { BuildInterruption } from './failures.ts';
import { openContext } from './open-context.ts';
import type { PlatformBuilderOptions } from './open-context.ts';
import { firstInstalled, isFetched } from './resolve-tools.ts';
import type { Language } from '../../../build-plan/language.ts';
import { BuildOutput } from './steps/output.ts';
import type { BuilderContext } from './builder-context.ts';

const INFO_MS = 60_000;
const APP = /^[a-z][a-z0-9-]{0,62}$/;
/** Left in a removed cache that slugs still need a part of. */
const REMOVED = 'removed';
/** Its time is that of the last build. */
const USED = 'used';

/** Only one builder may use the directories at a time. */
export async function createPlatformBuilder(options: PlatformBuilderOptions): Promise<Builder> {
  const { logger, writers = new DiskWriters() } = options;
  return new PlatformBuilder(await openContext(options), logger, writers);
}

class PlatformBuilder implements Builder {
  readonly name = 'platform';
  readonly #context: BuilderContext;
  readonly #logger: Logger;
  readonly #writers: DiskWriters;
  readonly #queue = new KeyedQueue();
  #info: { readonly value: Promise<PlatformInfo[]>; readonly at: number } | null = null;

  constructor(context: BuilderContext, logger: Logger, writers: DiskWriters) {
    this.#context = context;
    this.#logger = logger;
    this.#writers = writers;
  }

  async platformNames(): Promise<readonly string[]> {
    return (await this.#context.languages()).map(({ name }) => name);
  }

  platforms(): Promise<PlatformInfo[]> {
    if (this.#info === null || Date.now() - this.#info.at > INFO_MS) {
      const value = this.#describeAll();
      this.#info = { value, at: Date.now() };
      value.catch(() => (this.#info = null));
    }
    return this.#info.value;
  }

  async describe(name: string, definition: string): Promise<PlatformInfo> {
    return this.#describe(await this.#context.written(name, definition));
  }

  async build(request: BuildRequest, line: (text: string) => void, signal: AbortSignal): Promise<Artifact> {
    const output = new BuildOutput(line, secretsOf(request));
    let stopped: BuildInterruption = signal.aborted ? 'cancelled' : null;
    const stop = new AbortController();
    const end = (why: BuildInterruption): void => {
      stopped ??= why;
      stop.abort(new Error(`the build was ended: ${why}`));
    };
    const onAbort = (): void => end('cancelled');
    signal.addEventListener('abort', onAbort, { once: true });
    if (signal.aborted) onAbort();
    const timer = setTimeout(() => end('timeout'), this.#context.timeoutMs);
    try {
      return await this.#queue.run(request.app, () => this.#build(request, output, stop.signal), stop.signal);
    } catch (error) {
      throw asFailure(error, stopped, [...output.tail], this.#context.timeoutMs);
    } finally {
      clearTimeout(timer);
      signal.removeEventListener('abort', onAbort);
    }
  }

  async removeCache(app: string): Promise<void> {
    const cache = join(this.#context.cache, app);
    if (!APP.test(app)) return;
    // An app that runs an image has no cache, but a user whose number is to be given back.
    await this.#queue.run(app, () => this.#emptyCache(app, cache));
  }

  async removeUnused({ since, toolBytes }: UnusedBounds): Promise<string[]> {
    const { toolchains, cache, timeoutMs } = this.#context;
    const bases = await this.#context.bases();
    // Before any build that still goes on.
    const beginning = new Date(Date.now() - timeoutMs);
    const removed = await toolchains.removeUnused(await this.#binds(), since, toolBytes, beginning);
    if (bases !== null) removed.push(...(await bases.removeUnused(await this.#roots(), since)));
    for (const app of await readdir(cache).catch(() => [])) {
      await this.#queue.run(app, async () => {
        const own = join(cache, app);
        if (await isThere(join(own, REMOVED))) await this.#emptyCache(app, own);
        const used = (await stat(join(own, USED)).catch(() => stat(own).catch(() => null)))?.mtime;
        if (used !== undefined && used < since && (await this.#emptyOld(app, own))) removed.push(`cache of ${app}`);
      });
    }
    return removed;
  }

  /** Everything but the layers that slugs still need, and notes. Whether there was something. */
  async #emptyOld(app: string, cache: string): Promise<boolean> {
    const { layers } = this.#context;
    const count = async (): Promise<number> => (await readdir(join(cache, 'layers')).catch(() => [])).length;
    const before = await count();
    await layers.prune(app, await this.#binds(app), 0);
    const rest = (await readdir(cache)).filter((name) => !['layers', USED, REMOVED].includes(name));
    for (const name of rest) await removeTree(join(cache, name));
    return rest.length > 0 || (await count()) < before;
  }

  /** Of the bases that slugs are on. */
  async #roots(): Promise<Set<string>> {
    const { artifacts } = this.#context;
    const opened = await Promise.all((await artifacts.list()).map(({ id }) => artifacts.open(id)));
    return new Set(opened.flatMap((artifact) => artifact?.manifest.base?.root ?? []));
  }

  /** Directories outside their slugs that the slugs of an app, or of all, need. */
  async #binds(app?: string): Promise<Set<string>> {
    const { artifacts } = this.#context;
    const all = await artifacts.list(app);
    const opened = await Promise.all(all.map(({ id }) => artifacts.open(id)));
    return new Set(opened.flatMap((artifact) => artifact?.manifest.binds ?? []));
  }

  /** What the cache has of builds before is not of this one. */
  #writer({ app, deployId }: BuildRequest, artifact: string): DiskWriter {
    const { cache, layers } = this.#context;
    const directories = async (): ReturnType<DiskWriter['directories']> => {
      const { ready, unfinished } = await layers.paths(app);
      return { linked: ready, own: [artifact, join(cache, app, `build-${deployId}`), ...unfinished] };
    };
    return { app, what: 'build', shared: this.#shared(app), directories };
  }

  /** Kept from one build to the next. */
  #shared(app: string): string[] {
    return ['downloads', 'containers'].map((name) => join(this.#context.cache, app, name));
  }

  async #build(request: BuildRequest, output: BuildOutput, signal: AbortSignal): Promise<Artifact> {
    const { artifacts } = this.#context;
    const place = await artifacts.begin(request.app, request.deployId);
    return this.#writers.during(this.#writer(request, place.directory), signal, async (ending) => {
      try {
        return await this.#buildIn(place, request, output, ending);
      } catch (error) {
        await artifacts.remove(place.id);
        // An image build that was ended has left what it was making in its store, where nobody else removes it.
        if (hasNoRoom(ending.aborted ? ending.reason : error)) await removeTree(...this.#shared(request.app));
        throw error;
      }
    });
  }

  async #buildIn(
    place: ArtifactPlace,
    request: BuildRequest,
    output: BuildOutput,
    signal: AbortSignal,
  ): Promise<Artifact> {
    const { layers, cache, sandbox } = this.#context;
    const own = join(cache, request.app);
    await mkdir(own, { recursive: true });
    await sandbox.admit(own, request.app);
    await rm(join(own, REMOVED), { force: true });
    await this.#removeCutOff(request.app);
    await writeFile(join(own, USED), '');
    const { buildSlug } = await import('./build.ts');
    const artifact = await buildSlug(this.#context, request, place, output, signal);
    await bestEffort(this.#logger, 'removing old dependency layers', async () =>
      layers.prune(request.app, await this.#binds(request.app)),
    );
    return artifact;
  }

  /** Layers of builds that were cut off: they would count as written by this one. */
  async #removeCutOff(app: string): Promise<void> {
    const { unfinished } = await this.#context.layers.paths(app);
    if (unfinished.length === 0) return;
    const needed = await this.#binds(app);
    await removeTree(...unfinished.filter((path) => !needed.has(join(path, 'tree'))));
  }

  /** Everything but the layers that slugs still need; those go with the last slug. */
  async #emptyCache(app: string, cache: string): Promise<void> {
    const needed = await this.#binds(app);
    if (![...needed].some((path) => path.startsWith(join(cache, 'layers')))) {
      await removeTree(cache);
      // Nothing of the app is left that its user could own; who removes an app has ended its processes before.
      if ((await this.#context.artifacts.list(app)).length === 0) await this.#context.sandbox.forget(app);
      return;
    }
    await this.#emptyOld(app, cache);
    await writeFile(join(cache, REMOVED), '');
  }

  async #describeAll(): Promise<PlatformInfo[]> {
    const languages = await this.#context.languages();
    return Promise.all(languages.map((language) => this.#describe(language)));
  }

  async #describe({ name, description, tools: needed }: Language): Promise<PlatformInfo> {
    const tools: string[] = [];
    const missing: string[] = [];
    for (const tool of needed) {
      const program = await firstInstalled(this.#context.programs, tool);
      if (program.found) tools.push(`${tool.program} v${program.version}`);
      else if (isFetched(tool)) tools.push(`${tool.program}, fetched when it is needed`);
      else missing.push(program.missing);
    }
    return { name, description, ready: missing.length === 0, tools, missing };
  }
}

/** Whether it has filled the disk, or was ended to make room. */
function hasNoRoom(why: unknown): boolean {
  return isDiskFull(why) || (why instanceof Failure && why.code === 'disk_low');
}

/** Values that must not be printed; the app's own name is no secret even when a variable holds it. */
function secretsOf(request: BuildRequest): string[] {
  const names = request.privateEnv ?? Object.keys(request.env);
  return names.flatMap((name) => request.env[name] ?? []).filter((value) => value !== request.app);
}
