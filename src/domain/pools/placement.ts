/** Where units run: on which engine, and where in it. A pool says it, a release keeps what its pool said. Rules only. */
import type { App } from '../apps/app.ts';
import type { PoolReader } from './pool-store.ts';
import { DEFAULT_POOL } from './pool.ts';

export interface Placement {
  /** Name of one of this server's engines. */
  readonly engine: string;
  /** As the engine means them, see Provisioner.poolOptions. */
  readonly options: Readonly<Record<string, string>>;
}

/** Where the units of the next release of an app run; null: on this server's own engine, anywhere. */
export async function placementFor(store: Pick<PoolReader, 'pool'>, app: Pick<App, 'pool'>): Promise<Placement | null> {
  const pool = app.pool === DEFAULT_POOL.name ? null : await store.pool(app.pool);
  return pool?.placement ?? null;
}

export function isSamePlacement(one: Placement | null, other: Placement | null): boolean {
  return facts(one) === facts(other);
}

function facts(placement: Placement | null): string {
  if (placement === null) return '';
  const options = Object.entries(placement.options).sort(([a], [b]) => (a < b ? -1 : 1));
  return JSON.stringify([placement.engine, options]);
}
