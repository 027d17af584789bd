/** Takes an app away with everything it left. Begun once, it is carried on after a crash until every trace is gone. */
import type { Logger } from '../../lib/logger.ts';
import type { ArtifactStore } from '../artifacts/artifact-store.ts';
import type { ImageRegistry } from '../artifacts/image-registry.ts';
import { withdrawAll } from '../artifacts/published-artifacts.ts';
import type { Builder } from '../deploys/builder.ts';
import type { GitHost } from '../deploys/git-host.ts';
import type { LogStore } from '../logs/log-store.ts';
import type { DrainDeliveries } from '../drains/deliveries.ts';
import { removeDrainsOf } from '../drains/removal.ts';
import type { Settings } from '../settings.ts';
import type { Orphans } from '../services/orphans.ts';
import type { Store, StoreWriter } from '../store.ts';
import type { Router } from '../routes/router.ts';
import type { Routes } from '../routes/routes.ts';
import type { Units } from '../units/units.ts';
import { removeVolumesOf } from '../volumes/removal.ts';
import type { VolumeHost } from '../volumes/volume-host.ts';

export interface Removal {
  /** Resolves when the app and all that belongs to it is gone. Idempotent; safe to repeat after any interruption. */
  remove(app: string): Promise<void>;
}

interface RemovalDeps {
  readonly store: Store;
  readonly units: Units;
  readonly routes: Routes;
  readonly router: Router;
  readonly volumeHost: VolumeHost;
  readonly artifacts: ArtifactStore;
  readonly imageRegistry: ImageRegistry | null;
  readonly builder: Builder;
  readonly gitHost: GitHost;
  readonly logStore: LogStore;
  readonly deliveries: Pick<DrainDeliveries, 'changed'>;
  readonly orphans: Orphans;
  /** Resolves when none of the app goes on any more. */
  readonly endDeploys: (app: string) => Promise<void>;
  readonly settings: Settings;
  readonly logger: Logger;
}

export function createRemoval(deps: RemovalDeps): Removal {
  const { store, units, routes, router, volumeHost, artifacts, builder, gitHost, logStore, orphans, endDeploys } = deps;
  const { settings } = deps;
  return {
    async remove(app) {
      await store.transact(async (tx) => {
        await takeBackAddress(tx, app);
        await unbindAll(tx, app);
        await unlinkAll(tx, app);
        await tx.updateApp(app, { removing: true });
      });
      await endDeploys(app);
      // Of all apps: one that it was swapped with has its own address again.
      await routes.publish();
      const all = await store.units(app);
      const ids = all.map((unit) => unit.id);
      await router.drained(ids, settings.drainTimeoutMs);
      await Promise.all(all.map((unit) => units.retire(unit)));
      // Before what the builder keeps: with that the number of the app's user is given back.
      await removeVolumesOf({ store, host: volumeHost }, app);
      await withdrawAll(deps, app);
      for (const { id } of await artifacts.list(app)) await artifacts.remove(id);
      await builder.removeCache(app);
      await gitHost.remove(app);
      await removeDrainsOf(deps, app);
      await logStore.removeApp(app);
      await store.transact(async (tx) => {
        if ((await tx.app(app))?.removing === true) {
          await tx.deleteWebhooksOf('app', app);
          await tx.deleteApp(app);
        }
      });
      // The providers undo its bindings in the background: one that hangs keeps no app alive.
      if ((await store.bindingSummaries({ app })).length > 0) orphans.wake();
    },
  };
}

/** From here on its bindings are the providers' to undo. */
async function unbindAll(tx: StoreWriter, app: string): Promise<void> {
  for (const { id } of await tx.bindingSummaries({ app })) await tx.updateBinding(id, { state: 'unbinding' });
}

/** Nobody reaches it any more, nor whoever gets its name after it. */
async function unlinkAll(tx: StoreWriter, app: string): Promise<void> {
  for (const { name, links } of await tx.apps()) {
    if (links.includes(app)) await tx.updateApp(name, { links: links.filter((link) => link !== app) });
  }
  await tx.updateApp(app, { links: [] });
}

/** The app that it is swapped with answers at its own names again. */
async function takeBackAddress(tx: StoreWriter, name: string): Promise<void> {
  const app = await tx.app(name);
  const partner = app?.swappedWith ?? null;
  if (app === null || partner === null) return;
  const other = await tx.app(partner);
  await tx.updateApp(name, { swappedWith: null, cname: other?.cname ?? [] });
  if (other !== null) await tx.updateApp(partner, { swappedWith: null, cname: app.cname });
}
