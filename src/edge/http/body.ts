import type { BodyReader, BodySink } from './body-reader.ts';
import { ChunkedBody } from './chunked-body.ts';
import { CHUNKED, UNTIL_CLOSE } from './framing.ts';

/**
 * The reader for a body of this length (see framing.ts). `unwrapped`: of a chunked body hand on the data alone, for a
 * receiver that knows no chunks. `mostBytes`: of data in chunks; whose length is known is judged by that.
 */
export function bodyReader(length: number, unwrapped = false, mostBytes = Number.POSITIVE_INFINITY): BodyReader {
  if (length === CHUNKED) return new ChunkedBody(unwrapped, mostBytes);
  if (length === UNTIL_CLOSE) return new BodyUntilClose();
  return new BodyOfLength(length);
}

class BodyOfLength implements BodyReader {
  readonly isTooLong = false;
  #left: number;

  constructor(length: number) {
    this.#left = length;
  }

  get done(): boolean {
    return this.#left === 0;
  }

  take(bytes: Buffer, from: number, end: number, sink: BodySink): number {
    const size = Math.min(this.#left, end - from);
    this.#left -= size;
    if (size > 0) sink(bytes.subarray(from, from + size));
    return size;
  }

  ended(): boolean {
    return this.done;
  }
}

class BodyUntilClose implements BodyReader {
  readonly isTooLong = false;
  done = false;

  take(bytes: Buffer, from: number, end: number, sink: BodySink): number {
    if (end > from) sink(bytes.subarray(from, end));
    return end - from;
  }

  ended(): boolean {
    this.done = true;
    return true;
  }
}
