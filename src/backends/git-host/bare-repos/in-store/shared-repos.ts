/**
 * Repositories that several controls share: rows and packs in the store, of which the bare repository on this machine is a copy, updated
 * before it is used. What a push brings is in the store before the push is judged; its references move there in the transaction that
 * accepts it, and here afterwards.
 */
import type { KeptPush, PushToKeep } from '../../../../domain/deploys/kept-push.ts';
import type { PackRecord, RepositoryRecord } from '../../../../domain/deploys/repository-store.ts';
import { PlatformError } from '../../../../domain/errors.ts';
import { randomHex } from '../../../../lib/ids.ts';
import { KeyedQueue } from '../../../../lib/keyed-queue.ts';
import { bestEffort, type Logger } from '../../../../lib/logger.ts';
import type { BareRepos, RepositoryRows } from '../bare-repos.ts';
import type { Git } from '../git-command.ts';
import type { Writers } from '../writers.ts';
import { type CacheState, forgetState, readState, writeState } from './cache-state.ts';
import { Landings } from './landings.ts';
import { localHead, localRefs, localShallow, takeRefs } from './local-refs.ts';
import { fetchPack, inScratch, PackGone, packOfPush, packOfTips, storePack } from './pack-files.ts';
import { afterPush, afterUploads, isUpload } from './shared-refs.ts';

interface SharedReposOptions {
  readonly local: BareRepos;
  readonly git: Git;
  readonly at: (app: string) => string;
  readonly writers: Writers;
  readonly store: RepositoryRows;
  readonly logger: Logger;
}

const FETCHES = 5;
/** More are made one. */
const MAX_PACKS = 50;
/** How long git may take to move its own references after a push was accepted; after that the copy is updated without waiting for it. */
const LANDING_MS = 30_000;

export function shareRepos(options: SharedReposOptions): BareRepos {
  const { local } = options;
  const shared = new SharedRepos(options);
  const repos: BareRepos = {
    name: `${local.name}, shared`,
    create: (app) => shared.create(app),
    remove: (app) => shared.remove(app),
    exists: async (app) => (await options.store.repository(app)) !== null,
    list: () => shared.list(),
    source(app, commit, quarantine, note) {
      const tree = local.source(app, commit, quarantine, note);
      if (quarantine !== undefined) return tree;
      return { extract: (directory, signal) => shared.fresh(app).then(() => tree.extract(directory, signal)) };
    },
    async diff(app, from, to) {
      await shared.fresh(app);
      return local.diff(app, from, to);
    },
    async importArchive(app, upload) {
      await shared.fresh(app);
      const imported = await local.importArchive(app, upload);
      await shared.publishUploads(app);
      await shared.joinPacks(app);
      return imported;
    },
    // The store has it.
    holdPush: async () => {},
    heldPushes: () => local.heldPushes(),
    finishPush: (app, how) => local.finishPush(app, how),
    keepPush: (app, push) => shared.keepPush(app, push),
    async serve(app, request) {
      await shared.fresh(app);
      return local.serve(app, request);
    },
    ref: async (app, name) => (await options.store.repository(app))?.refs[name] ?? null,
    demandRoom: (app) => local.demandRoom(app),
    async settle(app, branch) {
      await local.settle(app, branch);
      await shared.joinPacks(app);
    },
    checkGit: () => local.checkGit(),
    sharedBy: async () => repos,
    keepAll: () => shared.keepAll(),
    async idle() {
      await shared.idle();
      await local.idle();
    },
    close: () => shared.idle(),
  };
  return repos;
}

class SharedRepos {
  readonly #options: SharedReposOptions;
  readonly #queue = new KeyedQueue();
  readonly #landings = new Landings(LANDING_MS);
  readonly #joining = new Map<string, Promise<void>>();

  constructor(options: SharedReposOptions) {
    this.#options = options;
  }

