import { isSqliteBusy } from './sql-error.ts';

/** How long SQLite itself waits for another process; short, because the whole thread stands still meanwhile. */
export const BLOCKING_WAIT_MS = 10;
const PATIENCE_MS = 5_000;
const PAUSE_MS = 8;

/** Tries again, without holding up the thread, while another process has the SQLite file; five seconds by default. */
export async function patiently<T>(attempt: () => T, patienceMs = PATIENCE_MS): Promise<T> {
  let deadline = 0;
  for (;;) {
    try {
      return attempt();
    } catch (error) {
      if (!isSqliteBusy(error)) throw error;
      deadline ||= Date.now() + patienceMs;
      if (Date.now() >= deadline) throw error;
    }
    await new Promise((resolve) => setTimeout(resolve, 1 + Math.random() * PAUSE_MS));
  }
}
