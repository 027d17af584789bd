/**
 * Keeps a process small until somebody wants something of it. Loading a program, and whatever goes on by itself, makes V8 compile it
 * for speed sooner or later: that brings megabytes of compilers into memory for nothing, and lets the young generation grow to many times
 * its size, which V8 seldom takes back.
 */
import { PerformanceObserver } from 'node:perf_hooks';
import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8';

const STAYS = '--semi-space-growth-factor=1';
const GROWS = '--semi-space-growth-factor=2';
const SMALL = ['--no-opt', '--no-maglev', STAYS];
const USUAL = ['--opt', '--maglev', GROWS];

/** V8 itself takes up to 300, which saves it collections. */
const GROWTH_PERCENT = 30;
/** The second has V8 put together what is left on half-empty pages, and give free ones back to the system, which it keeps for itself otherwise. */
const SAVING = [`--heap-growing-percent=${GROWTH_PERCENT}`, '--memory-saver-mode'];

let isSmall = false;
let mostYoungBytes = Infinity;

/**
 * From here on, until speedUp(). To be called before anything large is loaded. `youngBytes`: about what the young generation may take later on, too; V8
 * itself lets it grow to 128 MB where much is under way at once, and has more work with it then.
 */
export function staySmall(youngBytes = Infinity): void {
  isSmall = true;
  mostYoungBytes = youngBytes;
  SMALL.forEach((flag) => setFlagsFromString(flag));
}

/** With the first client, with the first output of an app, and before any long work. Costs nothing when it was called before. */
export function speedUp(): void {
  if (!isSmall) return;
  isSmall = false;
  USUAL.forEach((flag) => setFlagsFromString(flag));
  if (mostYoungBytes < Infinity) boundYoung(mostYoungBytes);
}

/** Looks after each collection: it grows by doubling, with one of them. */
function boundYoung(most: number): void {
  let grows = true;
  const look = (): void => {
    const young = getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space');
    const mayGrow = (young?.space_size ?? 0) < most;
    if (mayGrow === grows) return;
    grows = mayGrow;
    setFlagsFromString(mayGrow ? GROWS : STAYS);
  };
  new PerformanceObserver(look).observe({ entryTypes: ['gc'] });
}

/**
 * From here on the heap is collected whenever it has grown by so much, and what is free is given back. For what runs for long and has thousands of
 * things under way now and then: V8 would let it grow to several times of what is in use, and take long to give that back.
 */
export function growSlowly(): void {
  SAVING.forEach((flag) => setFlagsFromString(flag));
}