  async create(app: string): Promise<void> {
    const { local, store, at } = this.#options;
    if ((await store.repository(app)) !== null) return;
    await this.#queue.run(app, async () => {
      // Of an app that had the name before.
      if ((await store.repository(app)) === null && (await readState(at(app))) !== null) await local.remove(app);
      await local.create(app);
      await this.#enrol(app);
    });
  }

  async remove(app: string): Promise<void> {
    const { local, store } = this.#options;
    await store.transact((tx) => tx.deleteRepository(app));
    await this.#joining.get(app);
    await this.#queue.run(app, () => local.remove(app));
  }

  /** Copies of what is gone go, too. */
  async list(): Promise<string[]> {
    const { local, store, at, logger } = this.#options;
    const copies = await local.list();
    const all = await store.repositories();
    const there = new Set(all);
    for (const app of copies.filter((name) => !there.has(name))) {
      await bestEffort(logger, 'removing the copy of a repository', () =>
        this.#queue.run(app, async () => {
          if ((await readState(at(app))) !== null && (await store.repository(app)) === null) await local.remove(app);
        }),
      );
    }
    return all;
  }

  /** Brings the copy up to date. */
  async fresh(app: string): Promise<void> {
    const { local, store, at } = this.#options;
    const record = await store.repository(app);
    if (record === null || (isCopyOf(await readState(at(app)), record) && (await local.exists(app)))) return;
    await this.#queue.run(app, () => this.#fetchUp(app));
  }

  /** A crash in the middle is harmless: what is no copy is made one again. */
  async keepAll(): Promise<void> {
    const { at } = this.#options;
    const apps = await this.list();
    for (const app of apps) await this.fresh(app);
    for (const app of apps) await forgetState(at(app));
  }

  /** Puts what a push brings into the store; who judges it then moves its references, or has it forgotten. */
  async keepPush(app: string, { updates, quarantine, branch }: PushToKeep): Promise<KeptPush> {
    const { store, git, at } = this.#options;
    const known = await readState(at(app));
    if (known === null)
      throw new PlatformError('unavailable', 'The repository is being made.', { hint: 'Push again.' });
    const pack =
      quarantine === ''
        ? null
        : await this.#stored(app, (directory) => packOfPush(git, at(app), quarantine, directory));
    let leave = (): void => {};
    let version = 0;
    const move: KeptPush['move'] = async (tx) => {
      leave();
      leave = this.#landings.enter(app);
      const next = afterPush(await tx.repository(app), known, { updates, pack, head: branch });
      await tx.putRepository(next);
      ({ version } = next);
    };
    return {
      move,
      accept: () => store.transact(move),
      end: async (how) => {
        try {
          if (how === 'refused') await this.#forget(app, pack);
          else if (how === 'moved') await this.#landed(app, { known, version, pack });
        } finally {
          leave();
        }
      },
    };
  }

  async publishUploads(app: string): Promise<void> {
    const { store, git, at } = this.#options;
    await this.#queue.run(app, async () => {
      await this.#fetchUp(app);
      const [record, known] = [await store.repository(app), await readState(at(app))];
      if (record === null || known === null) return;
      const all = Object.entries(await localRefs(git, at(app)));
      const refs = Object.fromEntries(all.filter(([ref]) => isUpload(ref) && !Object.hasOwn(record.refs, ref)));
      const [tips, without] = [Object.values(refs), Object.values(record.refs)];
      const pack = await this.#stored(app, (directory) => packOfTips(git, at(app), { tips, without }, directory));
      await store.transact(async (tx) =>
        tx.putRepository(afterUploads(await tx.repository(app), known, { refs, pack })),
      );
      await this.#fetchUp(app, pack);
    });
  }

  /** In the background, where there are many. */
  async joinPacks(app: string): Promise<void> {
    const { store, logger } = this.#options;
    const { packs = [] } = (await store.repository(app)) ?? {};
    if (packs.length <= MAX_PACKS || this.#joining.has(app)) return;
    const work = bestEffort(logger, `joining the packs of ${app}`, () => this.#queue.run(app, () => this.#join(app)));
    this.#joining.set(
      app,
      work.finally(() => this.#joining.delete(app)),
    );
  }

  async idle(): Promise<void> {
    await Promise.all(this.#joining.values());
  }

  /** What this machine has, where the store has nothing yet. */
  async #enrol(app: string): Promise<void> {
    const { store, git, at } = this.#options;
    const refs = await localRefs(git, at(app));
    const [head, shallow] = [await localHead(at(app)), await localShallow(at(app))];
    const tips = Object.values(refs);
    const pack = await this.#stored(app, (directory) => packOfTips(git, at(app), { tips, without: [] }, directory));
    const packs = pack === null ? [] : [pack];
    const record = { app, id: randomHex(12), version: 1, head, refs, packs, shallow };
    const isFirst = await store.transact(async (tx) => {
      if ((await tx.repository(app)) !== null) return false;
      await tx.putRepository(record);
      return true;
    });
    if (isFirst) await writeState(at(app), stateOf(record));
  }

  /** `here`: a pack whose objects are here, though the copy does not say so. */
  async #fetchUp(app: string, here: PackRecord | null = null): Promise<void> {
    const { local, store, git, at, writers } = this.#options;
    for (let tries = 1; ; tries++) {
      await this.#landings.over(app);
      const record = await store.repository(app);
      const state = await readState(at(app));
      if (record === null || (isCopyOf(state, record) && (await local.exists(app)))) return;
      if (state !== null && state.id !== record.id) await local.remove(app);
      await local.create(app);
      const had = new Set([...(state?.id === record.id ? state.packs : []), ...(here === null ? [] : [here.id])]);
      try {
        await writers.during(at(app), async () => {
          for (const pack of record.packs) {
            if (!had.has(pack.id)) await fetchPack(git, at(app), store, { app, pack });
          }
          await takeRefs(git, at(app), record);
        });
        return await writeState(at(app), stateOf(record));
      } catch (error) {
        if (!(error instanceof PackGone) || tries === FETCHES) throw error;
      }
    }
  }

  /** git has moved its references: the copy is that of the version that the push made, if it was that of the one before. */
  async #landed(
    app: string,
    {
      known,
      version,
      pack,
    }: { readonly known: CacheState; readonly version: number; readonly pack: PackRecord | null },
  ): Promise<void> {
    const { store, at } = this.#options;
    const shallow = await localShallow(at(app));
    const changed = await store.transact(async (tx) => {
      const record = await tx.repository(app);
      if (record?.id !== known.id || record.version !== version || record.shallow.join() === shallow.join()) return 0;
      await tx.putRepository({ ...record, shallow, version: version + 1 });
      return 1;
    });
    const state = await readState(at(app));
    if (state?.id !== known.id || state.version !== version - 1) return;
    const packs = [...state.packs, ...(pack === null ? [] : [pack.id])];
    await writeState(at(app), { ...state, version: version + changed, packs });
  }

  async #forget(app: string, pack: PackRecord | null): Promise<void> {
    if (pack === null) return;
    await this.#options.store.transact(async (tx) => {
      const record = await tx.repository(app);
      // The answer to its move may have been lost.
      if (record?.packs.some(({ id }) => id === pack.id) !== true) await tx.deletePack(app, pack.id);
    });
  }

  async #join(app: string): Promise<void> {
    const { store, git, at } = this.#options;
    await this.#fetchUp(app);
    const record = await store.repository(app);
    if (record === null || !isCopyOf(await readState(at(app)), record)) return;
    const tips = Object.values(record.refs);
    const pack = await this.#stored(app, (directory) => packOfTips(git, at(app), { tips, without: [] }, directory));
    const next = { ...record, version: record.version + 1, packs: pack === null ? [] : [pack] };
    const isDone = await store.transact(async (tx) => {
      const now = await tx.repository(app);
      if (now?.id !== record.id || now.version !== record.version) return false;
      await tx.putRepository(next);
      for (const { id } of record.packs) await tx.deletePack(app, id);
      return true;
    });
    if (isDone) await writeState(at(app), stateOf(next));
    else await this.#forget(app, pack);
  }

  async #stored(app: string, make: (directory: string) => Promise<string | null>): Promise<PackRecord | null> {
    const { git, store } = this.#options;
    return inScratch(git, async (directory) => {
      const path = await make(directory);
      return path === null ? null : storePack(store, app, path, () => new Date());
    });
  }
}

function isCopyOf(state: CacheState | null, { id, version }: RepositoryRecord): boolean {
  return state?.id === id && state.version === version;
}

function stateOf({ id, version, packs }: RepositoryRecord): CacheState {
  return { id, version, packs: packs.map((pack) => pack.id) };
}
