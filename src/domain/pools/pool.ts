import { PlatformError } from '../errors.ts';
import type { Placement } from './placement.ts';

/** A named group of apps that run in one place, open to all teams or to some. Every app is in one. */
export interface Pool {
  readonly name: string;
  /** Any team's apps may be in it. */
  readonly isPublic: boolean;
  /** Teams whose apps may be in it; sorted. */
  readonly teams: readonly string[];
  /** Where the units of its apps run; null: on this server's own engine. */
  readonly placement: Placement | null;
  readonly createdAt: string;
}

const POOL_NAME = /^[a-z](?:[a-z0-9-]{0,61}[a-z0-9])?$/;

/** There always, and in no store: where apps are unless somebody chooses another one. */
export const DEFAULT_POOL: Pool = {
  name: 'default',
  isPublic: true,
  teams: [],
  placement: null,
  createdAt: '1970-01-01T00:00:00.000Z',
};

export function mayUsePool(pool: Pool, team: string): boolean {
  return pool.isPublic || pool.teams.includes(team);
}

export function checkPoolName(name: unknown): string {
  if (typeof name === 'string' && POOL_NAME.test(name)) return name;
  throw new PlatformError('pool.invalid_name', 'Invalid pool name.', {
    hint: 'Use up to 63 lower-case letters, digits and dashes, starting with a letter.',
  });
}
