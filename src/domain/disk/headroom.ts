/**
 * Pure: how much of the disk can be taken before any unit holds more than it may. Nobody has to be counted until so much less is free: so a
 * look at the free space stands for all of them, and how soon it is to be repeated follows from how much is left.
 */

/** Bytes and files; Infinity where nothing is limited. */
export interface Room {
  readonly bytes: number;
  readonly files: number;
}

export const ENDLESS: Room = { bytes: Infinity, files: Infinity };

const LONGEST_MS = 10_000;
/** While nobody takes anything. */
const SOONEST_MS = 500;
/** While somebody takes so much that the limit is near. */
const SOONEST_OF_WRITERS_MS = 100;
/** What is taken in a second at most, as long as nobody has been seen to take anything. */
const UNSEEN: Room = { bytes: 1024 ** 3, files: 100_000 };
/** A writer that has been seen may become faster. */
const FASTER = 2;

export function each(work: (kind: keyof Room) => number): Room {
  return { bytes: work('bytes'), files: work('files') };
}

/** What no unit needs more than. */
export function smallest(rooms: Iterable<Room>): Room {
  let least = ENDLESS;
  for (const room of rooms) least = each((kind) => Math.min(least[kind], room[kind]));
  return least;
}

/** Until the next look. `perSecond`: what was taken lately. */
export function pauseMs(left: Room, perSecond: Room): number {
  const { bytes, files } = each((kind) => {
    const calm = bounded((left[kind] / UNSEEN[kind]) * 1000, SOONEST_MS);
    const rate = perSecond[kind] * FASTER;
    return rate > 0 ? Math.min(calm, bounded((left[kind] / rate) * 1000, SOONEST_OF_WRITERS_MS)) : calm;
  });
  return Math.min(bytes, files);
}

function bounded(ms: number, leastMs: number): number {
  return Math.min(Math.max(ms, leastMs), LONGEST_MS);
}
