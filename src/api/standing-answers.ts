/**
 * Answers that stand until something is committed: for what is asked over and over and made of the store alone, such as the
 * list of apps. The same question by the same token gets the same bytes again, without any of its steps; while they are being made,
 * whoever asks the same waits for them. An answer stands for STANDS_MS at most, because tokens expire without a commit.
 */
import { createHash } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { sizeOf } from './http/reply.ts';

interface StandingAnswersOptions {
  /** Paths without query, as they stand in the request line. */
  readonly paths: ReadonlySet<string>;
  /** See Store.version(). */
  readonly version: () => Promise<string>;
  /** Whether the question comes from somebody who needs no token. */
  readonly isTrusted: (request: IncomingMessage) => boolean;
  /** Answers with bytes that stand. */
  readonly answer: (request: IncomingMessage, response: ServerResponse, bytes: Buffer) => void;
}

interface Standing {
  readonly key: string;
  readonly version: string;
  readonly until: number;
  /** Null while it is being made. Of one that is asked for again it is one piece. */
  pieces: readonly Buffer[] | null;
  readonly waiting: { readonly serve: (bytes: Buffer) => void; readonly make: () => void }[];
}

const STANDS_MS = 3_000;
const MOST_BYTES = 32 * 1024 * 1024;
const MOST_ANSWERS = 1_000;
const LONGEST_URL = 1_024;

export class StandingAnswers {
  readonly #options: StandingAnswersOptions;
  /** Oldest first. */
  readonly #answers = new Map<string, Standing>();
  readonly #making = new WeakMap<IncomingMessage, Standing>();
  #bytes = 0;

  constructor(options: StandingAnswersOptions) {
    this.#options = options;
  }

  /** Calls `make` for whatever it has no answer to. */
  serve(request: IncomingMessage, response: ServerResponse, make: () => void): void {
    const key = this.#keyOf(request);
    if (key === null) return make();
    this.#options.version().then(
      (version) => this.#serve(key, version, request, response, make),
      // The operation itself reports what is wrong with the store.
      () => make(),
    );
  }

  /** To be called with what was made, before it is sent; for a request that nobody else may have the answer of it does nothing. */
  keep(request: IncomingMessage, pieces: readonly Buffer[]): void {
    const standing = this.#making.get(request);
    if (standing === undefined) return;
    this.#making.delete(request);
    standing.pieces = pieces;
    for (const { serve } of standing.waiting.splice(0)) serve(inOnePiece(standing, standing.pieces));
    if (this.#answers.get(standing.key) !== standing) return;
    this.#bytes += sizeOf(pieces);
    this.#forgetOldest();
  }

  #serve(key: string, version: string, request: IncomingMessage, response: ServerResponse, make: () => void): void {
    if (response.destroyed) return;
    const known = this.#answers.get(key);
    const serve = (bytes: Buffer): void => this.#options.answer(request, response, bytes);
    if (known === undefined || known.version !== version || known.until < performance.now()) {
      return this.#make(key, version, request, response, make);
    }
    if (known.pieces === null) known.waiting.push({ serve, make });
    else serve(inOnePiece(known, known.pieces));
  }

  #make(key: string, version: string, request: IncomingMessage, response: ServerResponse, make: () => void): void {
    this.#forget(key);
    const standing: Standing = { key, version, until: performance.now() + STANDS_MS, pieces: null, waiting: [] };
    this.#answers.set(key, standing);
    this.#making.set(request, standing);
    response.once('close', () => {
      // An error, or a client that left: the others have to ask for themselves.
      if (!this.#making.delete(request)) return;
      if (this.#answers.get(key) === standing) this.#forget(key);
      for (const waiting of standing.waiting.splice(0)) waiting.make();
    });
    make();
  }

  #keyOf(request: IncomingMessage): string | null {
    const { method, url = '', headers } = request;
    if (method !== 'GET' || headers.authorization === undefined || url.length > LONGEST_URL) return null;
    if (!this.#options.paths.has(url.split('?', 1)[0] ?? '') || this.#options.isTrusted(request)) return null;
    if (headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined) return null;
    return `${url}\n${createHash('sha256').update(headers.authorization).digest('base64')}`;
  }

  #forget(key: string): void {
    this.#bytes -= sizeOf(this.#answers.get(key)?.pieces ?? []);
    this.#answers.delete(key);
  }

  #forgetOldest(): void {
    for (const key of this.#answers.keys()) {
      if (this.#bytes <= MOST_BYTES && this.#answers.size <= MOST_ANSWERS) return;
      this.#forget(key);
    }
  }
}

/** What is sent many times is put together once. */
function inOnePiece(standing: Standing, pieces: readonly Buffer[]): Buffer {
  const [first, ...others] = pieces;
  if (first !== undefined && others.length === 0) return first;
  const whole = Buffer.concat(pieces);
  standing.pieces = [whole];
  return whole;
}
