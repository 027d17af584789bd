/** Connections to the PostgreSQL server that the provider stands in front of, as the role that may create databases and roles. */
import pg from 'pg';
import { ProviderError } from '../contract.ts';

const CONNECT_MS = 5_000;
const STATEMENT_MS = 40_000;
const LOCK_MS = 20_000;
const MOST_CONNECTIONS = 6;
/** Nothing that a tenant has put into its own schemas may be called by our statements. */
const SETTINGS = '-c search_path=pg_catalog';

export type ResultRow = Readonly<Record<string, unknown>>;
export type Query = (text: string, values?: readonly unknown[]) => Promise<ResultRow[]>;

export interface PostgresServer {
  /** One session of the named database, for a few statements. */
  in<T>(database: string, work: (query: Query) => Promise<T>): Promise<T>;
  /** A session of the home database that is kept, one piece of work after the other on each. */
  home<T>(work: (query: Query) => Promise<T>): Promise<T>;
  close(): Promise<void>;
}

export function quoted(identifier: string): string {
  return pg.escapeIdentifier(identifier);
}

export function literal(text: string): string {
  return pg.escapeLiteral(text);
}

/** `url` with another database. */
function urlOf(url: string, database: string): string {
  const changed = new URL(url);
  changed.pathname = `/${encodeURIComponent(database)}`;
  return changed.href;
}

export function connectServer(url: string, homeDatabase: string): PostgresServer {
  const settings = (database: string): pg.ClientConfig => ({
    connectionString: urlOf(url, database),
    connectionTimeoutMillis: CONNECT_MS,
    statement_timeout: STATEMENT_MS,
    query_timeout: STATEMENT_MS + CONNECT_MS,
    lock_timeout: LOCK_MS,
    options: SETTINGS,
    application_name: 'tancho-provider',
    keepAlive: true,
  });
  const pool = new pg.Pool({
    ...settings(homeDatabase),
    // Also how long to wait for one of them to be free.
    connectionTimeoutMillis: LOCK_MS,
    max: MOST_CONNECTIONS,
    idleTimeoutMillis: 30_000,
  });
  // Of a connection that nobody uses: the next one who needs one gets another.
  pool.on('error', () => undefined);
  // Of one that is in use: the statement under way fails, and without a listener the process would end as well.
  pool.on('connect', (client) => void client.on('error', () => undefined));
  return {
    in: (database, work) => inSession(settings(database), work),
    async home(work) {
      const client = await pool.connect().catch((error: unknown) => {
        throw translated(error);
      });
      let isBroken = false;
      try {
        return await work(queryOf(client));
      } catch (error) {
        isBroken = !(error instanceof ProviderError) || error.cause !== undefined;
        throw error;
      } finally {
        client.release(isBroken);
      }
    },
    close: () => pool.end(),
  };
}

async function inSession<T>(config: pg.ClientConfig, work: (query: Query) => Promise<T>): Promise<T> {
  const client = new pg.Client(config);
  client.on('error', () => undefined);
  try {
    await client.connect().catch((error: unknown) => {
      throw translated(error);
    });
    return await work(queryOf(client));
  } finally {
    await client.end().catch(() => undefined);
  }
}

function queryOf(client: pg.ClientBase): Query {
  return async (text, values = []) => {
    try {
      return (await client.query<ResultRow>(text, [...values])).rows;
    } catch (error) {
      throw translated(error);
    }
  };
}

/** PostgreSQL's own code of an error ('' when it is none of its own). */
export function sqlState(error: unknown): string {
  const cause = error instanceof ProviderError ? error.cause : error;
  return cause instanceof pg.DatabaseError ? (cause.code ?? '') : '';
}

const PASSING = new Set(['53300', '55P03', '57014', '57P01', '57P02', '57P03', '55006']);

/** No connection, too many of them, or something that passes: the call may be repeated. */
function translated(error: unknown): unknown {
  if (error instanceof ProviderError) return error;
  const isPassing = !(error instanceof pg.DatabaseError) || PASSING.has(error.code ?? '');
  return isPassing ? new ProviderError('unavailable', 'PostgreSQL cannot be reached or is too busy.', error) : error;
}
