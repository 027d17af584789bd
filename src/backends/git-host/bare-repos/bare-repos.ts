/**
 * Keeps one bare repository per app on this machine and runs git on it. Owns the directory, its configuration and the place of
 * the hooks; what a hook says, who may push and what a push means is decided elsewhere.
 */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { SourceTree } from '../../../domain/deploys/builder.ts';
import type { GitHost } from '../../../domain/deploys/git-host.ts';
import type { KeptPush, PushToKeep } from '../../../domain/deploys/kept-push.ts';
import type { Store } from '../../../domain/store.ts';
import { PlatformError } from '../../../domain/errors.ts';
import { diskUsage } from '../../../lib/disk-usage.ts';
import { KeyedQueue } from '../../../lib/keyed-queue.ts';
import { bestEffort, type Logger } from '../../../lib/logger.ts';
import { importArchive } from './archive/import-archive.ts';
import { checkGit } from './check-git.ts';
import { commitSource, isCommitId } from './commit-source.ts';
import { type Git, mustRunGit, runGit } from './git-command.ts';
import { forgetPush, heldPush, holdPush, movePushed } from './held-push.ts';
import {
  createRepository,
  hasRepository,
  listRepositories,
  prepareLayout,
  removeRepository,
  repositoryPath,
} from './layout.ts';
import { serve, type ServeRequest, type ServiceProcess } from './serve.ts';
import { Writers } from './writers.ts';

interface BareReposOptions {
  /** Absolute; made when missing. */
  readonly root: string;
  /** Text of the pre-receive hook: what makes a push a deploy. */
  readonly preReceive: string;
  readonly logger: Logger;
  /** The git program; found in PATH by default. */
  readonly program?: string;
  /** Bytes one push may send. */
  readonly maxPushBytes?: number;
  /** Bytes on the disk that one repository may have; 0 for no limit. */
  readonly maxRepositoryBytes?: number;
  /** Bytes of memory that taking one push may need. */
  readonly maxMemoryBytes?: number;
  /** Files and directories, and their bytes, that one commit may lay out. */
  readonly maxTreeEntries?: number;
  readonly maxTreeBytes?: number;
  /** Bytes that one archive may have as it comes. */
  readonly maxArchiveBytes?: number;
}

export interface BareRepos extends GitHost {
  /** As GitHost.source; `note` gets lines for the pusher about what is left out. */
  source(app: string, commit: string, quarantine?: string, note?: (line: string) => void): SourceTree;
  /** Starts git's service on the app's repository; throws `unavailable` when git cannot be started. */
  serve(app: string, request: ServeRequest): Promise<ServiceProcess>;
  /** The commit a reference names now, or null. */
  ref(app: string, name: string): Promise<string | null>;
  /** Throws `input.too_large` where the repository is too large, counting the objects of a push that is not accepted yet. */
  demandRoom(app: string): Promise<void>;
  /** After a push to `branch`: what a clone checks out exists, and old objects are packed, in the background. */
  settle(app: string, branch: string): Promise<void>;
  /** Git's version. Throws `unavailable`, in one sentence, when git is missing or too old. */
  checkGit(): Promise<string>;
  /** Resolves when nothing is being packed. */
  idle(): Promise<void>;
  /** Null: what is on this machine is all there is. */
  keepPush(app: string, push: PushToKeep): Promise<KeptPush | null>;
  /** The same for several controls: in the store, and here as a copy of it. */
  sharedBy(store: RepositoryRows): Promise<BareRepos>;
  /** Copies what other controls have stored to this machine, which owns it from now on. Nobody else works with the store meanwhile, or afterwards. */
  keepAll(): Promise<void>;
  /** Ends background work. */
  close(): Promise<void>;
}

export type RepositoryRows = Pick<Store, 'repository' | 'repositories' | 'packPart' | 'transact'>;

const MIB = 1024 * 1024;
const MAX_DIFF_BYTES = 512 * 1024;
const EXTRACT_TIMEOUT_MS = 300_000;
const PACK_TIMEOUT_MS = 600_000;
/** Both a little below the thresholds of the configuration (gc.auto / 256 objects in one directory; 2-3 files a pack). */
const MAX_LOOSE_SAMPLE = 6;
const MAX_PACK_FILES = 90;
const LOOSE_REF = /^([0-9a-f]{40}|[0-9a-f]{64})\n$/;

