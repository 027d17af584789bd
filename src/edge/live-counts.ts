/**
 * What a worker has under way, in a file that its edge reads when the worker is gone: a worker that is killed says nothing more, and what it
 * said last is older than the requests that fail with it. Each change is written before anybody can see what follows of it.
 */
import { closeSync, fstatSync, openSync, readSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { randomHex } from '../lib/ids.ts';

/** Of one app; a snapshot. */
export interface LiveCount {
  /** Requests that have begun and not ended. */
  readonly open: number;
  /** Of those, the ones without the head of an answer. */
  readonly unanswered: number;
  readonly requests: number;
  readonly failures: number;
}

const MEMORY = '/dev/shm';
/** Numbers first, then the name and its length in one byte. */
const NUMBERS = 4;
const NUMBER_BYTES = NUMBERS * Float64Array.BYTES_PER_ELEMENT;
const RECORD_BYTES = 128;
const MOST_NAME_BYTES = RECORD_BYTES - NUMBER_BYTES - 1;
/** The first record is none: it says whether the others can be gone by. */
const FIRST_SLOT = 1;
const NAME_ID_BYTES = 8;

/** A file without a name, in memory where the system has a place for that; its descriptor. */
export function openLiveCounts(otherwiseIn: string): number {
  for (const directory of [MEMORY, otherwiseIn]) {
    try {
      const path = join(directory, `tancho-edge-${randomHex(NAME_ID_BYTES)}`);
      const fd = openSync(path, 'wx+', 0o600);
      rmSync(path);
      return fd;
    } catch (error) {
      if (directory === otherwiseIn) throw error;
    }
  }
  throw new Error('there is no place for a file');
}

/** Of a worker, by app; empty where nothing was written, or not everything could be. Closes the file. */
export function lastLiveCounts(fd: number): ReadonlyMap<string, LiveCount> {
  try {
    return liveCounts(fd);
  } finally {
    closeSync(fd);
  }
}

export function liveCounts(fd: number): ReadonlyMap<string, LiveCount> {
  const counts = new Map<string, LiveCount>();
  const bytes = Buffer.alloc(fstatSync(fd).size);
  readSync(fd, bytes, 0, bytes.length, 0);
  if (bytes[0] !== 1) return counts;
  for (let at = FIRST_SLOT * RECORD_BYTES; at + RECORD_BYTES <= bytes.length; at += RECORD_BYTES) {
    const length = bytes[at + NUMBER_BYTES] ?? 0;
    if (length === 0) continue;
    const name = bytes.toString('utf8', at + NUMBER_BYTES + 1, at + NUMBER_BYTES + 1 + length);
    const [open = 0, unanswered = 0, requests = 0, failures = 0] = Array.from({ length: NUMBERS }, (_, index) =>
      bytes.readDoubleLE(at + index * Float64Array.BYTES_PER_ELEMENT),
    );
    counts.set(name, { open, unanswered, requests, failures });
  }
  return counts;
}

/** The side of the worker. */
export class LiveCounts {
  readonly #fd: number;
  readonly #record = Buffer.alloc(RECORD_BYTES);
  readonly #free: number[] = [];
  #next = FIRST_SLOT;
  #isUsable = true;

  constructor(fd: number) {
    this.#fd = fd;
    this.#put(Buffer.from([1]), 1, 0);
  }

  /** Where the app has its place from now on; 0: nowhere. */
  begin(app: string): number {
    const length = Buffer.byteLength(app);
    if (!this.#isUsable || length > MOST_NAME_BYTES) return 0;
    const slot = this.#free.pop() ?? this.#next++;
    this.#record.fill(0);
    this.#record[NUMBER_BYTES] = length;
    this.#record.write(app, NUMBER_BYTES + 1);
    this.#put(this.#record, RECORD_BYTES, slot);
    return slot;
  }

  write(slot: number, { open, unanswered, requests, failures }: LiveCount): void {
    if (slot === 0 || !this.#isUsable) return;
    const record = this.#record;
    record.writeDoubleLE(open, 0);
    record.writeDoubleLE(unanswered, 8);
    record.writeDoubleLE(requests, 16);
    record.writeDoubleLE(failures, 24);
    this.#put(record, NUMBER_BYTES, slot);
  }

  /** The app is no longer served. */
  end(slot: number): void {
    if (slot === 0 || !this.#isUsable) return;
    this.#record.fill(0);
    this.#put(this.#record, RECORD_BYTES, slot);
    this.#free.push(slot);
  }

  /** No request fails for want of room: what was reported last counts then. */
  #put(bytes: Buffer, length: number, slot: number): void {
    try {
      writeSync(this.#fd, bytes, 0, length, slot * RECORD_BYTES);
    } catch {
      this.#giveUp();
    }
  }

  #giveUp(): void {
    this.#isUsable = false;
    try {
      writeSync(this.#fd, Buffer.from([0]), 0, 1, 0);
    } catch {
      // The file has nothing in it then.
    }
  }
}
