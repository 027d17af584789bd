/**
 * Where others cannot enter a directory above what an edge with a user of its own goes by, it sees a machine in which that directory holds just this, and
 * nothing else of what lies there (lib/own-view.ts).
 */
import { statSync } from 'node:fs';
import { dirname } from 'node:path';
import type { OwnView } from '../../../lib/own-view.ts';
import { findProgram } from '../../../lib/find-program.ts';

const OTHERS_ENTER = 0o001;

/** What hides one of these, each the first on its way; absolute paths of things that others enter themselves. */
export function closedAbove(needed: readonly string[]): string[] {
  return [...new Set(needed.flatMap((path) => above(path).find((one) => !isOpen(one)) ?? []))];
}

/** Null: nothing is closed. */
export function viewOf(needed: readonly string[]): OwnView | null {
  const closed = closedAbove(needed);
  if (closed.length === 0) return null;
  return { closed, shown: needed.filter((path) => above(path).some((one) => closed.includes(one))) };
}

/** Before a command, so that what it mounts is seen by itself and by what it starts; null: this machine lacks what it takes. */
export function apart(): readonly string[] | null {
  const unshare = findProgram('unshare');
  return unshare === null || findProgram('mount') === null
    ? null
    : [unshare, '--mount', '--propagation', 'slave', '--'];
}

/** From the root on, without the path itself. */
function above(path: string): string[] {
  const parent = dirname(path);
  return parent === path ? [] : [...above(parent), parent];
}

function isOpen(directory: string): boolean {
  const stats = statSync(directory, { throwIfNoEntry: false });
  return stats === undefined || (stats.mode & OTHERS_ENTER) !== 0;
}
