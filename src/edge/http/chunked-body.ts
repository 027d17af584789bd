import type { BodyReader, BodySink } from './body-reader.ts';
import { BODY_BAD } from './body-reader.ts';
import { parseFields } from './fields.ts';
import { CR, IS_TEXT, LF, hexDigit } from './octets.ts';
import { Refusal } from './refusal.ts';

const MAX_SIZE_DIGITS = 12;
const MAX_EXTENSION = 256;
/** All extensions of one body together; a sender could otherwise hide any amount of work beside one byte of data. */
const MAX_EXTENSIONS = 16_384;
const MAX_TRAILERS = 8_192;
const EXTENSIONS =
  /^(?:;[!#$%&'*+.^_`|~0-9A-Za-z-]+(?:=(?:[!#$%&'*+.^_`|~0-9A-Za-z-]+|"(?:[\t \x21\x23-\x5b\x5d-\x7e]|\\[\t\x20-\x7e])*"))?)+$/;

/** A second framing after the fact: nothing honest sends it. */
const REFUSED_TRAILERS = new Set(['transfer-encoding', 'content-length']);

/** Fields that must not come late: they route, authenticate or describe (RFC 9110 section 6.5.1); left out. */
const NOT_IN_TRAILERS = new Set([
  'content-encoding',
  'content-type',
  'content-range',
  'host',
  'connection',
  'keep-alive',
  'te',
  'trailer',
  'upgrade',
  'expect',
  'authorization',
  'proxy-authorization',
  'proxy-authenticate',
  'www-authenticate',
  'set-cookie',
  'cookie',
  'cache-control',
  'max-forwards',
  'forwarded',
  'x-request-id',
  'x-real-ip',
]);

const SIZE_FIRST = 0;
const SIZE = 1;
const EXTENSION = 2;
const SIZE_LF = 3;
const DATA = 4;
const DATA_CR = 5;
const DATA_LF = 6;
const LAST_CR = 7;
const LAST_LF = 8;
const TRAILERS = 9;
const DONE = 10;
const BAD = 11;

/**
 * A chunked body, read strictly. What it hands on are the very bytes that came, so one chunk is one piece, without
 * extensions and with checked trailers; or, unwrapped, the data alone.
 */
export class ChunkedBody implements BodyReader {
  isTooLong = false;
  readonly #unwrapped: boolean;
  /** Of data, that may still be announced. */
  #room: number;
  #state = SIZE_FIRST;
  #size = 0;
  #digits = 0;
  #left = 0;
  #extension = '';
  #extensionBytes = 0;
  #trailers = '';
  /** First byte not handed on yet of the chunk being taken, or -1 when nothing is due. */
  #due = -1;

  constructor(unwrapped: boolean, mostBytes = Number.POSITIVE_INFINITY) {
    this.#unwrapped = unwrapped;
    this.#room = mostBytes;
  }

  get done(): boolean {
    return this.#state === DONE;
  }

  ended(): boolean {
    return this.done;
  }

  take(bytes: Buffer, from: number, end: number, sink: BodySink): number {
    let at = from;
    this.#due = this.#unwrapped || this.#state === EXTENSION || this.#state === TRAILERS ? -1 : from;
    while (at < end && this.#state < DONE) {
      at = this.#state === DATA ? this.#takeData(bytes, at, end, sink) : this.#takeFraming(bytes, at, sink);
    }
    if (this.#state === BAD) return BODY_BAD;
    this.#handOn(bytes, at, sink);
    return at - from;
  }

  #takeData(bytes: Buffer, at: number, end: number, sink: BodySink): number {
    const stop = Math.min(at + this.#left, end);
    this.#left -= stop - at;
    if (this.#unwrapped) sink(bytes.subarray(at, stop));
    if (this.#left === 0) this.#state = DATA_CR;
    return stop;
  }

  /** One byte of anything but data; returns where to go on. */
  #takeFraming(bytes: Buffer, at: number, sink: BodySink): number {
    const octet = bytes[at] as number;
    switch (this.#state) {
      case SIZE_FIRST:
        this.#size = 0;
        this.#digits = 0;
        this.#state = this.#digit(octet) ? SIZE : BAD;
        break;
      case SIZE:
        if (octet === CR) this.#state = SIZE_LF;
        else if (octet === 59) this.#beginExtension(bytes, at, sink);
        else if (!this.#digit(octet)) this.#state = BAD;
        break;
      case EXTENSION:
        if (octet === CR) this.#endExtension(at);
        else this.#extend(octet);
        break;
      case SIZE_LF:
        this.#left = this.#size;
        this.#room -= this.#size;
        this.isTooLong = this.#room < 0;
        this.#state = octet !== LF || this.isTooLong ? BAD : this.#size > 0 ? DATA : LAST_CR;
        break;
      case DATA_CR:
        this.#state = octet === CR ? DATA_LF : BAD;
        break;
      case DATA_LF:
        this.#state = octet === LF ? SIZE_FIRST : BAD;
        break;
      case LAST_CR:
        if (octet === CR) this.#state = LAST_LF;
        else this.#beginTrailers(bytes, at, sink);
        break;
      case LAST_LF:
        this.#state = octet === LF ? DONE : BAD;
        break;
      default:
        this.#trail(octet, sink);
    }
    return at + 1;
  }

  #digit(octet: number): boolean {
    const digit = hexDigit(octet);
    if (digit < 0 || ++this.#digits > MAX_SIZE_DIGITS) return false;
    this.#size = this.#size * 16 + digit;
    return true;
  }

  #beginExtension(bytes: Buffer, at: number, sink: BodySink): void {
    this.#handOn(bytes, at, sink);
    this.#due = -1;
    this.#extension = ';';
    this.#state = EXTENSION;
  }

  #extend(octet: number): void {
    this.#extension += String.fromCharCode(octet);
    if (this.#extension.length > MAX_EXTENSION || ++this.#extensionBytes > MAX_EXTENSIONS) this.#state = BAD;
  }

  #endExtension(at: number): void {
    this.#state = EXTENSIONS.test(this.#extension) ? SIZE_LF : BAD;
    if (!this.#unwrapped) this.#due = at;
  }

  #beginTrailers(bytes: Buffer, at: number, sink: BodySink): void {
    this.#handOn(bytes, at, sink);
    this.#due = -1;
    this.#state = TRAILERS;
    this.#trailers = '';
    this.#trail(bytes[at] as number, sink);
  }

  #trail(octet: number, sink: BodySink): void {
    const previous = this.#trailers.charCodeAt(this.#trailers.length - 1);
    const lineEnds = octet === LF && previous === CR;
    if (previous === CR ? !lineEnds : octet !== CR && IS_TEXT[octet] !== 1) {
      this.#state = BAD;
      return;
    }
    this.#trailers += String.fromCharCode(octet);
    if (this.#trailers.length > MAX_TRAILERS) this.#state = BAD;
    else if (lineEnds && this.#trailers.endsWith('\r\n\r\n')) this.#endTrailers(sink);
  }

  #endTrailers(sink: BodySink): void {
    const text = this.#trailers.slice(0, -2);
    const fields = parseFields(text, 0);
    if (fields instanceof Refusal || fields.some((field) => REFUSED_TRAILERS.has(field.name))) {
      this.#state = BAD;
      return;
    }
    let kept = '';
    for (const field of fields) {
      const barred = NOT_IN_TRAILERS.has(field.name) || /^x[-_]forwarded/.test(field.name);
      if (!barred) kept += text.slice(field.start, field.end);
    }
    if (!this.#unwrapped) sink(Buffer.from(`${kept}\r\n`, 'latin1'));
    this.#state = DONE;
  }

  #handOn(bytes: Buffer, stop: number, sink: BodySink): void {
    if (this.#due >= 0 && stop > this.#due) sink(bytes.subarray(this.#due, stop));
  }
}
