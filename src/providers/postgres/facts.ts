import type { ProviderFact, ProviderStatus } from '../contract.ts';
import { type InstanceRow, textOf } from './catalog.ts';
import { postgresPlan } from './plans.ts';
import type { Query } from './server.ts';

export async function instanceFacts(query: Query, { id, database, plan, state }: InstanceRow): Promise<ProviderFact[]> {
  const [row] = await query(
    `SELECT pg_size_pretty(pg_database_size(d.oid)) AS size, current_setting('server_version') AS version,
       (SELECT count(*) FROM pg_stat_activity a WHERE a.datid = d.oid AND a.backend_type = 'client backend')::text AS connections,
       (SELECT count(*) FROM public.bindings b WHERE b.instance = $2)::text AS bindings
     FROM pg_database d WHERE d.datname = $1`,
    [database, id],
  );
  const facts: ProviderFact[] = [
    { label: 'State', value: state },
    { label: 'Plan', value: plan },
    { label: 'Database', value: database },
  ];
  if (row === undefined) return facts;
  return [
    ...facts,
    { label: 'Size', value: textOf(row, 'size') },
    { label: 'Connections', value: `${textOf(row, 'connections')} of ${postgresPlan(plan).connections}` },
    { label: 'Bound apps', value: textOf(row, 'bindings') },
    { label: 'Version', value: `PostgreSQL ${textOf(row, 'version')}` },
  ];
}

/** Up: PostgreSQL answers, and the database is there and takes connections. */
export async function instanceStatus(query: Query, { database, state }: InstanceRow): Promise<ProviderStatus> {
  if (state !== 'ready') return state === 'creating' ? 'pending' : 'down';
  const [row] = await query('SELECT datallowconn AS open FROM pg_database WHERE datname = $1', [database]);
  return row?.['open'] === true ? 'up' : 'down';
}
