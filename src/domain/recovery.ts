/**
 * What a start of control does before it serves: finds the units again and finishes or undoes everything that a crash
 * interrupted. Afterwards nothing is half-done, and no command to unlock anything is needed.
 */
import { atMost } from '../lib/deadline.ts';
import { bestEffort, type Logger } from '../lib/logger.ts';
import { speedUp } from '../lib/small-start.ts';
import type { App, Release } from './apps/app.ts';
import { findMoved, noteComeback } from './comebacks.ts';
import type { Journal } from './logs/journal.ts';
import type { Engines } from './units/engines.ts';
import { movedUnits, noteMoved } from './units/moved-units.ts';
import { noteDown } from './units/note-down.ts';
import type { Removal } from './apps/removal.ts';
import type { Rollout } from './rollouts/rollout.ts';
import type { Rollouts } from './rollouts/rollouts.ts';
import type { Routes } from './routes/routes.ts';
import type { Supervisor } from './units/supervisor.ts';
import { ReleasesRead } from './units/releases-read.ts';
import type { Unit } from './units/unit.ts';
import type { Units } from './units/units.ts';
import type { ArtifactStore } from './artifacts/artifact-store.ts';
import type { GitHost } from './deploys/git-host.ts';
import type { Deploy } from './deploys/deploy.ts';
import type { DeployOrder } from './deploys/deploy-order.ts';
import { closeInterrupted, isCommitted } from './deploys/interrupted.ts';
import type { Work } from './controls/control-store.ts';
import type { Ownership } from './controls/ownership.ts';
import type { Leases } from './leases.ts';
import type { Collector } from './logs/collector.ts';
import type { Orphans } from './services/orphans.ts';
import type { Store } from './store.ts';
import { finishRemovals } from './volumes/removal.ts';
import type { VolumeHost } from './volumes/volume-host.ts';

