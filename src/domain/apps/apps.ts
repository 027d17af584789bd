/** Use cases of apps (specification 4.1): create, list, info, remove, restart. */
import type { Caller } from '../caller.ts';
import type { App } from './app.ts';
import type { Unit } from './unit.ts';

export interface AppView {
  readonly app: App;
  readonly units: readonly Unit[];
  /** One of the app states of appState(). */
  readonly state: string;
  /** `ssh://git@<host>:<port>/<app>.git` */
  readonly repositoryUrl: string;
  /** Host and port where the app answers, e.g. `shop.localhost:8000`. */
  readonly address: string;
}

export interface NewApp {
  readonly name: unknown;
  readonly platform: unknown;
  /** Optional when the caller belongs to exactly one team. */
  readonly teamOwner?: unknown;
  readonly description?: unknown;
}

/** Where a long operation tells what it does, one line for people at a time. */
export type Say = (line: string) => void;

export interface Apps {
  /** Errors: app.invalid_name, app.name_taken, platform.not_found, team.required, team.ambiguous, team.not_found. */
  create(caller: Caller, input: NewApp): Promise<AppView>;
  /** Sorted by name; only those the caller may see. */
  list(caller: Caller): Promise<AppView[]>;
  info(caller: Caller, name: string): Promise<AppView>;
  remove(caller: Caller, name: string, say: Say): Promise<void>;
  /** New units of the same release, switched without a failed request. Errors: app.not_deployed, unit.failed. */
  restart(caller: Caller, name: string, say: Say): Promise<void>;
}
