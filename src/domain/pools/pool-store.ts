import type { Placement } from './placement.ts';
import type { Pool } from './pool.ts';

/** What must be remembered about pools; the default pool is none of them. Readers answer null for what is missing. */
export interface PoolReader {
  pool(name: string): Promise<Pool | null>;
  /** Sorted by name. */
  pools(): Promise<Pool[]>;
}

export interface PoolWriter {
  /** Throws PlatformError `pool.name_taken`, `team.not_found`. */
  insertPool(pool: Pool): Promise<void>;
  deletePool(name: string): Promise<void>;
  /** A public one has no teams of its own. Throws PlatformError `pool.not_found`. */
  setPoolPublic(name: string, isPublic: boolean): Promise<void>;
  /** Throws PlatformError `pool.not_found`. */
  setPoolPlacement(name: string, placement: Placement | null): Promise<void>;
  /** In place of those before. Throws PlatformError `pool.not_found`, `team.not_found`. */
  setPoolTeams(name: string, teams: readonly string[]): Promise<void>;
}
