import type { App, EnvVar, Release } from './app.ts';
import type { Rollout } from '../rollouts/rollout.ts';
import type { Unit } from '../units/unit.ts';

interface NamedArtifact {
  readonly app: string;
  readonly release: number;
  readonly artifact: string;
  /** As in Release. */
  readonly published: string;
}

/** What must be remembered about apps. Readers answer null for what is missing. */
export interface AppReader {
  app(name: string): Promise<App | null>;
  /** Sorted by name. `teams` undefined: all; otherwise those that share a team with the list. */
  apps(teams?: readonly string[]): Promise<App[]>;
  /** Sorted by name. Values come decrypted. */
  env(app: string): Promise<EnvVar[]>;
  release(app: string, number: number): Promise<Release | null>;
  /** Newest first. */
  releases(app: string, limit: number): Promise<Release[]>;
  /** The artifact of every release of these apps, in no order. */
  artifacts(apps: readonly string[]): Promise<NamedArtifact[]>;
  /** Sorted by index. */
  units(app: string): Promise<Unit[]>;
  /** Of all apps, sorted by app and index. */
  allUnits(): Promise<Unit[]>;
  /**
   * Those of each app that has some, sorted by index; a list whose units are as they were the last time is the same object. `teams` undefined: of all
   * apps; otherwise of those that share a team with the list.
   */
  unitsByApp(teams?: readonly string[]): Promise<ReadonlyMap<string, readonly Unit[]>>;
  unit(id: string): Promise<Unit | null>;
  rollout(id: string): Promise<Rollout | null>;
  unfinishedRollouts(): Promise<Rollout[]>;
}

export interface AppWriter {
  /** Throws PlatformError `app.name_taken`. */
  insertApp(app: App): Promise<void>;
  updateApp(name: string, change: Partial<Omit<App, 'name' | 'createdAt'>>): Promise<void>;
  /** With its env, releases, units and rollouts; its deploys stay, marked removed. */
  deleteApp(name: string): Promise<void>;
  setEnv(app: string, vars: readonly EnvVar[]): Promise<void>;
  unsetEnv(app: string, names: readonly string[]): Promise<void>;
  /** The number must be the successor of the highest; throws PlatformError `app.busy` when somebody was faster. */
  insertRelease(release: Release): Promise<void>;
  deleteRelease(app: string, number: number): Promise<void>;
  insertUnit(unit: Unit): Promise<void>;
  updateUnit(id: string, change: Partial<Omit<Unit, 'id' | 'app' | 'index' | 'createdAt'>>): Promise<void>;
  deleteUnit(id: string): Promise<void>;
  insertRollout(rollout: Rollout): Promise<void>;
  updateRollout(
    id: string,
    change: Partial<Pick<Rollout, 'state' | 'cause' | 'finishedAt' | 'failuresBefore' | 'failedRequests'>>,
  ): Promise<void>;
  /** Finished ones but the `keep` newest of each app and what serves; at most `batch`. How many these were. */
  deleteOldRollouts(bounds: { readonly keep: number; readonly batch: number }): Promise<number>;
}
