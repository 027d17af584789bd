/** Loads what a start needs once its backends are open, more than half of the program, while these wait for other processes. */
import { setImmediate as nextTurn } from 'node:timers/promises';

/** Loading blocks the event loop: so it comes in pieces, between which the backends go on. The one that needs all of them is the last. */
const PIECES: readonly (() => Promise<unknown>)[] = [
  () => import('../domain/deploys/deploys.ts'),
  () => import('../domain/alerts/alert-watch.ts'),
  () => import('./domain.ts'),
  () => import('../api/operations.ts'),
  () => import('./doors.ts'),
  () => import('./serve.ts'),
];

/** What cannot be loaded fails where it is used. */
export async function loadAhead(): Promise<void> {
  for (const load of PIECES) {
    await load().catch(() => undefined);
    await nextTurn();
  }
}
