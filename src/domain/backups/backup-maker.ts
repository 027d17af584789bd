/** Makes backups, by itself when one is due and whenever somebody asks, one at a time, and notes how that went. */
import type { Logger } from '../../lib/logger.ts';
import { repeatedly } from '../../lib/repeatedly.ts';
import type { ArtifactStore } from '../artifacts/artifact-store.ts';
import { PlatformError, toPlatformError } from '../errors.ts';
import type { Store } from '../store.ts';
import { BACKUP_STATE_KEY, type BackupState, backupStateIn, dueAtMs } from './backup-state.ts';
import type { Backup, BackupContents, BackupSource, BackupStore, CopiedState } from './backup-store.ts';

interface BackupMakerDeps {
  readonly store: Pick<Store, keyof CopiedState | 'setting' | 'app'>;
  readonly artifacts: Pick<ArtifactStore, 'open'>;
  /** Null: none are made. */
  readonly backupStore: BackupStore | null;
  readonly settings: { readonly backupEveryMs: number };
  readonly logger: Logger;
  readonly now: () => Date;
}

const LOOK_MS = 60_000;

export class BackupMaker {
  readonly #deps: BackupMakerDeps;
  readonly #closed = new AbortController();
  #running: Promise<Backup> | null = null;
  #stop: (() => Promise<void>) | null = null;

  constructor(deps: BackupMakerDeps) {
    this.#deps = deps;
  }

  start(): void {
    const { backupStore, settings, logger } = this.#deps;
    if (backupStore === null || settings.backupEveryMs === 0) return;
    this.#stop ??= repeatedly(LOOK_MS, async () => {
      if (!(await this.isDue().catch(() => false))) return;
      await this.make(backupStore).catch((error: unknown) => logger.warn({ err: error }, 'a backup could not be made'));
    });
  }

  async close(): Promise<void> {
    this.#closed.abort();
    await this.#stop?.();
    await this.#running?.catch(() => undefined);
  }

  async isDue(): Promise<boolean> {
    const { store, settings, now } = this.#deps;
    return now().getTime() >= dueAtMs(await backupStateIn(store), settings.backupEveryMs, now());
  }

  /** Who asks while one is being made gets that one. Throws PlatformError, and has noted it. */
  make(backupStore: BackupStore): Promise<Backup> {
    this.#running ??= this.#make(backupStore).finally(() => {
      this.#running = null;
    });
    return this.#running;
  }

  async #make(backupStore: BackupStore): Promise<Backup> {
    const at = this.#deps.now();
    const triedAt = at.toISOString();
    try {
      const backup = await backupStore.make(this.#source, at, this.#closed.signal);
      await this.#note(() => ({ triedAt, succeededAt: triedAt, problem: '' }));
      return backup;
    } catch (error) {
      // One that is cut off by the end of the server is made by the next.
      if (this.#closed.signal.aborted) throw error;
      const { message: problem } = toPlatformError(error);
      await this.#note(({ succeededAt }) => ({ triedAt, succeededAt, problem }));
      throw error;
    }
  }

  readonly #source: BackupSource = {
    contents: (copied) => this.#contents(copied ?? this.#deps.store),
    settled: async (copied, contents) => (copied === null ? contents : this.#settled(copied, contents)),
  };

  async #contents(state: CopiedState): Promise<BackupContents> {
    const { artifacts: kept } = this.#deps;
    const apps = (await state.apps()).filter(({ removing }) => !removing);
    const [artifacts, needed] = [new Set<string>(), new Set<string>()];
    for (const { name, release } of apps) {
      const serving = release === null ? null : await state.release(name, release);
      const artifact = serving === null ? null : await kept.open(serving.artifact);
      if (artifact === null) continue;
      artifacts.add(artifact.id);
      const { binds, base } = artifact.manifest;
      for (const path of [...binds, ...(base === undefined ? [] : [base.root])]) needed.add(path);
    }
    const volumes = (await state.volumes()).map(({ app, name }) => `${app}/${name}`);
    return { artifacts: [...artifacts], needed: [...needed], apps: apps.map(({ name }) => name), volumes };
  }

  /** Apps that were removed meanwhile are being removed in the copy: the first start with it takes away what is left of them. */
  async #settled(copied: CopiedState, before: BackupContents): Promise<BackupContents> {
    const { store } = this.#deps;
    const gone: string[] = [];
    for (const { name, createdAt } of await copied.apps()) {
      const app = await store.app(name);
      // Another one may have its name by now.
      if (app === null || app.removing || app.createdAt !== createdAt) gone.push(name);
    }
    await copied.transact(async (tx) => {
      for (const name of gone) await tx.updateApp(name, { removing: true });
    });
    const contents = await this.#contents(copied);
    const left = new Set(contents.artifacts);
    const lost = before.artifacts.find((id) => !left.has(id) && !gone.includes(id.split('/')[0] ?? ''));
    if (lost === undefined) return contents;
    throw new PlatformError('unavailable', `The backup failed: the code ${lost} was replaced and removed meanwhile.`, {
      hint: 'Make it again: tancho server backup',
    });
  }

  async #note(next: (before: BackupState) => BackupState): Promise<void> {
    await this.#deps.store.transact(async (tx) =>
      tx.setSetting(BACKUP_STATE_KEY, JSON.stringify(next(await backupStateIn(tx)))),
    );
  }
}
