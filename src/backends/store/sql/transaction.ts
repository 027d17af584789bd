import { asksForRetry } from '../../../lib/sql/sql-error.ts';
import type { Scope } from './schema.ts';

const ATTEMPTS = 12;
const MAX_PAUSE_MS = 200;

/**
 * One transaction at a time on SQLite; serializable ones on PostgreSQL, run again (a bounded number of times) when
 * the database found no order for those that met.
 */
export async function transaction<T>(scope: Scope, work: (inside: Scope) => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      const begin = scope.db.transaction();
      const suited = scope.kind === 'postgres' ? begin.setIsolationLevel('serializable') : begin;
      return await suited.execute((db) => work({ ...scope, db }));
    } catch (error) {
      if (attempt === ATTEMPTS || !asksForRetry(error)) throw error;
      const pauseMs = Math.random() * Math.min(MAX_PAUSE_MS, 2 ** attempt);
      await new Promise((resolve) => setTimeout(resolve, pauseMs));
    }
  }
}
