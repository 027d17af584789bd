import type { Field } from './fields.ts';
import { Refusal } from './refusal.ts';

/** Body length of a message in chunks, the last of which is its end. */
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

  /** `text` is the head that `field` was read from. */
  contentLength(text: string, field: Field): void {
    const { value } = field;
    this.#lengths++;
    if (hasTab(text, field)) this.refusal = tabInside('Content-Length');
    else if (!LENGTH.test(value)) this.refusal = new Refusal(400, 'The Content-Length is not a number.');
    else if (this.#lengths > 1) this.refusal = new Refusal(400, 'There is more than one Content-Length.');
    else if (this.#codings > 0) this.refusal = bothFramings();
    else this.length = Number(value);
  }

  transferEncoding(text: string, field: Field, minorVersion: number): void {
    const { value } = field;
    this.#codings++;
    if (hasTab(text, field)) this.refusal = tabInside('Transfer-Encoding');
    else if (minorVersion === 0) this.refusal = new Refusal(400, 'HTTP/1.0 has no Transfer-Encoding.');
    else if (this.#codings > 1) this.refusal = new Refusal(400, 'There is more than one Transfer-Encoding.');
    else if (this.#lengths > 0) this.refusal = bothFramings();
    else if (value.toLowerCase() !== 'chunked') this.refusal = new Refusal(501, 'Only the transfer coding chunked.');
    else this.length = CHUNKED;
  }
}

/** A tab may stand beside a value, but servers differ in whether it is part of it, and a body must end at one place. */
function hasTab(text: string, { start, end }: Field): boolean {
  const tab = text.indexOf('\t', start);
  return tab !== -1 && tab < end;
}

function tabInside(name: string): Refusal {
  return new Refusal(400, `There is a tab in the ${name}.`);
}

function bothFramings(): Refusal {
  return new Refusal(400, 'There is a Content-Length beside a Transfer-Encoding.');
}
