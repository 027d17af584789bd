import { BODY_BAD } from '../http/body-reader.ts';
import type { BodyReader } from '../http/body-reader.ts';
import { bodyReader } from '../http/body.ts';
import type { RequestHead } from '../http/request-head.ts';
import type { ResponseHead } from '../http/response-head.ts';
import { AnswerWriter } from './answer-writer.ts';
import type { Requester } from './requester.ts';
import { answerForm, headForClient, type OwnFields } from '../rewrite/heads.ts';

/** One final answer on its way from the unit to the client. */
export class UnitAnswer {
  readonly head: ResponseHead;
  /** Whether the client's connection may serve another request after this answer. */
  readonly keepAlive: boolean;
  /** The whole answer has been written to the client. */
  done = false;
  /** The unit sent more than its answer: its connection cannot be trusted any more. */
  excess = false;
  readonly #body: BodyReader | null;
  readonly #writer: AnswerWriter;

  constructor(
    client: Requester,
    request: RequestHead,
    how: { head: ResponseHead; mayKeepAlive: boolean; own: OwnFields },
  ) {
    this.head = how.head;
    const form = answerForm(request, this.head, how.mayKeepAlive);
    this.keepAlive = form.keepAlive;
    this.#body = this.head.bodyLength === 0 ? null : bodyReader(this.head.bodyLength, form.unwrap);
    this.#writer = new AnswerWriter(client, headForClient(request, this.head, form, how.own), form.chunkIt);
  }

  /** Forwards bytes[from, end); false when they break the framing. */
  take(bytes: Buffer, from: number, end: number): boolean {
    if (this.done) {
      this.excess = this.excess || end > from;
      return true;
    }
    let at = from;
    if (this.#body !== null && end > from) {
      const taken = this.#body.take(bytes, from, end, this.#writer.piece);
      if (taken === BODY_BAD) return false;
      at += taken;
    }
    if (this.#body === null || this.#body.done) this.#finish(end > at);
    else this.#writer.flush();
    return true;
  }

  /** The unit's connection has ended; false when that cuts the answer short. */
  ended(): boolean {
    if (this.done) return true;
    if (this.#body?.ended() !== true) return false;
    this.#finish(false);
    return true;
  }

  #finish(excess: boolean): void {
    this.#writer.finish();
    this.excess = excess;
    this.done = true;
  }
}
