/** The answer to one request: sent whole and once, or written piece by piece by whoever takes it as a stream. */
import type { ServerResponse } from 'node:http';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { JSON_TYPE } from '../answer-headers.ts';
import { ResponseStream } from '../response-stream.ts';

type Headers = Readonly<Record<string, string>>;

export class Reply {
  readonly #response: ServerResponse;
  #headers: Headers;
  #isTaken = false;

  /** `headers` are those of every answer. */
  constructor(response: ServerResponse, headers: Headers) {
    this.#response = response;
    this.#headers = headers;
  }

  /** Nothing else can be answered any more. */
  get isTaken(): boolean {
    return this.#isTaken;
  }

  /** For whatever is going to be answered. */
  addHeaders(headers: Headers): void {
    this.#headers = { ...this.#headers, ...headers };
  }

  /** In pieces, it is all of them, one after the other. */
  json(text: string | readonly Uint8Array[]): void {
    this.send(200, text, { 'content-type': JSON_TYPE });
  }

  send(status: number, body: string | readonly Uint8Array[], headers: Headers = {}): void {
    if (this.#isTaken || this.#response.destroyed) return;
    this.#isTaken = true;
    // Those two have no body, and may not name the size of one.
    const hasBody = status !== 204 && status !== 304;
    this.#response.writeHead(status, {
      ...this.#headers,
      ...headers,
      ...(hasBody && { 'content-length': sizeOf(body) }),
    });
    // Node leaves the body of an answer to HEAD away.
    if (!hasBody || typeof body === 'string') return void this.#response.end(hasBody ? body : undefined);
    // So that all of them are one write.
    this.#response.cork();
    for (const piece of body) this.#response.write(piece);
    this.#response.end();
  }

  /** As send(), with a body that comes piece by piece. Rejects when it breaks off; until its first piece an error can still be answered. */
  async pass(status: number, body: Readable, headers: Headers): Promise<void> {
    const pieces = body.iterator() as AsyncIterableIterator<Uint8Array>;
    const first = await pieces.next();
    if (this.#isTaken || this.#response.destroyed) return void body.destroy();
    this.#isTaken = true;
    this.#response.writeHead(status, { ...this.#headers, ...headers });
    await pipeline(withFirst(first, pieces), this.#response);
  }

  /** The answer is taken with the first piece: what goes wrong before it can still be answered as an error. */
  stream(): ResponseStream {
    return new ResponseStream(this.#response, () => {
      this.#isTaken = true;
      return this.#headers;
    });
  }

  /** Ends what cannot be answered properly any more, so that the client does not take it for whole. */
  cut(): void {
    if (!this.#response.writableEnded) this.#response.destroy();
  }
}

async function* withFirst(
  first: IteratorResult<Uint8Array>,
  rest: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  if (first.done === true) return;
  yield first.value;
  yield* rest;
}

export function sizeOf(body: string | readonly Uint8Array[]): number {
  return typeof body === 'string' ? Buffer.byteLength(body) : body.reduce((sum, { length }) => sum + length, 0);
}
