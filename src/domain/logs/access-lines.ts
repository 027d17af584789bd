/** Brings the lines of requests from the router into the logs of their apps, a batch at a time, while any app asks for them. */
import { bestEffort, type Logger } from '../../lib/logger.ts';
import { repeatedly } from '../../lib/repeatedly.ts';
import type { AccessEntry, Router } from '../routes/router.ts';
import type { Routes } from '../routes/routes.ts';
import type { Store } from '../store.ts';
import type { LogEntry } from './entry.ts';
import type { Journal } from './journal.ts';
import { privateValues } from '../units/private-values.ts';

/** As they are found in logs. */
export const ROUTER_SOURCE = 'router';

const EVERY_MS = 1_000;

export class AccessLines {
  readonly #deps: AccessLinesDeps;
  #stop: (() => Promise<void>) | null = null;

  constructor(deps: AccessLinesDeps) {
    this.#deps = deps;
  }

  start(): void {
    this.#stop ??= repeatedly(EVERY_MS, () => this.collect());
  }

  async close(): Promise<void> {
    await this.#stop?.();
  }

  /** Never rejects: lines that cannot be had or kept are lost. */
  async collect(): Promise<void> {
    const { router, routes, logger } = this.#deps;
    if (!routes.isLogging) return;
    await bestEffort(logger, 'collecting the lines of requests', async () => {
      const byApp = Map.groupBy(await router.takeAccessLog(), ({ app }) => app);
      for (const [app, entries] of byApp) await this.#keep(app, entries);
    });
  }

  async #keep(name: string, entries: readonly AccessEntry[]): Promise<void> {
    const { store, journal } = this.#deps;
    const app = await store.app(name);
    if (app === null || app.removing) return;
    // Paths may hold what is secret.
    const release = app.release === null ? null : await store.release(name, app.release);
    await journal.append(
      entries.map((entry) => entryOf(name, entry)),
      privateValues(release?.env ?? []),
    );
  }
}

interface AccessLinesDeps {
  readonly store: Pick<Store, 'app' | 'release'>;
  readonly router: Pick<Router, 'takeAccessLog'>;
  readonly routes: Pick<Routes, 'isLogging'>;
  readonly journal: Pick<Journal, 'append'>;
  readonly logger: Logger;
}

function entryOf(app: string, { atMs, line }: AccessEntry): LogEntry {
  const at = new Date(atMs).toISOString();
  return { seq: 0, at, app, source: ROUTER_SOURCE, unit: 'edge', unitId: '', release: 0, message: line };
}
