import { asksForRetry } from '../../../sql/sql-error.ts';
import { KeyedQueue } from '../../../lib/keyed-queue.ts';
import type { Scope } from './schema.ts';

const ATTEMPTS = 12;
const MAX_PAUSE_MS = 200;

/** Bound to one store. One transaction at a time on SQLite; serializable ones on PostgreSQL. */
export function transactions(scope: Scope): <T>(work: (inside: Scope) => Promise<T>) => Promise<T> {
  const again = new KeyedQueue();

  const attempt = <T>(work: (inside: Scope) => Promise<T>): Promise<T> => {
    const begin = scope.db.transaction();
    const suited = scope.kind === 'postgres' ? begin.setIsolationLevel('serializable') : begin;
    return suited.execute((db) => work({ ...scope, db }));
  };

  return async (work) => {
    for (let attempts = 1; ; attempts++) {
      try {
        // Those that met and lost go one by one, or they would meet again.
        return await (attempts === 1 ? attempt(work) : again.run('', () => attempt(work)));
      } catch (error) {
        if (attempts === ATTEMPTS || !asksForRetry(error)) throw error;
      }
      const pauseMs = Math.random() * Math.min(MAX_PAUSE_MS, 2 ** attempts);
      await new Promise((resolve) => setTimeout(resolve, pauseMs));
    }
  };
}
