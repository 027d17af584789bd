/** The database of an instance: closed to everybody but the instance's role and the provider. */
import type { InstanceRow } from './catalog.ts';
import { type PostgresServer, type Query, quoted } from './server.ts';

/**
 * Nobody can connect until it is closed to PUBLIC. It stays the provider's own, as an owner could lift the limit of
 * connections; the instance's role owns the schema and may create others.
 */
export async function ensureDatabase(
  server: PostgresServer,
  query: Query,
  { database, owner }: InstanceRow,
  connections: number,
): Promise<void> {
  const name = quoted(database);
  const [found] = await query('SELECT 1 FROM pg_database WHERE datname = $1', [database]);
  if (found === undefined) {
    await query(`CREATE DATABASE ${name} TEMPLATE template0 ALLOW_CONNECTIONS false CONNECTION LIMIT ${connections}`);
  }
  await query(`REVOKE ALL ON DATABASE ${name} FROM PUBLIC`);
  await query(`GRANT CONNECT, TEMPORARY, CREATE ON DATABASE ${name} TO ${quoted(owner)}`);
  await query(`ALTER DATABASE ${name} ALLOW_CONNECTIONS true`);
  await server.in(database, async (there) => {
    await there(`ALTER SCHEMA public OWNER TO ${quoted(owner)}`);
    await there('REVOKE ALL ON SCHEMA public FROM PUBLIC');
    await there(`GRANT ALL ON SCHEMA public TO ${quoted(owner)}`);
  });
}

/**
 * Ends who is connected. Not by DROP ... WITH (FORCE), which fails when a worker of autovacuum is there, whose role nobody is a member of;
 * a plain DROP ends those by itself.
 */
export async function dropDatabase(query: Query, database: string): Promise<void> {
  const [found] = await query('SELECT 1 FROM pg_database WHERE datname = $1', [database]);
  if (found === undefined) return;
  await query(`ALTER DATABASE ${quoted(database)} ALLOW_CONNECTIONS false`);
  await query(
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1 AND backend_type = 'client backend'`,
    [database],
  );
  await query(`DROP DATABASE IF EXISTS ${quoted(database)}`);
}
