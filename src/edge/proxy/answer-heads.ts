import { HEAD_MORE, HeadReader } from '../http/head-reader.ts';
import { Refusal } from '../http/refusal.ts';
import { parseResponseHead, type ResponseHead } from '../http/response-head.ts';

const MAX_INTERIM = 32;

/** Reads the heads of a unit's answer: interim ones, and the final one. */
export class AnswerHeads {
  /** Just past the head read last. */
  at = 0;
  readonly #method: string;
  readonly #reader: HeadReader;
  #interims = 0;

  /** `method` is the request's. */
  constructor(headBytes: number, method: string) {
    this.#method = method;
    this.#reader = new HeadReader(headBytes, 0);
  }

  /** The next head in bytes[from, size); null when it is not complete yet, a Refusal when it is none. */
  next(bytes: Buffer, from: number, size: number): ResponseHead | Refusal | null {
    if (from >= size) return null;
    const stop = this.#reader.read(bytes, from, size);
    if (stop === HEAD_MORE) return null;
    this.at = stop;
    if (stop < 0) return new Refusal(502, 'The head is malformed.');
    const head = parseResponseHead(this.#reader.text, this.#method);
    const isInterim = !(head instanceof Refusal) && head.status < 200 && head.status !== 101;
    return isInterim && ++this.#interims > MAX_INTERIM ? new Refusal(502, 'There is no end of interim answers.') : head;
  }
}
