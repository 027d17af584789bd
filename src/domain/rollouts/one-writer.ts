/** Volumes that only one unit may have at a time: who has them makes way before the next one starts, which costs an interruption. */
import type { Release } from '../apps/app.ts';
import type { Say } from '../say.ts';
import type { Router } from '../routes/router.ts';
import type { Routes } from '../routes/routes.ts';
import type { Settings } from '../settings.ts';
import type { Store } from '../store.ts';
import { type Unit, unitName } from '../units/unit.ts';
import type { Units } from '../units/units.ts';
import { singles } from '../volumes/release-mounts.ts';
import { mountsOf } from '../volumes/volume.ts';
import type { NumberedPlan } from './rollout-plan.ts';

interface OneWriterDeps {
  readonly store: Store;
  readonly units: Pick<Units, 'makeWay' | 'end'>;
  readonly routes: Pick<Routes, 'publish'>;
  readonly router: Pick<Router, 'drained'>;
  readonly settings: Pick<Settings, 'drainTimeoutMs' | 'stopGraceMs'>;
}

interface Change {
  readonly plan: NumberedPlan;
  /** Those that are about to start. */
  readonly units: readonly Unit[];
  /** Those that serve and do not stay. */
  readonly leaving: readonly Unit[];
}

/** Resolves with those that were ended; whoever does not commit the rollout has them come back. */
export async function makeWay(deps: OneWriterDeps, { plan, units, leaving }: Change): Promise<Unit[]> {
  const { store, routes, router, settings } = deps;
  const single = singles(await store.volumes(plan.app.name), plan.release.mounts);
  const wanted = new Set(units.flatMap(({ process }) => heldBy(plan.release, process, single)));
  if (wanted.size === 0) return [];
  const holders: Unit[] = [];
  const releases = new Map<number, Release | null>();
  for (const unit of leaving) {
    if (!releases.has(unit.release)) releases.set(unit.release, await store.release(unit.app, unit.release));
    const release = releases.get(unit.release) ?? null;
    if (release !== null && heldBy(release, unit.process, single).some((name) => wanted.has(name))) holders.push(unit);
  }
  if (holders.length === 0) return [];
  warn(plan.say, [...wanted], holders, settings.drainTimeoutMs + settings.stopGraceMs);
  // Out of the routes first, so that what it is working on is answered.
  for (const { id } of holders) await deps.units.makeWay(id);
  await routes.publish(plan.app.name);
  await router.drained(
    holders.map(({ id }) => id),
    settings.drainTimeoutMs,
  );
  await Promise.all(holders.map(({ id }) => deps.units.end(id)));
  return holders;
}

function heldBy({ mounts }: Release, process: string, single: ReadonlySet<string>): string[] {
  return mountsOf(mounts, process)
    .map(({ volume }) => volume)
    .filter((name) => single.has(name));
}

function warn(say: Say, volumes: readonly string[], holders: readonly Unit[], mostMs: number): void {
  const who = holders.map((unit) => `${unit.process} ${unitName(unit)}`).join(', ');
  say(` !     Only one unit may have the volume ${volumes.join(', ')}: ${who} is ended before the new one starts.`);
  say(
    `       It has ${Math.ceil(mostMs / 1000)} s at most to answer its requests and to end. Until the new one is ready nobody`,
  );
  say('       answers in its place, and requests fail.');
}
