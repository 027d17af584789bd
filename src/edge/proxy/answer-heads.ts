import { HEAD_MORE, HEAD_TOO_LARGE, HeadReader } from '../http/head-reader.ts';
import { Refusal } from '../http/refusal.ts';
import type { RequestHead } from '../http/request-head.ts';
import { parseResponseHead, type ResponseHead } from '../http/response-head.ts';
import { interimHead } from '../rewrite/heads.ts';
import type { Requester } from './requester.ts';

const MAX_INTERIM = 32;

/** Reads the heads of a unit's answer: passes interim ones on, and gives the last one. */
export class AnswerHeads {
  /** Just past the head read last. */
  at = 0;
  readonly #client: Requester;
  readonly #request: RequestHead;
  readonly #requestId: string;
  readonly #headBytes: number;
  readonly #reader: HeadReader;
  #interims = 0;

  constructor(client: Requester, request: { head: RequestHead; requestId: string }, headBytes: number) {
    this.#client = client;
    this.#request = request.head;
    this.#requestId = request.requestId;
    this.#headBytes = headBytes;
    this.#reader = new HeadReader(headBytes, 0);
  }

  /** The final head in bytes[0, size), or that of a switch of protocols; null while it is not complete, a Refusal when it is none. */
  read(bytes: Buffer, size: number): ResponseHead | Refusal | null {
    for (let from = 0; from < size; from = this.at) {
      const stop = this.#reader.read(bytes, from, size);
      if (stop === HEAD_MORE) return null;
      if (stop === HEAD_TOO_LARGE) return new Refusal(502, `The head is longer than ${this.#headBytes} bytes.`);
      if (stop < 0) return new Refusal(502, 'The head is malformed.');
      this.at = stop;
      const head = parseResponseHead(this.#reader.text, this.#request.method);
      if (head instanceof Refusal || head.status >= 200 || head.status === 101) return head;
      if (++this.#interims > MAX_INTERIM) return new Refusal(502, 'There is no end of interim answers.');
      this.#passOn(head);
    }
    return null;
  }

  #passOn(head: ResponseHead): void {
    const isWanted = this.#request.minorVersion === 1 && (head.status !== 100 || this.#request.expectsContinue);
    if (isWanted) this.#client.write(interimHead(head, this.#requestId, null));
  }
}
