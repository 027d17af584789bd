/**
 * What would grow for ever is kept within bounds: events, the logs of deploys, finished rollouts, releases with their code. In small steps, so that
 * nobody waits for it; an app that somebody works on is left for the next time.
 */
import { bestEffort } from '../lib/logger.ts';
import type { AuditLog } from './audit/audit-log.ts';
import { type Forgotten, FORGET, forgetDetail } from './audit/log-rows.ts';
import { OWN_EVENT } from './audit/events.ts';
import { randomHex } from '../lib/ids.ts';
import type { Builder } from './deploys/builder.ts';
import type { DeployOrder } from './deploys/deploy-order.ts';
import { removeStrays } from './artifacts/published-artifacts.ts';
import { type PruneDeps, pruneReleases } from './deploys/prune.ts';
import { isPlatformError } from './errors.ts';
import type { Leases } from './leases.ts';
import type { Settings } from './settings.ts';
import type { StoreWriter } from './store.ts';

const EVENTS_AT_ONCE = 500;
/** Of all events, so that what is refused never takes the place of what was done. */
const REFUSED_PART = 0.2;
const LOGS_AT_ONCE = 20;
const ROLLOUTS_AT_ONCE = 200;
/** Nobody reads a finished one; the newest are left to whoever looks into the database. */
const KEPT_ROLLOUTS = 20;
const DAY_MS = 86_400_000;

interface RetentionDeps extends PruneDeps {
  /** What is removed is in it before. */
  readonly auditLog: Pick<AuditLog, 'sequence'>;
  readonly builder: Builder;
  readonly leases: Leases;
  readonly order: Pick<DeployOrder, 'isOtherAtWork'>;
  readonly settings: Settings;
  readonly now: () => Date;
}

interface Retention {
  /** Once over everything. Resolves early when the signal fires; never throws, what fails is logged and tried the next time. */
  run(signal: AbortSignal): Promise<void>;
}

export function createRetention(deps: RetentionDeps): Retention {
  const { store, auditLog, builder, leases, order, settings, logger, now } = deps;
  const { eventDays, events, deployLogsPerApp, deploysPerApp, unusedDays, toolBytes } = settings.retention;

  async function inBatches(batch: number, signal: AbortSignal, remove: () => Promise<number>): Promise<void> {
    while (!signal.aborted) {
      const removed = await remove();
      await new Promise((resolve) => setImmediate(resolve));
      if (removed < batch) return;
    }
  }

  /** What is forgotten is recorded as an event of its own, which distinguishes it from a removal by somebody else. */
  function forget(remove: (tx: StoreWriter) => Promise<Forgotten>): Promise<number> {
    return store.transact(async (tx) => {
      const { events: gone, rows } = await remove(tx);
      if (rows.length === 0) return gone;
      const kept = await tx.firstKeptAuditRow();
      const first = kept ?? Math.max(...rows) + 1;
      await tx.deleteAuditCheckpoints(first);
      const at = now().toISOString();
      const about = { action: FORGET, target: 'events', detail: forgetDetail(first, rows) };
      await tx.insertEvent({ ...OWN_EVENT, ...about, id: randomHex(24), at, endedAt: at });
      return gone;
    });
  }

  /** App by app, for a server has many more deploys than there are to remove. */
  async function forgetDeploys(
    which: 'logged' | 'unnamed',
    keep: number,
    signal: AbortSignal,
    remove: (tx: StoreWriter, ids: readonly string[]) => Promise<void>,
  ): Promise<void> {
    for (const app of await store.appsOfManyDeploys(keep)) {
      if (signal.aborted) return;
      await inBatches(LOGS_AT_ONCE, signal, async () => {
        const ids = await store.oldDeploys(app, { which, keep, limit: LOGS_AT_ONCE });
        if (ids.length > 0) await store.transact((tx) => remove(tx, ids));
        return ids.length;
      });
    }
  }

  async function pruneApps(signal: AbortSignal): Promise<void> {
    for (const { name } of await store.apps()) {
      if (signal.aborted) return;
      // It may be about to use the code of an old release.
      if (await order.isOtherAtWork(name, '')) continue;
      const work = leases.hold(`app:${name}`, { waitMs: 0, holder: 'retention' }, async () => {
        await pruneReleases(deps, name);
        await removeStrays(deps, name);
      });
      await work.catch((error: unknown) => {
        if (!isPlatformError(error, 'app.busy')) throw error;
      });
    }
  }

  /** Of pushes that were cut off; one takes less than a day. */
  async function pruneStrayPacks(signal: AbortSignal): Promise<void> {
    const before = new Date(now().getTime() - DAY_MS).toISOString();
    for (const { app, pack } of await store.strayPacks(before)) {
      if (signal.aborted) return;
      await store.transact(async (tx) => {
        const record = await tx.repository(app);
        if (record?.packs.some(({ id }) => id === pack) !== true) await tx.deletePack(app, pack);
      });
    }
  }

  return {
    async run(signal) {
      const before = new Date(now().getTime() - eventDays * DAY_MS).toISOString();
      const oldEvents = { before, keep: events, batch: EVENTS_AT_ONCE };
      const oldRefusals = { keep: Math.ceil(events * REFUSED_PART), batch: EVENTS_AT_ONCE };
      await bestEffort(logger, 'removing old events', async () => {
        await auditLog.sequence();
        await inBatches(EVENTS_AT_ONCE, signal, () => forget((tx) => tx.deleteOldEvents(oldEvents)));
      });
      await bestEffort(logger, 'removing surplus refusals', () =>
        inBatches(EVENTS_AT_ONCE, signal, () => forget((tx) => tx.deleteOldRefusals(oldRefusals))),
      );
      await bestEffort(logger, 'removing old logs of deploys', () =>
        forgetDeploys('logged', deployLogsPerApp, signal, (tx, ids) => tx.deleteDeployLogs(ids)),
      );
      const oldRollouts = { keep: KEPT_ROLLOUTS, batch: ROLLOUTS_AT_ONCE };
      await bestEffort(logger, 'removing old rollouts', () =>
        inBatches(ROLLOUTS_AT_ONCE, signal, () => store.transact((tx) => tx.deleteOldRollouts(oldRollouts))),
      );
      await bestEffort(logger, 'removing old releases', () => pruneApps(signal));
      await bestEffort(logger, 'removing packs of no repository', () => pruneStrayPacks(signal));
      await bestEffort(logger, 'removing old deploys', () =>
        forgetDeploys('unnamed', deploysPerApp, signal, (tx, ids) => tx.deleteDeploys(ids)),
      );
      await bestEffort(logger, 'removing unused tools and caches', async () => {
        const since = new Date(now().getTime() - unusedDays * DAY_MS);
        const removed = await builder.removeUnused({ since, toolBytes });
        if (removed.length > 0) logger.info({ removed }, 'removed tools and caches that nothing has used for long');
      });
    },
  };
}
