/** Kysely over a pool of PostgreSQL connections. `pg` is loaded here and only when it is needed. */
import { setTimeout as delay } from 'node:timers/promises';
import { PostgresDialect } from 'kysely';
import type { Dialect, PostgresPool, PostgresPoolClient, PostgresQueryResult } from 'kysely';
import type { PoolClient, PoolConfig } from 'pg';
import type { Logger } from '../lib/logger.ts';
import { refuseNul } from './sqlite-value.ts';
import { isAway, TransactionLost } from './sql-error.ts';

export interface PostgresOptions {
  readonly url: string;
  readonly poolSize: number;
  /** How long a connection, and an answer, are waited for; absent: 5 and 20 s. */
  readonly patienceMs?: number;
}

const CONNECT_TIMEOUT_MS = 5_000;
const STATEMENT_TIMEOUT_MS = 15_000;
/** Answers that never come, because the network is gone. */
const QUERY_TIMEOUT_MS = STATEMENT_TIMEOUT_MS + 5_000;
/** A stopped process holds nothing for longer; shorter than its leases, see domain/controls. */
const IDLE_TRANSACTION_TIMEOUT_MS = 4_000;
/** One that is restarted takes connections again after a second or two. */
const RESTART_MS = 4_000;
const AGAIN_MS = 100;
const INT8 = 20;

export async function postgresDialect(options: PostgresOptions, logger: Logger): Promise<Dialect> {
  const { default: pg } = await import('pg');
  const types: PoolConfig['types'] = {
    // Counters and sizes, all far below 2^53.
    getTypeParser: ((oid: number, format: 'text' | 'binary') =>
      oid === INT8 ? Number : pg.types.getTypeParser(oid, format)) as typeof pg.types.getTypeParser,
  };
  const pool = new pg.Pool({
    connectionString: options.url,
    max: options.poolSize,
    connectionTimeoutMillis: options.patienceMs ?? CONNECT_TIMEOUT_MS,
    statement_timeout: STATEMENT_TIMEOUT_MS,
    query_timeout: options.patienceMs ?? QUERY_TIMEOUT_MS,
    idle_in_transaction_session_timeout: IDLE_TRANSACTION_TIMEOUT_MS,
    keepAlive: true,
    application_name: 'tancho',
    types,
  });
  pool.on('error', (error) => logger.warn({ err: error }, 'an idle database connection was lost'));
  const guarded: PostgresPool = {
    connect: waitingForRestarts(async () => guardedClient(await pool.connect())),
    end: () => pool.end(),
  };
  return new PostgresDialect({ pool: guarded });
}

/** While a database that has answered before takes no connections, those who need one wait: nothing of what they ask has been sent. Once it has been away for longer nobody does. */
function waitingForRestarts<T>(connect: () => Promise<T>): () => Promise<T> {
  let hasAnswered = false;
  let awaySince: number | null = null;
  return async () => {
    for (;;) {
      try {
        const connected = await connect();
        [hasAnswered, awaySince] = [true, null];
        return connected;
      } catch (error) {
        awaySince ??= performance.now();
        if (!hasAnswered || !isAway(error) || performance.now() - awaySince > RESTART_MS) throw error;
      }
      await delay(AGAIN_MS * (0.5 + Math.random() / 2));
    }
  };
}

function guardedClient(client: PoolClient): PostgresPoolClient {
  let broken: Error | undefined;
  // The pool listens only while a connection is idle; without a listener its loss would end the process.
  const onError = (error: Error): void => {
    broken = error;
  };
  client.on('error', onError);

  const query = async (sql: string, values: readonly unknown[]): Promise<PostgresQueryResult<unknown>> => {
    for (const value of values) {
      if (typeof value === 'string') refuseNul(value);
    }
    const result = await client.query(sql, [...values]).catch((error: Error) => {
      // What the server itself did not say leaves open what the connection will answer next.
      if (!('severity' in error)) broken = error;
      throw error;
    });
    if (sql === 'commit' && result.command === 'ROLLBACK') {
      throw new TransactionLost('The transaction was rolled back because one of its statements had failed.');
    }
    return {
      command: result.command as 'SELECT',
      rowCount: result.rowCount ?? 0,
      rows: result.rows as unknown[],
    };
  };

  const release = (): void => {
    client.off('error', onError);
    client.release(broken);
  };
  return { query: query as PostgresPoolClient['query'], release };
}
