import { asksForRetry, isAway } from '../../../sql/sql-error.ts';
import { KeyedQueue } from '../../../lib/keyed-queue.ts';
import type { Scope } from './schema.ts';

const ATTEMPTS = 12;
const MAX_PAUSE_MS = 200;

/**
 * Bound to one store. One transaction at a time on SQLite; serializable ones on PostgreSQL. What PostgreSQL has refused because of others, or lost with the
 * connection before the commit was asked for, is run again.
 */
export function transactions(scope: Scope): <T>(work: (inside: Scope) => Promise<T>) => Promise<T> {
  const again = new KeyedQueue();

  const attempt = <T>(work: (inside: Scope) => Promise<T>): Promise<T> => {
    const begin = scope.db.transaction();
    const suited = scope.kind === 'postgres' ? begin.setIsolationLevel('serializable') : begin;
    return suited.execute((db) => work({ ...scope, db }));
  };

  return async (work) => {
    for (let attempts = 1; ; attempts++) {
      let [isBegun, isDone] = [false, false];
      const watched: typeof work = async (inside) => {
        isBegun = true;
        const result = await work(inside);
        isDone = true;
        return result;
      };
      try {
        // Those that met and lost go one by one, or they would meet again.
        return await (attempts === 1 ? attempt(watched) : again.run('', () => attempt(watched)));
      } catch (error) {
        // Who cannot even begin has waited for the database already, but for a connection that was lost while nobody used it.
        const isLost = isAway(error) && !isDone && (isBegun || attempts === 1);
        if (attempts === ATTEMPTS || !(isLost || asksForRetry(error))) throw error;
      }
      const pauseMs = Math.random() * Math.min(MAX_PAUSE_MS, 2 ** attempts);
      await new Promise((resolve) => setTimeout(resolve, pauseMs));
    }
  };
}
