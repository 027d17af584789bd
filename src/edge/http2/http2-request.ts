import type { ServerHttp2Stream } from 'node:http2';
import type { RequestHead } from '../http/request-head.ts';
import { parseResponseHead } from '../http/response-head.ts';
import { Refusal } from '../http/refusal.ts';
import type { ClientUser } from '../proxy/client-user.ts';
import type { Watched } from '../proxy/deadlines.ts';
import type { Plane } from '../proxy/plane.ts';
import type { RefusedRequest } from '../proxy/refusals.ts';
import type { Requester } from '../proxy/requester.ts';
import { refusalPage } from '../rewrite/refusal-page.ts';

const INTERNAL_ERROR = 2;
const HEAD_END = '\r\n\r\n';
/** Of a connection of HTTP/1.1; HTTP/2 forbids them. */
const NOT_IN_HTTP2 = new Set(['connection', 'transfer-encoding', 'http2-settings']);

/**
 * One stream of HTTP/2 as an exchange sees its client: the body comes as it would in HTTP/1.1, framed as the head announces it, and
 * what is written is read as an answer of HTTP/1.1 whose body is bare, and put into frames.
 */
export class Http2Request implements Requester, Watched {
  deadline = Number.POSITIVE_INFINITY;
  /** True while what was written has not left this process. */
  blocked = false;
  readonly #plane: Plane;
  readonly #stream: ServerHttp2Stream;
  readonly #method: string;
  /** The body comes in chunks of our making, for nobody has said how long it is. */
  readonly #isChunked: boolean;
  #user: ClientUser | null = null;
  #stash: Buffer | null = null;
  #stashAt = 0;
  #isPumping = false;
  #isAnswered = false;
  #isGone = false;

  constructor(plane: Plane, stream: ServerHttp2Stream, how: { readonly method: string; readonly isChunked: boolean }) {
    this.#plane = plane;
    this.#stream = stream;
    this.#method = how.method;
    this.#isChunked = how.isChunked;
    plane.deadlines.watch(this);
    stream.on('data', (chunk: Buffer) => this.#receive(this.#framed(chunk)));
    stream.on('end', () => {
      if (this.#isChunked) this.#receive(Buffer.from('0\r\n\r\n'));
    });
    // The reason does not matter: 'close' follows.
    stream.on('error', () => {});
    stream.on('close', () => this.#close());
  }

  get bytesAtHand(): number {
    return this.#stash === null ? 0 : this.#stash.length - this.#stashAt;
  }

  /** From now on what comes and goes is its. */
  begin(user: ClientUser): void {
    this.#user = user;
  }

  arm(ms: number): void {
    this.deadline = this.#plane.deadlines.after(ms);
  }

  expire(): void {
    if (this.#user === null) this.abort();
    else this.#user.expire();
  }

  write(data: string | Buffer): void {
    if (this.#isGone || this.#stream.destroyed || this.#stream.closed) return;
    if (this.#isAnswered) this.#send(typeof data === 'string' ? Buffer.from(data, 'latin1') : data);
    else this.#answer(typeof data === 'string' ? data : data.toString('latin1'));
  }

  beginAnswer(head: string, body: Buffer): void {
    this.write(head);
    this.write(body);
  }

  /** Frames are gathered below. */
  cork(): void {}

  uncork(): void {}

  endWriting(): void {
    this.#stream.end();
  }

  abort(): void {
    this.#stream.close(INTERNAL_ERROR);
  }

  cut(): void {
    this.#user?.cut();
  }

  /** No upgrade is asked for in HTTP/2, so none is granted. */
  handTo(): void {
    this.abort();
  }

  exchangeDone(): void {
    this.#user = null;
    // The client may take no more of it.
    this.arm(this.#plane.settings.timeouts.stallMs);
    if (this.#isGone || this.#stream.destroyed) return;
    this.#stream.end();
    // Nobody wants the rest of the body.
    if (!this.#stream.readableEnded) this.#stream.resume();
    this.#stash = null;
  }

  refuseRequest(refused: RefusedRequest, app: string | null, request: { head: RequestHead; requestId: string }): void {
    const { status, detail, retryAfter, html } = refused;
    const { accept, method } = request.head;
    const page = {
      status,
      detail,
      app,
      requestId: request.requestId,
      retryAfter,
      accept,
      method,
      html,
      keepAlive: true,
    };
    this.respond(refusalPage(page));
  }

  /** A whole answer of the edge's own. */
  respond(answer: string): void {
    this.write(Buffer.from(answer));
    this.exchangeDone();
  }

  pump(): void {
    if (this.#isPumping) return;
    this.#isPumping = true;
    while (this.#stash !== null && this.#user?.wantsBytes === true && !this.#isGone) {
      this.#stashAt += this.#user.clientSent(this.#stash, this.#stashAt, this.#stash.length);
      if (this.#stash !== null && this.#stashAt >= this.#stash.length) this.#stash = null;
    }
    this.#isPumping = false;
    if (this.#isGone) return;
    if (this.#stash !== null) this.#stream.pause();
    else if (this.#stream.isPaused()) this.#stream.resume();
  }

  #framed(chunk: Buffer): Buffer {
    if (!this.#isChunked || chunk.length === 0) return chunk;
    return Buffer.concat([Buffer.from(`${chunk.length.toString(16)}\r\n`), chunk, Buffer.from('\r\n')]);
  }

  #receive(bytes: Buffer): void {
    // The answer is out, and nobody takes more.
    if (this.#user === null) return;
    this.#stash = this.#stash === null ? bytes : Buffer.concat([this.#stash.subarray(this.#stashAt), bytes]);
    this.#stashAt = 0;
    this.pump();
  }

  /** The head, and what of the body comes with it. */
  #answer(text: string): void {
    const end = text.indexOf(HEAD_END);
    const head = end < 0 ? null : parseResponseHead(text.slice(0, end + 2), this.#method);
    if (head === null || head instanceof Refusal) return this.abort();
    this.#isAnswered = true;
    const isBare = head.bodyLength === 0;
    const fields: string[] = [];
    for (const { name, value } of head.fields) if (!NOT_IN_HTTP2.has(name)) fields.push(name, value);
    try {
      this.#stream.respond([':status', String(head.status), ...fields], { endStream: isBare });
    } catch {
      // What Node takes for no answer is one of this unit: nobody else's requests end with it.
      return this.abort();
    }
    const body = text.slice(end + HEAD_END.length);
    if (!isBare && body !== '') this.#send(Buffer.from(body, 'latin1'));
  }

  #send(bytes: Buffer): void {
    if (bytes.length === 0 || this.#stream.writableEnded) return;
    this.#stream.write(bytes, () => this.#written());
    this.blocked = this.#stream.writableLength > 0;
  }

  #written(): void {
    if (!this.blocked || this.#stream.writableLength > 0 || this.#isGone) return;
    this.blocked = false;
    this.#user?.clientFlushed();
    this.pump();
  }

  #close(): void {
    this.#isGone = true;
    this.#plane.deadlines.forget(this);
    const user = this.#user;
    this.#user = null;
    user?.clientGone();
  }
}
