/**
 * When the files of many are to be counted: now and then, and as soon as so much less is free on their disk that one of them may hold too much.
 * Who takes as much as others give back at the same time is seen now and then only.
 */
import type { DiskSpace } from '../diagnosis/probe.ts';
import { each, pauseMs, type Room } from './headroom.ts';

export type RoomKind = keyof Room;
const KINDS: readonly RoomKind[] = ['bytes', 'files'];

const NONE: Room = { bytes: 0, files: 0 };

interface Pace {
  /** Between two counts, whatever is free. */
  readonly everyMs: number;
  /** After a count, in times of what it took. */
  readonly rest: number;
  readonly longestRestMs: number;
}

export class CountSchedule {
  readonly #pace: Pace;
  #countedAt = -Infinity;
  /** The most that was free since the last count, and what may be taken of that: nothing before the first one. */
  #most: Room = NONE;
  #headroom: Room = NONE;
  #free: Room = NONE;
  #at = 0;
  #perSecond: Room = NONE;
  #restMs = 0;

  constructor(pace: Pace) {
    this.#pace = pace;
  }

  /** What is to be counted, by what is free now; null: it is not known. `soonerMs`: the longest between two counts this time. */
  due(space: DiskSpace | null, at: number, soonerMs = this.#pace.everyMs): readonly RoomKind[] {
    const free = space === null ? this.#most : { bytes: space.freeBytes, files: space.freeFiles };
    const [before, tookMs] = [this.#free, at - this.#at];
    const isFirst = this.#at === 0;
    this.#perSecond = each((kind) =>
      isFirst || tookMs <= 0 ? 0 : (Math.max(0, before[kind] - free[kind]) * 1000) / tookMs,
    );
    [this.#free, this.#at, this.#restMs] = [free, at, 0];
    this.#most = each((kind) => Math.max(this.#most[kind], free[kind]));
    if (at - this.#countedAt >= Math.min(this.#pace.everyMs, soonerMs)) return KINDS;
    return KINDS.filter((kind) => this.#left[kind] <= 0);
  }

  /** They were counted, by a count that began with due(); `headroom`: what may be taken until one of them holds too much. */
  counted(kinds: readonly RoomKind[], headroom: Room, tookMs: number): void {
    // What was taken while they were counted is seen the next time.
    this.#most = each((kind) => (kinds.includes(kind) ? this.#free[kind] : this.#most[kind]));
    this.#headroom = headroom;
    this.#countedAt = this.#at;
    this.#restMs = Math.min(tookMs * this.#pace.rest, this.#pace.longestRestMs);
  }

  /** Until the next call of due(). `reserveBytes`: what is to stay free. */
  pauseMs(reserveBytes = 0): number {
    const left = this.#left;
    const unreserved = this.#free.bytes - reserveBytes;
    const nearest = { ...left, bytes: unreserved > 0 ? Math.min(left.bytes, unreserved) : left.bytes };
    return Math.max(pauseMs(nearest, this.#perSecond), this.#restMs);
  }

  get #left(): Room {
    return each((kind) => this.#headroom[kind] - (this.#most[kind] - this.#free[kind]));
  }
}
