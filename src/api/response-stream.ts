/**
 * An answer that is written piece by piece. The status line is held back until the first piece is sent, so that whatever
 * fails before that is still answered with a proper status. A client that does not read is cut off, never buffered without end.
 */
import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { drained } from '../lib/drained.ts';

const MAX_UNREAD_BYTES = 4 * 1024 * 1024;

export class ResponseStream {
  readonly #response: ServerResponse;
  readonly #begin: () => OutgoingHttpHeaders;
  #started = false;

  /** `begin` is called once, right before the status line; it gives the headers of every answer. */
  constructor(response: ServerResponse, begin: () => OutgoingHttpHeaders) {
    this.#response = response;
    this.#begin = begin;
  }

  get started(): boolean {
    return this.#started;
  }

  /** A `trailer` is left out where the client's HTTP has none. */
  start(headers: OutgoingHttpHeaders): void {
    if (this.#started) return;
    this.#started = true;
    const { trailer, ...others } = headers;
    // Node throws where trailers are named and there can be none: HTTP/1.0 has no chunks.
    const named = trailer !== undefined && this.#response.useChunkedEncodingByDefault ? { trailer } : {};
    this.#response.writeHead(200, { ...this.#begin(), ...others, ...named });
    this.#response.flushHeaders();
  }

  write(piece: string | Uint8Array): void {
    if (this.#response.destroyed || this.#response.writableEnded) return;
    this.#response.write(piece);
    if (this.#response.writableLength > MAX_UNREAD_BYTES) this.#response.destroy();
  }

  /** The client has not read enough of what was written for more to be sent. */
  get isBehind(): boolean {
    return !this.#response.destroyed && this.#response.writableNeedDrain;
  }

  /** Resolves when what was written has left, or never will. */
  drained(): Promise<void> {
    return drained(this.#response);
  }

  /** Trailers are sent where start() has named them. */
  end(trailers?: Readonly<Record<string, string>>): void {
    if (this.#response.destroyed) return;
    if (trailers !== undefined) this.#response.addTrailers(trailers);
    this.#response.end();
  }
}
