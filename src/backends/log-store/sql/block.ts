/**
 * Pure: entries of one app <-> a block of bytes. A block is one byte that says how it is packed, then the length of a head, the head
 * (JSON: what repeats from line to line, as runs), and the messages, each with a newline behind it. Stored for years: readers know
 * every form that was ever written.
 */
import { constants, zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import type { LogEntry } from '../../../domain/logs/entry.ts';

/** Source, unit, unit's id, release: what entries of one origin have in common. */
export type Stream = readonly [source: string, unit: string, unitId: string, release: number];

export interface Block {
  readonly firstSeq: number;
  readonly lastSeq: number;
  /** The earliest and the latest. */
  readonly firstAt: string;
  readonly lastAt: string;
  readonly entries: number;
  /** Of the messages in UTF-8, each with its newline: of many empty ones, many. */
  readonly bytes: number;
  readonly streams: readonly Stream[];
  readonly packed: Uint8Array;
}

interface Places {
  readonly seqs: readonly number[];
  readonly ats: readonly string[];
  /** Of each entry, its place among the streams. */
  readonly origins: readonly number[];
  /** Where the message of each entry begins in the text; one more for the end. */
  readonly starts: readonly number[];
}

/** Unpacked. Where each message begins, and whose it is, is parsed on demand only, for a search needs it of few blocks. */
export class OpenBlock {
  readonly text: Buffer;
  readonly #head: Buffer;
  /** What both lie in, where it is nobody else's. */
  readonly #own: ArrayBufferLike | null;
  #places: Places | null = null;

  constructor(head: Buffer, text: Buffer, own: ArrayBufferLike | null) {
    this.#head = head;
    this.text = text;
    this.#own = own;
  }

  /** To be called when nothing of it is wanted any more: the collector takes little notice of what lies outside of its heap. */
  letGo(): void {
    if (this.#own !== null && this.#own.byteLength > LARGE_BYTES) letGo(this.#own);
  }

  get places(): Places {
    return (this.#places ??= placesOf(JSON.parse(this.#head.toString('utf8')) as Head));
  }
}

type Runs<T> = (readonly [value: T, count: number])[];

interface Head {
  readonly seqs: Runs<number>;
  readonly ats: Runs<string>;
  readonly origins: Runs<number>;
  /** Bytes of each message. */
  readonly sizes: readonly number[];
}

const PLAIN = 0;
const ZSTD = 1;
const HEAD_AT = 5;
const NEWLINE = 10;
/** Lines of logs are packed as well by the quickest way as by others. */
const FAST = { params: { [constants.ZSTD_c_compressionLevel]: 1 } };
/** Less is not worth the while. */
const LEAST_PACKED_BYTES = 512;
/** Of memory that is given back at once. */
const LARGE_BYTES = 16 * 1024;
/** Of most sealed blocks. */
const UNPACKED_BYTES = 512 * 1024;
/** An answer of zstd that would be longer comes from no block of ours. */
const MAX_BYTES = 256 * 1024 * 1024;

/** Of at least one entry, all of one app, in the order of their seq. */
export function packBlock(entries: readonly LogEntry[]): Block {
  const [first, last] = [entries[0], entries.at(-1)];
  if (first === undefined || last === undefined) throw new Error('A block has at least one entry.');
  const streams = new Map<string, { readonly place: number; readonly stream: Stream }>();
  const origins = entries.map(({ source, unit, unitId, release }) => {
    const stream: Stream = [source, unit, unitId, release];
    const key = stream.join('\n');
    const known = streams.get(key) ?? { place: streams.size, stream };
    streams.set(key, known);
    return known.place;
  });
  const text = Buffer.from(`${entries.map(({ message }) => message).join('\n')}\n`, 'utf8');
  const sizes = sizesOf(entries, text);
  const head: Head = {
    seqs: seqRuns(entries),
    ats: runs(entries.map(({ at }) => at)),
    origins: runs(origins),
    sizes,
  };
  let [firstAt, lastAt] = [first.at, first.at];
  for (const [at] of head.ats) {
    if (at < firstAt) firstAt = at;
    if (at > lastAt) lastAt = at;
  }
  return {
    firstSeq: first.seq,
    lastSeq: last.seq,
    firstAt,
    lastAt,
    entries: entries.length,
    bytes: text.length,
    streams: [...streams.values()].map(({ stream }) => stream),
    packed: packed(head, text),
  };
}

export function openBlock(bytes: Uint8Array): OpenBlock {
  const stored = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const isPacked = stored[0] === ZSTD;
  // In one piece if it can be, which takes less time and memory.
  const size = {
    maxOutputLength: MAX_BYTES,
    chunkSize: Math.min(Math.max(8 * stored.length, LARGE_BYTES), UNPACKED_BYTES),
  };
  const whole = isPacked ? zstdDecompressSync(stored.subarray(1), size) : stored.subarray(1);
  const headEnd = 4 + whole.readUInt32LE(0);
  return new OpenBlock(whole.subarray(4, headEnd), whole.subarray(headEnd), isPacked ? whole.buffer : null);
}

/** Of memory that is nobody else's; what is shared by small buffers of Node is left alone. */
export function letGo(buffer: ArrayBufferLike): void {
  if (buffer instanceof ArrayBuffer && buffer.byteLength !== Buffer.poolSize) buffer.transfer(0);
}

function placesOf(head: Head): Places {
  const count = head.sizes.length;
  const starts = new Array<number>(count + 1);
  starts[0] = 0;
  for (let place = 0; place < count; place++) {
    starts[place + 1] = (starts[place] ?? 0) + (head.sizes[place] ?? 0) + 1;
  }
  const seqs = new Array<number>(count);
  let next = 0;
  for (const [from, run] of head.seqs) for (let step = 0; step < run; step++) seqs[next++] = from + step;
  return { seqs, ats: unrolled(head.ats, count), origins: unrolled(head.origins, count), starts };
}

/** A copy, so that who keeps one message does not keep the block. */
export function messageAt({ places: { starts }, text }: OpenBlock, place: number): string {
  return text.toString('utf8', starts[place], (starts[place + 1] ?? 0) - 1);
}

export function entryAt(app: string, block: OpenBlock, streams: readonly Stream[], place: number): LogEntry {
  const { seqs, ats, origins } = block.places;
  const [source, unit, unitId, release] = streams[origins[place] ?? 0] ?? ['', '', '', 0];
  const [seq = 0, at = ''] = [seqs[place], ats[place]];
  return { seq, at, app, source, unit, unitId, release, message: messageAt(block, place) };
}

export function entriesOf(app: string, block: OpenBlock, streams: readonly Stream[]): LogEntry[] {
  return block.places.seqs.map((_, place) => entryAt(app, block, streams, place));
}

function packed(head: Head, text: Buffer): Uint8Array {
  const json = Buffer.from(JSON.stringify(head), 'utf8');
  const whole = Buffer.allocUnsafe(HEAD_AT + json.length + text.length);
  whole[0] = PLAIN;
  whole.writeUInt32LE(json.length, 1);
  json.copy(whole, HEAD_AT);
  text.copy(whole, HEAD_AT + json.length);
  if (whole.length < LEAST_PACKED_BYTES) return whole;
  return Buffer.concat([Buffer.of(ZSTD), zstdCompressSync(whole.subarray(1), FAST)]);
}

function sizesOf(entries: readonly LogEntry[], text: Buffer): number[] {
  const sizes: number[] = [];
  let from = 0;
  for (const { message } of entries) {
    // Nearly all are one line of ASCII, which ends at the next newline; to look for that in all bytes is quick.
    const end = text.indexOf(NEWLINE, from);
    const size = end - from === message.length ? message.length : Buffer.byteLength(message);
    sizes.push(size);
    from += size + 1;
  }
  // A newline within a message can pass for its end, where there is more than ASCII before it; what is counted too short is short in all.
  return from === text.length ? sizes : entries.map(({ message }) => Buffer.byteLength(message));
}

function seqRuns(entries: readonly LogEntry[]): Runs<number> {
  const found: [number, number][] = [];
  for (const { seq } of entries) {
    const run = found.at(-1);
    if (run !== undefined && run[0] + run[1] === seq) run[1] += 1;
    else found.push([seq, 1]);
  }
  return found;
}

function runs<T>(values: readonly T[]): Runs<T> {
  const found: [T, number][] = [];
  for (const value of values) {
    const run = found.at(-1);
    if (run !== undefined && run[0] === value) run[1] += 1;
    else found.push([value, 1]);
  }
  return found;
}

function unrolled<T>(found: Runs<T>, length: number): T[] {
  const all = new Array<T>(length);
  let next = 0;
  for (const [value, count] of found) all.fill(value, next, (next += count));
  return all;
}
