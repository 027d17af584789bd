/**
 * What a start of control does before it serves: finds the units again and finishes or undoes everything that a crash
 * interrupted. Afterwards nothing is half-done, and no command to unlock anything is needed.
 */
import { bestEffort, type Logger } from '../lib/logger.ts';
import type { Provisioner } from './apps/provisioner.ts';
import type { Removal } from './apps/removal.ts';
import type { Rollouts } from './apps/rollouts.ts';
import type { Routes } from './apps/routes.ts';
import type { Supervisor } from './apps/supervisor.ts';
import type { Unit } from './apps/unit.ts';
import type { Units } from './apps/units.ts';
import type { Builder } from './deploys/builder.ts';
import type { Deploy } from './deploys/deploy.ts';
import type { GitHost } from './deploys/git-host.ts';
import type { Collector } from './logs/collector.ts';
import type { Store } from './store.ts';

export interface RecoveryDeps {
  readonly store: Store;
  readonly provisioner: Provisioner;
  readonly builder: Builder;
  readonly gitHost: GitHost;
  readonly collector: Collector;
  readonly rollouts: Rollouts;
  readonly removal: Removal;
  readonly routes: Routes;
  readonly supervisor: Supervisor;
  readonly units: Units;
  readonly logger: Logger;
  readonly now: () => Date;
}

export interface Recovered {
  /** Units found running. */
  readonly adopted: number;
  /** Serving units that are started again because they were found dead. */
  readonly revived: number;
  /** Deploys that were cut off and are now recorded as failed. */
  readonly interrupted: number;
}

/** A start waits this long for units that were found dead; slower ones come up while the platform serves. */
const REVIVAL_PATIENCE_MS = 700;

/** Resolves when the platform may serve. What takes long (removals, strays) goes on after that, in `background`. */
export async function recover(deps: RecoveryDeps): Promise<Recovered & { readonly background: Promise<void> }> {
  const { store, rollouts, routes } = deps;
  const before = await store.allUnits();
  const running = await deps.provisioner.recover(handlesOf(before));
  for (const rollout of await store.unfinishedRollouts()) {
    // One that cannot be finished now stays as it is for the next start; the other apps are not to wait for it.
    await bestEffort(deps.logger, `finishing a rollout of ${rollout.app}`, () => rollouts.resume(rollout));
  }
  const interrupted = await closeDeploys(deps);
  const apps = new Map((await store.apps()).map((app) => [app.name, app]));
  const serving = (await store.allUnits()).filter((unit) => apps.get(unit.app)?.rollout === unit.rollout);
  const revivals: Promise<void>[] = [];
  for (const unit of serving) {
    const serves = running.has(unit.id) ? await adopt(deps, unit) : !(await markDead(deps, unit));
    if (!serves) revivals.push(deps.supervisor.revive(unit));
  }
  await routes.publish();
  await Promise.race([
    Promise.all(revivals),
    new Promise((resolve) => setTimeout(resolve, REVIVAL_PATIENCE_MS).unref()),
  ]);
  const background = tidy(deps, new Set(apps.keys()));
  return { adopted: running.size, revived: revivals.length, interrupted, background };
}

function handlesOf(units: readonly Unit[]): Map<string, string> {
  return new Map(units.flatMap((unit) => (unit.handle === null ? [] : [[unit.id, unit.handle] as const])));
}

/** Deploys whose rollout was committed are done; the others were cut off, and their code is thrown away. */
async function closeDeploys(deps: RecoveryDeps): Promise<number> {
  const { store, builder, logger, now } = deps;
  let interrupted = 0;
  for (const deploy of await store.unfinishedDeploys()) {
    if (deploy.state === 'routing' || deploy.state === 'draining') {
      await store.transact((tx) => tx.updateDeploy(deploy.id, { state: 'done', finishedAt: now().toISOString() }));
      continue;
    }
    interrupted++;
    const error = 'The platform was restarted before the new version served.';
    await store.transact(async (tx) => {
      const end: Partial<Deploy> = { state: 'failed', cause: 'interrupted', error, finishedAt: now().toISOString() };
      await tx.updateDeploy(deploy.id, end);
      await tx.appendDeployLog(deploy.id, [` !     Deploy failed (interrupted): ${error}`]);
    });
    const artifact = deploy.artifact;
    if (artifact !== '') await bestEffort(logger, 'removing a slug', () => builder.remove(artifact));
  }
  return interrupted;
}

/** False: it runs, but whether it is ready only a fresh start can tell, because control died while starting it. */
async function adopt(deps: RecoveryDeps, unit: Unit): Promise<boolean> {
  const release = await deps.store.release(unit.app, unit.release);
  if (release === null) return true;
  deps.collector.attach(unit, release);
  return unit.state === 'started';
}

/** True when the unit is to be started again. */
async function markDead(deps: RecoveryDeps, unit: Unit): Promise<boolean> {
  if (unit.state === 'stopped') return false;
  if (unit.state !== 'error') {
    await deps.store.transact((tx) => tx.updateUnit(unit.id, { state: 'error', address: null }));
  }
  return true;
}

async function tidy(deps: RecoveryDeps, apps: ReadonlySet<string>): Promise<void> {
  const { store, provisioner, builder, gitHost, removal, units, logger } = deps;
  for (const app of await store.apps()) {
    if (app.removing) await bestEffort(logger, `removing ${app.name}`, () => removal.remove(app.name));
    else await bestEffort(logger, `the repository of ${app.name}`, () => gitHost.create(app.name));
  }
  const known = new Map((await store.allUnits()).map((unit) => [unit.id, unit]));
  for (const unit of known.values()) {
    if (unit.state === 'stopped') await bestEffort(logger, 'retiring a unit', () => units.retire(unit));
  }
  for (const stray of await provisioner.list()) {
    if (known.has(stray.id) || (await store.unit(stray.id)) !== null) continue;
    await bestEffort(logger, 'removing a stray unit', async () => {
      await provisioner.stop(stray.id, 1_000);
      await provisioner.remove(stray.id);
    });
  }
  for (const artifact of await builder.list()) {
    if (!apps.has(artifact.app)) await bestEffort(logger, 'removing a stray slug', () => builder.remove(artifact.id));
  }
}
