/** The part of DER (X.690) that certificates and requests for them are made of: a writer, and a reader that trusts nobody. */

/** Universal tags; those of context are made by context(). */
const TAG = { integer: 0x02, bits: 0x03, bytes: 0x04, oid: 0x06, sequence: 0x30, set: 0x31 } as const;

function tagged(tag: number, ...contents: readonly Uint8Array[]): Buffer {
  const body = Buffer.concat(contents);
  return Buffer.concat([Buffer.of(tag), lengthOf(body.length), body]);
}

export const sequence = (...parts: readonly Uint8Array[]): Buffer => tagged(TAG.sequence, ...parts);
export const set = (...parts: readonly Uint8Array[]): Buffer => tagged(TAG.set, ...parts);
export const bytes = (body: Uint8Array): Buffer => tagged(TAG.bytes, body);
export const yes = (): Buffer => tagged(0x01, Buffer.of(0xff));
export const utf8 = (text: string): Buffer => tagged(0x0c, Buffer.from(text));

/** `constructed`: it holds further values; else it is a value itself under another name. */
export function context(number: number, constructed: boolean, ...contents: readonly Uint8Array[]): Buffer {
  return tagged(0x80 | (constructed ? 0x20 : 0) | number, ...contents);
}

/** Not negative; big endian, as many bytes as there are. */
export function integer(value: number | Uint8Array): Buffer {
  const given = typeof value === 'number' ? Buffer.from(evenHex(value.toString(16)), 'hex') : Buffer.from(value);
  const from = given.findIndex((byte) => byte !== 0);
  const body = from === -1 ? Buffer.of(0) : given.subarray(from);
  return tagged(TAG.integer, (body[0] ?? 0) >= 0x80 ? Buffer.concat([Buffer.of(0), body]) : body);
}

/** Whole bytes. */
export function bits(body: Uint8Array): Buffer {
  return tagged(TAG.bits, Buffer.of(0), body);
}

/** Flags, the first one in the highest bit, as KeyUsage has them. */
export function flags(...wanted: readonly number[]): Buffer {
  const highest = Math.max(...wanted);
  const body = Buffer.alloc((highest >> 3) + 1);
  for (const flag of wanted) body[flag >> 3] = (body[flag >> 3] ?? 0) | (0x80 >> (flag & 7));
  return tagged(TAG.bits, Buffer.of(7 - (highest & 7)), body);
}

export function oid(dotted: string): Buffer {
  const [first = 0, second = 0, ...others] = dotted.split('.').map(Number);
  return tagged(TAG.oid, Buffer.from([first * 40 + second, ...others].flatMap(base128)));
}

/** UTCTime until 2049, GeneralizedTime after it (RFC 5280, 4.1.2.5). */
export function time(at: Date): Buffer {
  const digits = at
    .toISOString()
    .replace(/\.\d+Z$/, 'Z')
    .replace(/[-:T]/g, '');
  return at.getUTCFullYear() < 2050 ? tagged(0x17, Buffer.from(digits.slice(2))) : tagged(0x18, Buffer.from(digits));
}

interface DerValue {
  readonly tag: number;
  readonly body: Buffer;
  /** With tag and length, as it was read. */
  readonly whole: Buffer;
}

export class DerError extends Error {
  override readonly name = 'DerError';
}

/** All values that lie one after the other; throws DerError when the bytes are anything else. */
export function readValues(input: Buffer): DerValue[] {
  const found: DerValue[] = [];
  for (let at = 0; at < input.length;) {
    const value = readValue(input, at);
    found.push(value);
    at += value.whole.length;
  }
  return found;
}

/** What a value of this tag holds; throws DerError when it is another one. */
export function childrenOf(value: DerValue | undefined, tag: number = TAG.sequence): DerValue[] {
  if (value === undefined || value.tag !== tag) throw new DerError('It has another structure.');
  return readValues(value.body);
}

export function oidText(value: DerValue | undefined): string {
  if (value === undefined || value.tag !== TAG.oid) throw new DerError('It has no identifier where one has to be.');
  const numbers: number[] = [];
  let number = 0;
  for (const byte of value.body) {
    number = number * 128 + (byte & 0x7f);
    if (byte < 0x80) {
      numbers.push(number);
      number = 0;
    }
  }
  const [first = 0, ...others] = numbers;
  const root = Math.min(2, Math.floor(first / 40));
  return [root, first - root * 40, ...others].join('.');
}

function readValue(input: Buffer, at: number): DerValue {
  const tag = input[at];
  let length = input[at + 1];
  let body = at + 2;
  if (tag === undefined || length === undefined || (tag & 0x1f) === 0x1f) throw new DerError('It is cut off.');
  if (length >= 0x80) {
    const size = length & 0x7f;
    if (size === 0 || size > 4 || body + size > input.length) throw new DerError('It has a length that is none.');
    length = input.readUIntBE(body, size);
    body += size;
  }
  if (body + length > input.length) throw new DerError('It is cut off.');
  return { tag, body: input.subarray(body, body + length), whole: input.subarray(at, body + length) };
}

function lengthOf(length: number): Buffer {
  if (length < 0x80) return Buffer.of(length);
  const size = Buffer.from(evenHex(length.toString(16)), 'hex');
  return Buffer.concat([Buffer.of(0x80 | size.length), size]);
}

function base128(number: number): number[] {
  const digits = [number & 0x7f];
  for (let rest = Math.floor(number / 128); rest > 0; rest = Math.floor(rest / 128))
    digits.unshift((rest & 0x7f) | 0x80);
  return digits;
}

function evenHex(hex: string): string {
  return hex.length % 2 === 0 ? hex : `0${hex}`;
}
