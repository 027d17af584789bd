/**
 * What the provider knows, in a database of its own on the same server: it can be killed at any time and started elsewhere.
 * Every row is written before what it describes is made, and removed after that is gone, so that nothing is ever forgotten.
 */
import { newSalt } from '../sealed-passwords.ts';
import { connectServer, type PostgresServer, type Query, quoted, type ResultRow, sqlState } from './server.ts';

export type InstanceState = 'creating' | 'ready' | 'removing';

export interface InstanceRow {
  readonly id: string;
  /** Idempotency key of its creation. */
  readonly key: string;
  /** The platform's own id of it; '' when none was sent. */
  readonly uid: string;
  readonly plan: string;
  readonly database: string;
  /** Role that owns everything in the database. */
  readonly owner: string;
  readonly state: InstanceState;
}

export interface BindingRow {
  readonly app: string;
  readonly key: string;
  readonly uid: string;
  readonly login: string;
  readonly sealed: string;
  readonly state: 'making' | 'ready' | 'removing';
}

const TABLES = `
CREATE TABLE IF NOT EXISTS public.settings (name text PRIMARY KEY, value text NOT NULL);
CREATE TABLE IF NOT EXISTS public.instances (
  id text PRIMARY KEY, key text NOT NULL, uid text NOT NULL, plan text NOT NULL, database text NOT NULL UNIQUE, owner text NOT NULL UNIQUE,
  state text NOT NULL, team text NOT NULL, created_by text NOT NULL, created_at timestamptz NOT NULL DEFAULT now());
CREATE TABLE IF NOT EXISTS public.bindings (
  instance text NOT NULL REFERENCES public.instances ON DELETE CASCADE, app text NOT NULL, key text NOT NULL, uid text NOT NULL,
  login text NOT NULL UNIQUE, sealed text NOT NULL, state text NOT NULL, created_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (instance, app));
CREATE TABLE IF NOT EXISTS public.undone (key text PRIMARY KEY, at timestamptz NOT NULL DEFAULT now());`;

/** Makes the catalog's database when it is missing, closed to every other role. */
export async function openCatalog(url: string, name: string): Promise<{ server: PostgresServer; salt: string }> {
  const first = decodeURIComponent(new URL(url).pathname.slice(1)) || 'postgres';
  const starting = connectServer(url, first);
  try {
    await starting.home(async (query) => {
      await checkPowers(query);
      const [found] = await query('SELECT 1 FROM pg_database WHERE datname = $1', [name]);
      if (found === undefined) await createClosed(query, name);
      await query(`REVOKE ALL ON DATABASE ${quoted(name)} FROM PUBLIC`);
    });
  } finally {
    await starting.close();
  }
  const server = connectServer(url, name);
  try {
    return { server, salt: await server.home(prepareTables) };
  } catch (error) {
    await server.close();
    throw error;
  }
}

async function createClosed(query: Query, name: string): Promise<void> {
  try {
    await query(`CREATE DATABASE ${quoted(name)} TEMPLATE template0`);
  } catch (error) {
    // Two that start at once: 23505 and 42P04 both say that the other was first.
    if (!['42P04', '23505'].includes(sqlState(error))) throw error;
  }
}

async function prepareTables(query: Query): Promise<string> {
  await query('SELECT pg_advisory_lock(0, 0)');
  try {
    await query(TABLES);
    await query(`INSERT INTO public.settings VALUES ('salt', $1) ON CONFLICT DO NOTHING`, [newSalt()]);
    await query(`DELETE FROM public.undone WHERE at < now() - interval '7 days'`);
    const [row] = await query(`SELECT value FROM public.settings WHERE name = 'salt'`);
    return textOf(row, 'value');
  } finally {
    await query('SELECT pg_advisory_unlock(0, 0)');
  }
}

async function checkPowers(query: Query): Promise<void> {
  const [row] = await query(
    `SELECT current_setting('server_version_num')::int AS version, rolsuper AS super, rolcreatedb AND rolcreaterole AS may
     FROM pg_roles WHERE rolname = current_user`,
  );
  const version = Number(row?.['version']);
  if (version < 130_000) throw new Error('PostgreSQL 13 or later is needed.');
  if (row?.['super'] === true) return;
  if (row?.['may'] !== true)
    throw new Error('The role of --url needs CREATEDB and CREATEROLE, or has to be a superuser.');
  // Before, the schema public of a new database belongs to a superuser.
  if (version < 150_000) throw new Error('Before PostgreSQL 15 the role of --url has to be a superuser.');
}

export function textOf(row: ResultRow | undefined, column: string): string {
  const value = row?.[column];
  return typeof value === 'string' ? value : '';
}

export async function findInstance(query: Query, id: string): Promise<InstanceRow | null> {
  const [row] = await query('SELECT id, key, uid, plan, database, owner, state FROM public.instances WHERE id = $1', [
    id,
  ]);
  return (row as InstanceRow | undefined) ?? null;
}

export async function setInstanceState(query: Query, id: string, state: InstanceState): Promise<void> {
  await query('UPDATE public.instances SET state = $2 WHERE id = $1', [id, state]);
}

export async function bindingsOf(query: Query, instance: string): Promise<BindingRow[]> {
  const rows = await query('SELECT app, key, uid, login, sealed, state FROM public.bindings WHERE instance = $1', [
    instance,
  ]);
  return rows as unknown as BindingRow[];
}

/** Remembered for a week: a late twin of a step that was undone is refused. */
export async function rememberUndone(query: Query, key: string): Promise<void> {
  if (key !== '') await query('INSERT INTO public.undone (key) VALUES ($1) ON CONFLICT DO NOTHING', [key]);
}

export async function wasUndone(query: Query, ...keys: readonly string[]): Promise<boolean> {
  const given = keys.filter((key) => key !== '');
  return (await query('SELECT 1 FROM public.undone WHERE key = ANY($1)', [given])).length > 0;
}