export async function createBareRepos(options: BareReposOptions): Promise<BareRepos> {
  const { root, preReceive, logger, program = 'git', maxRepositoryBytes = 0 } = options;
  const maxPushBytes = Math.min(options.maxPushBytes ?? 1024 * MIB, maxRepositoryBytes || Infinity);
  const limits = { maxEntries: options.maxTreeEntries ?? 200_000, maxBytes: options.maxTreeBytes ?? 2048 * MIB };
  const archive = { ...limits, maxArchiveBytes: options.maxArchiveBytes ?? 512 * MIB };
  const { maxMemoryBytes = 1024 * MIB } = options;
  const git = await prepareLayout({ root, program, preReceive, maxPushBytes, maxMemoryBytes });
  const writers = new Writers(logger);
  const packing = new Packing(git, { logger, writers });
  const diffs = new KeyedQueue();
  const at = (app: string): string => repositoryPath(root, app);

  async function serveTidily(app: string, request: ServeRequest): Promise<ServiceProcess> {
    if (request.service !== 'git-receive-pack' || request.mode === 'advertise') return serve(git, at(app), request);
    const leave = await writers.enter(at(app));
    try {
      const started = await serve(git, at(app), request);
      const exited = started.exited.finally(() =>
        started.exited.then(
          (code) => leave(code < 0),
          () => leave(true),
        ),
      );
      exited.catch(() => {});
      return { ...started, exited };
    } catch (error) {
      await leave(true);
      throw error;
    }
  }

  async function settle(app: string, branch: string): Promise<void> {
    const head = await readFile(join(at(app), 'HEAD'), 'utf8');
    const current = /^ref: (\S+)\n$/.exec(head)?.[1];
    if (current !== branch && (current === undefined || (await readRef(git, at(app), current)) === null)) {
      await mustRunGit(git, [`--git-dir=${at(app)}`, 'symbolic-ref', 'HEAD', branch]);
    }
    if (await isScattered(at(app))) packing.start(app, at(app));
  }

  async function demandRoom(app: string): Promise<void> {
    if (maxRepositoryBytes === 0) return;
    const held = (await diskUsage(at(app))) ?? 0;
    if (held <= maxRepositoryBytes) return;
    // Packed, it may hold less.
    packing.start(app, at(app));
    throw repositoryFull(app, held, maxRepositoryBytes);
  }

  /** What the reference names already needs no git. */
  async function finish(app: string): Promise<boolean> {
    const held = await heldPush(at(app));
    if (held === null || (await readRef(git, at(app), held.ref)) === held.to) return true;
    const hasMoved = await writers.during(at(app), () => movePushed(git, at(app), held));
    if (hasMoved) await settle(app, held.ref);
    return hasMoved;
  }

  let shared: BareRepos | null = null;
  const repos: BareRepos = {
    name: 'bare-repos',
    create: (app) => createRepository(git, root, app),
    remove: async (app) => {
      await packing.idle(app);
      await removeRepository(root, app);
    },
    exists: (app) => hasRepository(root, app),
    list: () => listRepositories(root),
    source: (app, commit, quarantine, note = () => {}) =>
      commitSource(git, { repository: at(app), commit, quarantine, limits, timeoutMs: EXTRACT_TIMEOUT_MS, note }),
    demandRoom,
    async importArchive(app, upload) {
      await demandRoom(app);
      const imported = await writers.during(at(app), () => importArchive(git, at(app), upload, archive));
      if (await isScattered(at(app))) packing.start(app, at(app));
      return imported;
    },
    // Some differences take long to find: however often they are asked for, an app has one process at it.
    diff: (app, from, to) => diffs.run(app, () => diff(git, at(app), from, to)),
    serve: serveTidily,
    ref: (app, name) => readRef(git, at(app), name),
    settle,
    holdPush: (app, push) => holdPush(at(app), push),
    async heldPushes() {
      const found = await Promise.all(
        (await listRepositories(root)).map(async (app) => ({ app, held: await heldPush(at(app)) })),
      );
      return found.flatMap(({ app, held }) => (held === null ? [] : [{ app, ...held }]));
    },
    async finishPush(app, how) {
      const isDone = how === 'forget' || (await finish(app));
      await forgetPush(at(app));
      return isDone;
    },
    checkGit: () => checkGit(git),
    keepPush: async () => null,
    async sharedBy(store) {
      const { shareRepos } = await import('./in-store/shared-repos.ts');
      shared ??= shareRepos({ local: repos, git, at, writers, store, logger });
      return shared;
    },
    keepAll: async () => {},
    idle: () => packing.idle(),
    async close() {
      await shared?.close();
      await packing.close();
    },
  };
  return repos;
}

