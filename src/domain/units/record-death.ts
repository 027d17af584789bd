/** Records in the store that a unit has died, or is taken for dead: its end with its last words, and that it serves no more. */
import { randomHex } from '../../lib/ids.ts';
import { OWN_EVENT } from '../audit/events.ts';
import type { Store } from '../store.ts';
import { announceDeath } from './announce-death.ts';
import type { Engines } from './engines.ts';
import { DOWN } from './note-down.ts';
import { privateValues } from './private-values.ts';
import type { UnitExited } from './provisioner.ts';
import { isRouted } from './routed.ts';
import { type Unit, type UnitExit, unitName } from './unit.ts';

export const LAST_LINES = 50;
const MAX_DETAIL = 500;

interface DeathDeps {
  readonly store: Store;
  readonly provisioner: Pick<Engines, 'lastLines'>;
  readonly now: () => Date;
}

interface Death {
  /** Why it was ended, where it was for what it holds on the disk. */
  readonly outgrown: string | null;
  /** Somebody starts it at this moment. */
  readonly isStartsConcern: boolean;
}

/** Resolves with the unit, now in state `error`, when it had served; else with null. */
export async function recordDeath(
  { store, provisioner, now }: DeathDeps,
  { id, code, signal, outOfMemory }: UnitExited,
  { outgrown, isStartsConcern }: Death,
): Promise<Unit | null> {
  const known = await store.unit(id);
  if (known === null || known.state === 'stopped') return null;
  const release = await store.release(known.app, known.release);
  const lines = (await provisioner.lastLines(id, LAST_LINES)).map(privateValues(release?.env ?? []));
  const why = outgrown === null ? {} : ({ reason: outgrown, outgrown: true } as const);
  const lastExit = { at: now().toISOString(), code, signal, outOfMemory, lastLines: lines, ...why };
  return store.transact(async (tx) => {
    const unit = await tx.unit(id);
    if (unit === null || unit.state === 'stopped') return null;
    // A start sees to the end of what is to listen; what does not listen had been watched for long enough by then.
    const hadServed = unit.state === 'started' && !(isStartsConcern && isRouted(release, unit.process));
    // Why it was ended says more than how.
    if (unit.state === 'error' && unit.lastExit?.reason !== undefined) return null;
    const change = hadServed ? { ...DOWN, exits: unit.exits + 1, lastExit } : { lastExit };
    await tx.updateUnit(id, change);
    if (!hadServed) return null;
    const dead = { ...unit, ...change };
    await announceDeath(tx, dead, lastExit);
    return dead;
  });
}

interface GivenUp extends Pick<UnitExit, 'outgrown'> {
  readonly reason: string;
  readonly isWanted: () => boolean;
}

/** Resolves with the unit, now in state `error`; null when it does not serve. */
export async function recordGivenUp(
  { store, provisioner, now }: DeathDeps,
  id: string,
  { reason, isWanted, ...why }: GivenUp,
): Promise<Unit | null> {
  const known = await store.unit(id);
  if (known === null || !isWanted()) return null;
  const release = await store.release(known.app, known.release);
  const lastLines = (await provisioner.lastLines(id, LAST_LINES)).map(privateValues(release?.env ?? []));
  const at = now().toISOString();
  const lastExit = { at, code: null, signal: null, outOfMemory: false, reason, lastLines, ...why };
  return store.transact(async (tx) => {
    const unit = await tx.unit(id);
    if (unit?.state !== 'started') return null;
    const change = { ...DOWN, exits: unit.exits + 1, lastExit };
    await tx.updateUnit(id, change);
    const target = `app:${unit.app}`;
    const detail = `${unit.process} ${unitName(unit)}: ${reason}`.slice(0, MAX_DETAIL);
    const about = { ...OWN_EVENT, action: 'unit.replace', target, detail };
    await tx.insertEvent({ id: randomHex(24), at, endedAt: at, ...about });
    await announceDeath(tx, { ...unit, ...change }, lastExit);
    return { ...unit, ...change };
  });
}
