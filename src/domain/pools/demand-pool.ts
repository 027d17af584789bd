import { PlatformError } from '../errors.ts';
import type { PoolReader } from './pool-store.ts';
import { DEFAULT_POOL, mayUsePool, type Pool } from './pool.ts';

export async function demandPool(store: Pick<PoolReader, 'pool'>, name: unknown): Promise<Pool> {
  if (name === DEFAULT_POOL.name) return DEFAULT_POOL;
  const pool = typeof name === 'string' ? await store.pool(name) : null;
  if (pool !== null) return pool;
  throw new PlatformError('pool.not_found', 'pool not found.', { hint: 'List the pools with "tancho pool list".' });
}

/** A pool that the apps of this team may be in. */
export async function demandUsablePool(store: Pick<PoolReader, 'pool'>, name: unknown, team: string): Promise<Pool> {
  const pool = await demandPool(store, name);
  if (mayUsePool(pool, team)) return pool;
  throw new PlatformError('access.denied', `You don't have access to pool ${pool.name}`, {
    hint: `An admin can give the team ${team} access to it.`,
  });
}