function repositoryFull(app: string, held: number, most: number): PlatformError {
  const mebibytes = (bytes: number): number => Math.ceil(bytes / MIB);
  return new PlatformError(
    'input.too_large',
    `The repository of ${app} would hold ${mebibytes(held)} MiB, and may hold ${mebibytes(most)} MiB (repositories.max-size).`,
    {
      hint: 'Large files belong into a volume: push a history without them to a new app, or ask the operator for a higher limit (TANCHO_REPOSITORIES_MAX_SIZE).',
      details: { heldBytes: held, maxBytes: most },
    },
  );
}

/** The file of a loose reference when there is one (a process start costs more than the rest of a small push), else git. */
async function readRef(git: Git, repository: string, name: string): Promise<string | null> {
  if (!/^refs\/[A-Za-z0-9._/-]+$/.test(name) || name.includes('..')) return null;
  const text = await readFile(join(repository, name), 'utf8').catch(() => '');
  const loose = LOOSE_REF.exec(text)?.[1];
  if (loose !== undefined) return loose;
  const { code, stdout } = await runGit(git, [`--git-dir=${repository}`, 'rev-parse', '--verify', '--quiet', name]);
  return code === 0 ? stdout.toString().trim() : null;
}

async function diff(git: Git, repository: string, from: string, to: string): Promise<string> {
  if (!isCommitId(from) || !isCommitId(to)) return '';
  const flags = ['--no-color', '--no-ext-diff', '--no-textconv', '--no-renames'];
  const result = await runGit(git, [`--git-dir=${repository}`, 'diff', ...flags, from, to, '--'], {
    maxBytes: MAX_DIFF_BYTES,
    isBounded: true,
  });
  if (result.truncated) return `${result.stdout.toString()}\n(the diff is longer; cut here)\n`;
  return result.code === 0 ? result.stdout.toString() : '';
}

/** Whether it may be time to pack; looked at here because asking git costs a process, and most pushes need none. */
async function isScattered(repository: string): Promise<boolean> {
  const loose = await readdir(join(repository, 'objects', '17')).catch(() => []);
  const packs = await readdir(join(repository, 'objects', 'pack')).catch(() => []);
  return loose.length > MAX_LOOSE_SAMPLE || packs.length > MAX_PACK_FILES;
}

/** `git gc --auto`, one repository at a time, never in the way of a push. */
class Packing {
  readonly #git: Git;
  readonly #logger: Logger;
  readonly #writers: Writers;
  readonly #queue = new KeyedQueue();
  readonly #running = new Map<string, Promise<void>>();
  readonly #closing = new AbortController();

  constructor(git: Git, { logger, writers }: { logger: Logger; writers: Writers }) {
    this.#git = git;
    this.#logger = logger;
    this.#writers = writers;
  }

  start(app: string, repository: string): void {
    if (this.#running.has(app) || this.#closing.signal.aborted) return;
    const options = { timeoutMs: PACK_TIMEOUT_MS, signal: this.#closing.signal };
    const gc = [`--git-dir=${repository}`, 'gc', '--auto', '--quiet'];
    const task = this.#queue.run('gc', () =>
      this.#writers.during(repository, async () => {
        if ((await runGit(this.#git, gc, options)).code < 0) throw new Error('git gc was killed');
      }),
    );
    const done = bestEffort(this.#logger, `packing the repository of ${app}`, async () => {
      await task.catch((error: unknown) => {
        if (!this.#closing.signal.aborted) throw error;
      });
    }).finally(() => this.#running.delete(app));
    this.#running.set(app, done);
  }

  async idle(app?: string): Promise<void> {
    await (app === undefined ? Promise.all(this.#running.values()) : this.#running.get(app));
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await this.idle();
  }
}
