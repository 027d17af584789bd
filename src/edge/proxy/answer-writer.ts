import type { Requester } from './requester.ts';

/** Pieces up to this size are copied behind the head; what is larger gets the head before it. */
const JOIN_BYTES = 8_192;

/** Writes one final answer to the client: the head together with the first piece, then the body as it comes. */
export class AnswerWriter {
  readonly #client: Requester;
  readonly #chunkIt: boolean;
  #head: string;

  /** `chunkIt`: the pieces are bare data and become chunks. */
  constructor(client: Requester, head: string, chunkIt: boolean) {
    this.#client = client;
    this.#head = head;
    this.#chunkIt = chunkIt;
  }

  readonly piece = (bytes: Buffer): void => {
    const head = this.#head;
    this.#head = '';
    if (this.#chunkIt) {
      this.#client.cork();
      this.#client.write(`${head}${bytes.length.toString(16)}\r\n`);
      this.#client.write(bytes);
      this.#client.write('\r\n');
      this.#client.uncork();
    } else if (head === '') {
      this.#client.write(bytes);
    } else if (bytes.length <= JOIN_BYTES) {
      this.#client.write(head + bytes.toString('latin1'));
    } else {
      this.#client.beginAnswer(head, bytes);
    }
  };

  /** Nothing more is at hand: lets go of the head if it still waits for a body. */
  flush(): void {
    if (this.#head === '') return;
    this.#client.write(this.#head);
    this.#head = '';
  }

  /** The body is whole. */
  finish(): void {
    if (this.#chunkIt) this.#client.write(`${this.#head}0\r\n\r\n`);
    else this.flush();
    this.#head = '';
  }
}