export interface RecoveryDeps {
  readonly store: Store;
  readonly provisioner: Engines;
  readonly volumeHost: VolumeHost;
  readonly artifacts: ArtifactStore;
  readonly gitHost: GitHost;
  readonly collector: Collector;
  readonly journal: Journal;
  readonly rollouts: Rollouts;
  readonly removal: Removal;
  readonly routes: Routes;
  readonly supervisor: Supervisor;
  readonly units: Units;
  readonly leases: Leases;
  readonly ownership: Ownership;
  readonly orphans: Orphans;
  readonly order: Pick<DeployOrder, 'changed'>;
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
/** And so long for rollouts that are undone. */
const UNDO_PATIENCE_MS = 5_000;
const STRAY_GRACE_MS = 1_000;
/** What an engine has is waited for so long before its strays are looked for; of one that is away the next start removes them. */
const LISTED_MS = 60_000;
/** A stray of a lost node, or a lease of somebody else, may take a minute. */
const LEAVE_MS = 5_000;
const LEASE_WAIT_MS = 60_000;
/** To look after so many is work, also while there is no client. */
const MANY = 50;

interface Background {
  readonly over: Promise<void>;
  /** Nothing is begun any more; resolves when what was begun has ended, or after seconds: the next start finds whatever is left. */
  leave(): Promise<void>;
}

/**
 * Resolves when the platform may serve. What takes long (removals, strays) goes on after that, in `background`; the output of many units is carried
 * on when goOn() of the collector is called.
 */
export async function recover(deps: RecoveryDeps): Promise<Recovered & { readonly background: Background }> {
  if ((await deps.store.allUnits()).length >= MANY) {
    speedUp();
    deps.collector.hold();
  }
  await finishPushes(deps);
  const work = await deps.ownership.work();
  const { leftover, revivals, ...recovered } = await takeUpWork(deps, work);
  await deps.routes.publish();
  deps.orphans.wake();
  // Of several, others may be building what no release names yet: the healer of slugs looks longer before it removes anything.
  const artifacts = deps.ownership.isAlone ? await deps.artifacts.list() : [];
  const leaving = new AbortController();
  const over = tidy(deps, { leftover, artifacts }, leaving.signal);
  await Promise.race([
    Promise.all(revivals),
    new Promise((resolve) => setTimeout(resolve, REVIVAL_PATIENCE_MS).unref()),
  ]);
  const leave = (): Promise<void> => {
    leaving.abort();
    return atMost(LEAVE_MS, over);
  };
  return { ...recovered, revived: revivals.length, background: { over, leave } };
}

interface TakenUp {
  readonly adopted: number;
  readonly interrupted: number;
  /** Units of rollouts that do not serve. */
  readonly leftover: readonly Unit[];
  readonly revivals: readonly Promise<void>[];
}

/** Finds the units of the work again, all of them where it is null, and finishes or undoes what is unfinished. */
export async function takeUpWork(deps: RecoveryDeps, work: Work | null): Promise<TakenUp> {
  const { store } = deps;
  const isOurs = ({ rollout }: Pick<Unit, 'rollout'>): boolean => work?.rollouts.has(rollout) ?? true;
  const before = (await store.allUnits()).filter(isOurs);
  const running = await deps.provisioner.recover(handlesOf(before));
  const ids = new Set(before.map(({ id }) => id));
  const comebacks = new Map((await deps.provisioner.comebacks(ids)).map((comeback) => [comeback.id, comeback]));
  const unannounced = before.filter(({ id }) => running.has(id) && !comebacks.has(id));
  for (const [id, address] of await movedUnits(deps.provisioner, unannounced)) await noteMoved(store, id, address);
  const releases = new ReleasesRead(store);
  for (const unit of before) {
    const comeback = comebacks.get(unit.id);
    // Nobody knows where it is: it is started as one that was found dead, which it answers at once.
    if (comeback?.address === null && unit.address !== null) running.delete(unit.id);
    await takeUp(deps, unit, () => releases.of(unit), running.has(unit.id));
    if (comeback !== undefined) await noteComeback(deps, unit.id, comeback);
  }
  const deploys = (await store.unfinishedDeploys()).filter(({ id }) => work?.deploys.has(id) ?? true);
  const open = (await store.unfinishedRollouts()).filter(({ id }) => isOurs({ rollout: id }));
  // Units of lost nodes may take a minute to be ended: it goes on while the platform serves.
  await atMost(UNDO_PATIENCE_MS, Promise.all(open.map((rollout) => resume(deps, rollout, deploys))));
  for (const deploy of deploys) {
    await closeInterrupted(deps, deploy);
    deps.order.changed(deploy.app);
  }
  const apps = new Map((await store.apps()).map((app) => [app.name, app]));
  const left = (await store.allUnits()).filter(isOurs);
  const [serving, leftover] = partition(left, (unit) => apps.get(unit.app)?.rollout === unit.rollout);
  const dead = serving.filter((unit) => !(unit.state === 'started' && running.has(unit.id)));
  const revivals = dead.map((unit) => deps.supervisor.revive(unit));
  const interrupted = deploys.filter((deploy) => !isCommitted(deploy)).length;
  return { adopted: running.size, interrupted, leftover, revivals };
}

async function resume({ rollouts, logger }: RecoveryDeps, rollout: Rollout, deploys: readonly Deploy[]): Promise<void> {
  const deploy = deploys.find(({ app, release }) => app === rollout.app && release === rollout.release);
  // One that cannot be finished now stays as it is for the next start; the other apps are not to wait for it.
  await bestEffort(logger, `finishing a rollout of ${rollout.app}`, () =>
    rollouts.resume(rollout, async (tx, { state, failedRequests = 0 }) => {
      if (state === 'done' && deploy !== undefined) await tx.updateDeploy(deploy.id, { failedRequests });
    }),
  );
}

/** What serves and what the branch names do not part: a push that was cut off after its switch is finished here, any other one forgotten. */
async function finishPushes({ store, gitHost, logger }: RecoveryDeps): Promise<void> {
  for (const { app, deploy, ref, to } of await gitHost.heldPushes()) {
    await bestEffort(logger, `finishing a push to ${app}`, async () => {
      // It is given its release by the commit.
      const isCommitted = ((await store.deploy(deploy))?.release ?? null) !== null;
      const isDone = await gitHost.finishPush(app, isCommitted ? 'move' : 'forget');
      if (!isDone) logger.warn({ app, ref, commit: to }, 'the branch of a deploy that serves could not be moved');
    });
  }
}

function handlesOf(units: readonly Unit[]): Map<string, string> {
  return new Map(units.flatMap((unit) => (unit.handle === null ? [] : [[unit.id, unit.handle] as const])));
}

function partition<T>(values: readonly T[], test: (value: T) => boolean): [T[], T[]] {
  return [values.filter(test), values.filter((value) => !test(value))];
}

/** Whatever a unit printed is carried on, that of a dead one too; and a dead one does not pass for one that serves. */
async function takeUp(
  deps: RecoveryDeps,
  unit: Unit,
  releaseOf: () => Promise<Release | null>,
  isRunning: boolean,
): Promise<void> {
  const { store, collector } = deps;
  collector.attach(unit, releaseOf);
  if (!isRunning && unit.state === 'started') await noteDown(store, unit.id);
}

interface Found {
  /** Units of rollouts that do not serve. */
  readonly leftover: readonly Unit[];
  /** The artifacts there were before anything new could be built. */
  readonly artifacts: readonly { readonly id: string; readonly app: string }[];
}

async function tidy(deps: RecoveryDeps, found: Found, signal: AbortSignal): Promise<void> {
  const { store, units, logger } = deps;
  const attempt = async (what: string, work: () => Promise<unknown>): Promise<void> => {
    if (!signal.aborted) await bestEffort(logger, what, work);
  };
  const left = new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
  const disordered: App[] = [];
  for (const app of await store.apps()) if (!(await isInOrder(deps, app))) disordered.push(app);
  // Not sooner, for a long list is much to read, and the start is over by now; and beside what may take minutes: requests go where units are no more.
  const moved = attempt('finding units that have moved', async () => {
    await Promise.race([deps.provisioner.listed?.(), left]);
    if (!signal.aborted) await findMoved(deps);
  });
  for (const app of disordered) await attempt(`putting ${app.name} in order`, () => putInOrder(deps, app));
  for (const unit of found.leftover) await attempt('retiring a unit', () => units.retire(unit));
  await attempt('removing volumes', () => finishRemovals({ store, host: deps.volumeHost }));
  await atMost(LISTED_MS, moved);
  await attempt('removing stray units', () => removeStrayUnits(deps, signal));
  const byApp = Map.groupBy(found.artifacts, (artifact) => artifact.app);
  for (const [app, artifacts] of byApp) {
    await attempt('removing stray slugs', () => removeStraySlugs(deps, app, artifacts));
  }
}

/** False, too, where nobody knows. */
async function isInOrder({ gitHost, logger }: RecoveryDeps, { name, removing }: App): Promise<boolean> {
  let exists = false;
  await bestEffort(logger, `looking after ${name}`, async () => void (exists = await gitHost.exists(name)));
  return !removing && exists;
}

/** With the app's lease, because the doors are open by now. */
async function putInOrder(deps: RecoveryDeps, { name }: App): Promise<void> {
  const { store, gitHost, removal, leases } = deps;
  await leases.hold(`app:${name}`, { waitMs: LEASE_WAIT_MS, holder: 'the start of the platform' }, async () => {
    const app = await store.app(name);
    if (app?.removing === true) await removal.remove(name);
    else if (app !== null) await gitHost.create(name);
  });
}

async function removeStrayUnits(deps: RecoveryDeps, signal: AbortSignal): Promise<void> {
  const { store, provisioner, logger } = deps;
  const seen = await provisioner.list();
  const known = new Set((await store.allUnits()).map(({ id }) => id));
  for (const stray of seen) {
    if (signal.aborted) return;
    if (stray.state === 'unknown' || known.has(stray.id)) continue;
    if ((await store.unit(stray.id)) !== null) continue;
    await bestEffort(logger, 'removing a stray unit', async () => {
      await provisioner.stop(stray.id, STRAY_GRACE_MS);
      await provisioner.remove(stray.id);
    });
  }
}

/** What no release names now will never be named: what is built from here on has other names. */
async function removeStraySlugs(deps: RecoveryDeps, app: string, artifacts: Found['artifacts']): Promise<void> {
  const { store, artifacts: kept, logger } = deps;
  const named = new Set((await store.artifacts([app])).map(({ artifact }) => artifact));
  for (const { id } of artifacts) {
    if (!named.has(id)) await bestEffort(logger, 'removing a stray slug', () => kept.remove(id));
  }
}
