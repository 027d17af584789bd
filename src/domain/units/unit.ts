/** A unit: one running process of an app. States and their transitions are one table (specification section 3). */
import { PlatformError } from '../errors.ts';
import type { App } from '../apps/app.ts';

/** The process type whose units receive the requests for the app's names; for others see routed.ts. */
export const ROUTED_PROCESS = 'web';

export const UNIT_STATES = ['pending', 'starting', 'started', 'error', 'stopped'] as const;
export type UnitState = (typeof UNIT_STATES)[number];

/**
 * `pending`: wanted, not yet running. `error`: it died or was never ready, a new attempt is due.
 * A unit that is `stopped` is on its way out. Any state may also end by the unit's removal. The store refuses everything else.
 */
export const UNIT_TRANSITIONS: Readonly<Record<UnitState, readonly UnitState[]>> = {
  pending: ['starting', 'error', 'stopped'],
  starting: ['started', 'error', 'stopped'],
  started: ['error', 'stopped'],
  error: ['starting', 'stopped'],
  stopped: [],
};

/** For the store's writer. Throws PlatformError `internal`: whoever asks for it has not looked at the unit. */
export function checkTransition(from: UnitState, to: UnitState): void {
  if (from === to || UNIT_TRANSITIONS[from].includes(to)) return;
  throw new PlatformError('internal', `A unit cannot change from ${from} to ${to}.`);
}

export interface Address {
  readonly host: string;
  readonly port: number;
}

export interface UnitExit {
  /** ISO 8601 UTC. */
  readonly at: string;
  /** Exit code, null when killed by a signal or unknown. */
  readonly code: number | null;
  readonly signal: string | null;
  readonly outOfMemory: boolean;
  /** Why the platform ended it; absent when it ended by itself. */
  readonly reason?: string;
  /** It was ended for what it holds on the disk, not because it did not answer. */
  readonly outgrown?: true;
  /** The last lines the unit printed, oldest first, at most 50. */
  readonly lastLines: readonly string[];
}

/** For people, after the name of the unit: `exited with code 3`. */
export function describeExit(exit: Pick<UnitExit, 'code' | 'signal' | 'outOfMemory' | 'reason' | 'outgrown'>): string {
  if (exit.outgrown === true) return `held too much on the disk (${exit.reason ?? ''}) and was ended`;
  if (exit.reason !== undefined) return `did not answer any more (${exit.reason}) and was ended`;
  if (exit.outOfMemory) return 'was killed: it used more memory than it may';
  if (exit.signal !== null) return `was ended by ${exit.signal}`;
  return exit.code === null ? 'ended' : `exited with code ${exit.code}`;
}

export interface Unit {
  /** 12 hexadecimal digits, unique for ever. */
  readonly id: string;
  readonly app: string;
  /** Lowest free number of the app at creation; the published name is `<app>/<index>`. */
  readonly index: number;
  readonly process: string;
  readonly release: number;
  readonly rollout: string;
  readonly state: UnitState;
  /** Where it answers; null for processes that are not routed and before it is ready. */
  readonly address: Address | null;
  /** The provisioner's own note to find the unit again after a restart of control; opaque to the domain. */
  readonly handle: string | null;
  /** How often it has died since it was created. */
  readonly exits: number;
  readonly lastExit: UnitExit | null;
  readonly createdAt: string;
}

/** A death is not forgotten at once: what dies again and again serves in between. */
const RECENT_MS = 60_000;

export function wasWell({ state, lastExit }: Pick<Unit, 'state' | 'lastExit'>, now: Date): boolean {
  return state === 'started' && (lastExit === null || now.getTime() - Date.parse(lastExit.at) > RECENT_MS);
}

/** Published name (specification section 2, Unit: `<appname>/<index>`). */
export function unitName(unit: Pick<Unit, 'app' | 'index'>): string {
  return `${unit.app}/${unit.index}`;
}

/** Those of the rollout that serves; none before the first deploy. */
export function servingUnits<T extends Pick<Unit, 'rollout'>>(app: Pick<App, 'rollout'>, units: readonly T[]): T[] {
  return units.filter((unit) => unit.rollout === app.rollout);
}

/** The app-level state, derived: `dead` when the app should run and nothing serves (specification section 3). */
export function appState(
  units: readonly Pick<Unit, 'state'>[],
  desired: 'running' | 'stopped',
  deployed: boolean,
): string {
  if (!deployed) return 'created';
  if (units.some((unit) => unit.state === 'started')) return 'started';
  if (desired === 'stopped') return 'stopped';
  return units.some((unit) => unit.state === 'starting' || unit.state === 'pending') ? 'starting' : 'dead';
}
