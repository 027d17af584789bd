import { Refusal } from './refusal.ts';

/** Body length of a message whose end is told by chunks. */
export const CHUNKED = -1;
/** Body length of a response that ends with its connection. */
export const UNTIL_CLOSE = -2;

const LENGTH = /^[0-9]{1,15}$/;

/** What the fields of one message say about its body; filled while the fields are read. */
export class Framing {
  /** Number of bytes, CHUNKED, or null when no field says. */
  length: number | null = null;
  refusal: Refusal | null = null;
  #lengths = 0;
  #codings = 0;

  contentLength(value: string): void {
    this.#lengths++;
    if (!LENGTH.test(value)) this.refusal = new Refusal(400, 'The Content-Length is not a number.');
    else if (this.#lengths > 1) this.refusal = new Refusal(400, 'There is more than one Content-Length.');
    else if (this.#codings > 0) this.refusal = bothFramings();
    else this.length = Number(value);
  }

  transferEncoding(value: string, minorVersion: number): void {
    this.#codings++;
    if (minorVersion === 0) this.refusal = new Refusal(400, 'HTTP/1.0 has no Transfer-Encoding.');
    else if (this.#codings > 1) this.refusal = new Refusal(400, 'There is more than one Transfer-Encoding.');
    else if (this.#lengths > 0) this.refusal = bothFramings();
    else if (value.toLowerCase() !== 'chunked') this.refusal = new Refusal(501, 'Only the transfer coding chunked.');
    else this.length = CHUNKED;
  }
}

function bothFramings(): Refusal {
  return new Refusal(400, 'There is a Content-Length beside a Transfer-Encoding.');
}
