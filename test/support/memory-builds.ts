/** A builder and a git host in memory. What a commit holds is a recipe: what a build of it prints, makes, or fails with. */
import type { MemoryArtifacts } from '../../src/backends/artifact-store/memory/memory-artifacts.ts';
import type { HealthCheck, Hooks } from '../../src/domain/apps/app.ts';
import { Failure, type FailureCause } from '../../src/domain/failure.ts';
import type { Artifact, Builder, BuildRequest, SourceTree } from '../../src/domain/deploys/builder.ts';
import type { ImageSource, PulledImage, PullRequest, UnpackedImage } from '../../src/domain/deploys/image-source.ts';
import type { ArchiveUpload, GitHost, HeldPush, ImportedArchive } from '../../src/domain/deploys/git-host.ts';
import { PlatformError } from '../../src/domain/errors.ts';
import { randomHex } from '../../src/lib/ids.ts';
import { AUTO_PLATFORM, type PlatformInfo } from '../../src/domain/platforms/platform.ts';

export const PLATFORM_NAME = 'any';

export interface Recipe {
  /** Process name -> command of the memory provisioner. */
  readonly processes?: Readonly<Record<string, string>>;
  readonly settings?: Artifact['settings'];
  readonly healthCheck?: HealthCheck;
  readonly hooks?: Partial<Hooks>;
  readonly volumes?: Artifact['volumes'];
  readonly bindingNames?: Artifact['bindingNames'];
  readonly maintenancePage?: string;
  readonly variables?: Artifact['variables'];
  /** Printed by the build. */
  readonly lines?: readonly string[];
  /** The build fails with it. */
  readonly failure?: FailureCause;
}

class RecipeSource implements SourceTree {
  readonly recipe: Recipe;

  constructor(recipe: Recipe) {
    this.recipe = recipe;
  }

  extract(): Promise<void> {
    return Promise.resolve();
  }
}

export class MemoryBuilder implements Builder {
  readonly name = 'memory';
  readonly caches = new Set<string>();
  /** What was asked for last. */
  lastRequest: BuildRequest | null = null;
  readonly #artifacts: MemoryArtifacts;

  constructor(artifacts: MemoryArtifacts) {
    this.#artifacts = artifacts;
  }

  platformNames(): Promise<readonly string[]> {
    return Promise.resolve([PLATFORM_NAME]);
  }

  platforms(): Promise<PlatformInfo[]> {
    return Promise.resolve([{ name: PLATFORM_NAME, description: '', ready: true, tools: [], missing: [] }]);
  }

  /** The definition is the description. */
  describe(name: string, definition: string): Promise<PlatformInfo> {
    const wrong = new PlatformError('platform.invalid_definition', `${name}.yaml line 1: it is wrong.`);
    if (definition.startsWith('wrong')) return Promise.reject(wrong);
    return Promise.resolve({ name, description: definition, ready: true, tools: [], missing: [] });
  }

  async build(request: BuildRequest, line: (text: string) => void, signal: AbortSignal): Promise<Artifact> {
    const { recipe } = request.source as RecipeSource;
    this.caches.add(request.app);
    this.lastRequest = request;
    for (const text of recipe.lines ?? ['built']) line(text);
    await new Promise((resolve) => setImmediate(resolve));
    if (signal.aborted) throw new Failure('cancelled', 'The build was cancelled.');
    if (recipe.failure !== undefined) {
      throw new Failure(recipe.failure, 'The build failed.', { lines: recipe.lines ?? [] });
    }
    const id = `${request.app}/${request.deployId}`;
    this.#artifacts.kept.set(id, { app: request.app });
    return {
      id,
      platform: request.platform === AUTO_PLATFORM ? PLATFORM_NAME : request.platform,
      processes: recipe.processes ?? { web: 'serve' },
      ...(recipe.settings !== undefined && { settings: recipe.settings }),
      ...(recipe.bindingNames !== undefined && { bindingNames: recipe.bindingNames }),
      ...(recipe.maintenancePage !== undefined && { maintenancePage: recipe.maintenancePage }),
      ...(recipe.variables !== undefined && { variables: recipe.variables }),
      ...(recipe.volumes !== undefined && { volumes: recipe.volumes }),
      healthCheck: recipe.healthCheck ?? null,
      hooks: { release: [], restartBefore: [], restartAfter: [], ...recipe.hooks },
    };
  }

  removeCache(app: string): Promise<void> {
    this.caches.delete(app);
    return Promise.resolve();
  }

  removeUnused(): Promise<string[]> {
    return Promise.resolve([]);
  }
}

