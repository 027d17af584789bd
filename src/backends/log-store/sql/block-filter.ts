/**
 * Pure: which texts can be in a block, without opening it. A bit map of the hashes of pieces of its messages in lower case: every piece of
 * three bytes, which distinguishes words, and some of six, chosen by their own contents, which distinguish identifiers, since those have
 * every piece of three. A text is looked for by the same pieces, so what is there is never missed; how seldom the map says "perhaps" of what is
 * not there depends on its size alone.
 */

const SHORT = 3;
const LONG = 6;
/** One of so many long pieces is taken. */
const LONG_SAMPLED = 4;
const MIN_BYTES = 64;
const MAX_BYTES = 8_192;
const NEWLINE = 10;
/** Half as many bits will do as long as fewer than one in so many is set. */
const SPARSE = 6;

/** `text`: messages with newlines between them. */
export function filterOf(text: string): Uint8Array {
  const bytes = Buffer.from(text.toLowerCase(), 'utf8');
  let filter = new Uint8Array(sizeFor(bytes.length));
  const mask = filter.length * 8 - 1;
  const found = hashes(bytes);
  for (let at = 0; at < found.length; at++) {
    const bit = (found[at] ?? 0) & mask;
    filter[bit >>> 3] = (filter[bit >>> 3] ?? 0) | (1 << (bit & 7));
  }
  while (filter.length > MIN_BYTES && bitsSet(filter) * SPARSE < filter.length * 8) filter = halved(filter);
  return filter;
}

/** `wanted` in lower case. False: in no message of the block. */
export function mayContain(filter: Uint8Array, wanted: string): boolean {
  const mask = filter.length * 8 - 1;
  if (filter.length === 0) return true;
  for (const hash of hashes(Buffer.from(wanted, 'utf8'))) {
    const bit = hash & mask;
    if (((filter[bit >>> 3] ?? 0) & (1 << (bit & 7))) === 0) return false;
  }
  return true;
}

/** A power of two, so that a bit of a larger map is at the same place, modulo its size, in a smaller one. */
function sizeFor(bytes: number): number {
  let size = MIN_BYTES;
  while (size < MAX_BYTES && size * 24 < bytes) size *= 2;
  return size;
}

/** Of every piece of the bytes that lies within a line. */
function hashes(bytes: Buffer): Uint32Array {
  const found = new Uint32Array(bytes.length * 2);
  let count = 0;
  let length = 0;
  // The last six bytes, as two numbers of three.
  let [before, short] = [0, 0];
  // By index: this is most of the work of storing a line, and iterating takes twice as long.
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at] ?? 0;
    length = byte === NEWLINE ? 0 : length + 1;
    before = ((before << 8) | (short >>> 16)) & 0xffffff;
    short = ((short << 8) | byte) & 0xffffff;
    if (length < SHORT) continue;
    found[count++] = mixed(short);
    if (length < LONG) continue;
    const long = mixed(Math.imul(before, 0x2c1b3c6d) ^ short ^ 0x5bd1e995);
    if ((long >>> 28) % LONG_SAMPLED === 0) found[count++] = long;
  }
  return found.subarray(0, count);
}

function mixed(value: number): number {
  let hash = Math.imul(value ^ (value >>> 15), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}

function bitsSet(filter: Uint8Array): number {
  let count = 0;
  for (let byte of filter) for (; byte !== 0; byte &= byte - 1) count += 1;
  return count;
}

function halved(filter: Uint8Array): Uint8Array<ArrayBuffer> {
  const half = new Uint8Array(filter.length / 2);
  for (let at = 0; at < half.length; at++) half[at] = (filter[at] ?? 0) | (filter[at + half.length] ?? 0);
  return half;
}