/** Knows the images it was given, by their complete names. What it makes lies beside what is built. */
export class MemoryImages implements ImageSource {
  readonly images = new Map<string, Recipe & { readonly digest: string }>();
  /** The digest of each artifact. */
  readonly pulled = new Map<string, string>();
  readonly #artifacts: MemoryArtifacts;

  constructor(artifacts: MemoryArtifacts) {
    this.#artifacts = artifacts;
  }

  /** What is built here begins with no image. */
  copy(): Promise<string> {
    return Promise.reject(new Failure('pull_failed', 'There are no registries in memory.'));
  }

  unpack(): Promise<UnpackedImage> {
    return Promise.reject(new Failure('invalid_source', 'Nothing is packed in memory.'));
  }

  async pull(request: PullRequest, line: (text: string) => void, signal: AbortSignal): Promise<PulledImage> {
    const { app, deployId, kept, image } = request;
    const recipe = this.images.get(image.full);
    for (const text of recipe?.lines ?? ['pulled']) line(text);
    await new Promise((resolve) => setImmediate(resolve));
    if (signal.aborted) throw new Failure('cancelled', 'The pull was cancelled.');
    if (recipe === undefined) throw new Failure('pull_failed', 'The registry does not have it.');
    if (recipe.failure !== undefined) throw new Failure(recipe.failure, 'The pull failed.');
    const same = kept.find((id) => this.pulled.get(id) === recipe.digest);
    const id = same ?? `${app}/${deployId}`;
    if (same === undefined) this.#artifacts.kept.set(id, { app });
    this.pulled.set(id, recipe.digest);
    return {
      id,
      processes: recipe.processes ?? { web: 'serve' },
      ...(recipe.settings !== undefined && { settings: recipe.settings }),
      healthCheck: recipe.healthCheck ?? null,
      hooks: { release: [], restartBefore: [], restartAfter: [] },
      image: `${image.full}@${recipe.digest}`,
      isNew: same === undefined,
    };
  }
}

export class MemoryRepositories implements GitHost {
  readonly name = 'memory';
  /** Of what came as an archive, by commit. */
  readonly messages = new Map<string, string>();
  /** What each app's branch names. */
  readonly branches = new Map<string, string>();
  readonly #repositories = new Map<string, Map<string, Recipe>>();
  readonly #held = new Map<string, HeldPush>();

  create(app: string): Promise<void> {
    if (!this.#repositories.has(app)) this.#repositories.set(app, new Map());
    return Promise.resolve();
  }

  remove(app: string): Promise<void> {
    this.#repositories.delete(app);
    this.branches.delete(app);
    this.#held.delete(app);
    return Promise.resolve();
  }

  exists(app: string): Promise<boolean> {
    return Promise.resolve(this.#repositories.has(app));
  }

  list(): Promise<string[]> {
    return Promise.resolve([...this.#repositories.keys()]);
  }

  /** What a push would bring; the repository must be there. */
  commit(app: string, id: string, recipe: Recipe): void {
    const repository = this.#repositories.get(app);
    if (repository === undefined) throw new Error(`there is no repository of ${app}`);
    repository.set(id, recipe);
  }

  /** An archive here is the recipe itself, as JSON. */
  async importArchive(app: string, { bytes, message, signal }: ArchiveUpload): Promise<ImportedArchive> {
    const chunks: Uint8Array[] = [];
    for await (const chunk of bytes) chunks.push(chunk);
    signal.throwIfAborted();
    const text = Buffer.concat(chunks).toString();
    if (!text.startsWith('{')) throw new PlatformError('deploy.invalid_source', 'The archive is damaged.');
    const commit = randomHex(40);
    this.messages.set(commit, message());
    this.commit(app, commit, JSON.parse(text) as Recipe);
    return { commit, files: 1, bytes: text.length, notes: [] };
  }

  source(app: string, commit: string): SourceTree {
    return new RecipeSource(this.#repositories.get(app)?.get(commit) ?? { failure: 'no_platform' });
  }

  diff(): Promise<string> {
    return Promise.resolve('');
  }

  holdPush(app: string, { deploy, ref, from, to }: HeldPush): Promise<void> {
    this.#held.set(app, { deploy, ref, from, to });
    return Promise.resolve();
  }

  heldPushes(): Promise<({ readonly app: string } & HeldPush)[]> {
    return Promise.resolve([...this.#held].map(([app, push]) => ({ app, ...push })));
  }

  finishPush(app: string, how: 'move' | 'forget'): Promise<boolean> {
    const held = this.#held.get(app);
    if (held !== undefined && how === 'move') this.branches.set(app, held.to);
    this.#held.delete(app);
    return Promise.resolve(true);
  }
}
