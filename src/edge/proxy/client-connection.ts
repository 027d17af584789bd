import type { Socket } from 'node:net';
import type { GatedConnection } from '../../lib/connection-gate.ts';
import { HEAD_BAD, HEAD_MORE, HEAD_TOO_LARGE, HeadReader } from '../http/head-reader.ts';
import { Refusal } from '../http/refusal.ts';
import type { RequestHead } from '../http/request-head.ts';
import { parseRequestHead } from '../http/request-head.ts';
import { ClientPeer } from './client-peer.ts';
import type { ClientUser } from './client-user.ts';
import type { Watched } from './deadlines.ts';
import { Exchange } from './exchange.ts';
import { RoutedRequest } from './routed-request.ts';
import { ownAnswer } from '../rewrite/own-answer.ts';
import { noteOwnAnswer, ownAnswerTo } from './own-answers.ts';
import type { EdgeClientConnection } from './client.ts';
import type { Plane } from './plane.ts';
import type { Requester } from './requester.ts';
import { noApp, type RefusedRequest } from './refusals.ts';
import { refusalPage } from '../rewrite/refusal-page.ts';
import { requestIdFor } from '../rewrite/request-id.ts';

/** Empty lines passed over before a request line (RFC 9112 section 2.2). */
const BLANK_LINES = 4;

/**
 * One client connection: reads heads, gives each request to an exchange, one at a time and in order, and keeps the
 * bytes of later requests until their turn. Knows nothing of units.
 */
export class ClientConnection implements EdgeClientConnection, Requester, Watched, GatedConnection {
  deadline = Number.POSITIVE_INFINITY;
  blocked = false;
  readonly #plane: Plane;
  readonly #socket: Socket;
  readonly #reader: HeadReader;
  readonly #peer: ClientPeer;
  #user: ClientUser | null = null;
  #stash: Buffer | null = null;
  #stashAt = 0;
  #pumping = false;
  #paused = false;
  #inHead = false;
  /** The client has closed its sending side. */
  #ended = false;
  /** Whoever is at work knows it. */
  #endReported = false;
  #lingering = false;
  #gone = false;
  readonly #written = (): void => {
    if (!this.blocked || this.#socket.writableLength > 0 || this.#gone) return;
    this.blocked = false;
    this.#user?.clientFlushed();
    this.pump();
  };

  /** `peer`: of a connection that has been read from before. */
  constructor(plane: Plane, socket: Socket, peer?: ClientPeer) {
    this.#plane = plane;
    this.#socket = socket;
    this.#reader = new HeadReader(plane.settings.limits.headBytes, BLANK_LINES);
    this.#peer = peer ?? new ClientPeer(plane, socket, false);
    this.arm(plane.settings.timeouts.firstByteMs);
    plane.deadlines.watch(this);
    socket.on('data', (chunk: Buffer) => this.#receive(chunk));
    socket.on('end', () => this.#end());
    // The reason does not matter here: 'close' follows and ends everything.
    socket.on('error', () => {});
    socket.on('close', () => {
      this.#gone = true;
      plane.deadlines.forget(this);
      const user = this.#user;
      this.#user = null;
      user?.clientGone();
    });
  }

  get busy(): boolean {
    return !this.#gone && (this.blocked || this.#user?.endsByItself === true);
  }

  /** Of the other end of the connection, be it a client or a proxy. */
  get address(): string {
    return this.#peer.address;
  }

  get isTrusted(): boolean {
    return this.#peer.isTrusted;
  }

  /** Between two requests, or before the first. */
  get isWaiting(): boolean {
    return this.#user === null && !this.blocked && !this.#gone && !this.#socket.destroyed;
  }

  /** It is a tunnel's. */
  get isLasting(): boolean {
    return this.#user?.endsByItself === false && !this.#gone && !this.#socket.destroyed;
  }

  close(): void {
    this.abort();
  }

  get bytesAtHand(): number {
    return this.#stash === null ? 0 : this.#stash.length - this.#stashAt;
  }

  /** Sets the only deadline of this connection; the user, or reading, hears of it by expire(). */
  arm(ms: number): void {
    this.deadline = this.#plane.deadlines.after(ms);
  }

  write(data: string | Buffer): void {
    if (this.#gone) return;
    if (typeof data === 'string') this.#socket.write(data, 'latin1', this.#written);
    else this.#socket.write(data, this.#written);
    this.blocked = this.#socket.writableLength > 0;
  }

  /** Writes both in one system call. */
  beginAnswer(head: string, body: Buffer): void {
    const from = body.byteOffset - head.length;
    if (from < 0) {
      this.cork();
      this.write(head);
      this.write(body);
      this.uncork();
      return;
    }
    const whole = Buffer.from(body.buffer, from, head.length + body.length);
    whole.write(head, 'latin1');
    this.write(whole);
  }

  cork(): void {
    this.#socket.cork();
  }

  uncork(): void {
    this.#socket.uncork();
    this.blocked = this.#socket.writableLength > 0;
  }

  endWriting(): void {
    this.#socket.end();
  }

  abort(): void {
    this.#socket.destroy();
  }

  cut(): void {
    this.#user?.cut();
    this.#socket.destroy();
  }

  exchangeDone(keepAlive: boolean): void {
    this.#user = null;
    if (!keepAlive || this.#plane.stopping) this.#linger();
    else this.arm(this.#plane.settings.timeouts.idleMs);
    this.#endReported = false;
    this.pump();
  }

  refuseRequest(refused: RefusedRequest, app: string | null, request: { head: RequestHead; requestId: string }): void {
    const { status, detail, retryAfter, html } = refused;
    const { accept } = request.head;
    const page = { status, detail, app, requestId: request.requestId, retryAfter, accept, html };
    this.#answer(request.head, (how) => refusalPage({ ...page, ...how }));
  }

  /** Writes a whole answer of the edge's own, which ends the request. */
  #answer(head: RequestHead, answer: (how: { readonly method: string; readonly keepAlive: boolean }) => string): void {
    const keepAlive = head.keepAlive && head.bodyLength === 0 && !this.#plane.draining;
    this.write(Buffer.from(answer({ method: head.method, keepAlive })));
    this.exchangeDone(keepAlive);
  }

  handTo(tunnel: ClientUser): void {
    this.#user = tunnel;
    this.#endReported = false;
  }

  closeWhenIdle(): void {
    if (this.#user === null && !this.#inHead && !this.#lingering) this.#linger();
  }

  /** Works off what has been received, as far as the user or the client's reading allows. */
  pump(): void {
    if (this.#pumping) return;
    this.#pumping = true;
    while (this.#stash !== null && !this.#gone && this.#step(this.#stash));
    this.#pumping = false;
    if (this.#ended && this.#stash === null) this.#reportEnd();
    const pause = this.#stash !== null;
    if (pause === this.#paused || this.#gone) return;
    this.#paused = pause;
    if (pause) this.#socket.pause();
    else this.#socket.resume();
  }

  expire(): void {
    if (this.#user !== null) this.#user.expire();
    else if (this.#lingering) this.#socket.destroy();
    else if (this.#inHead) this.#refuse(new Refusal(408, 'The request took too long to arrive.'));
    else this.#linger();
  }

  #receive(chunk: Buffer): void {
    if (this.#lingering) return;
    if (this.#stash === null) {
      this.#stash = chunk;
      this.#stashAt = 0;
    } else {
      this.#stash = Buffer.concat([this.#stash.subarray(this.#stashAt), chunk]);
      this.#stashAt = 0;
    }
    this.pump();
  }

  /** One stretch of bytes; false when there is nothing to do until something else happens. */
  #step(bytes: Buffer): boolean {
    const user = this.#user;
    if (user !== null) {
      if (!user.wantsBytes) return false;
      this.#advance(user.clientSent(bytes, this.#stashAt, bytes.length));
      return true;
    }
    if (this.#lingering) {
      this.#stash = null;
      return false;
    }
    if (this.#peer.owesHeader) return this.#readProxyHeader(bytes);
    return this.blocked ? false : this.#readHead(bytes);
  }

  #advance(by: number): void {
    this.#stashAt += by;
    if (this.#stash !== null && this.#stashAt >= this.#stash.length) this.#stash = null;
  }

  #readProxyHeader(bytes: Buffer): boolean {
    const from = this.#stashAt;
    const stop = this.#peer.readHeader(bytes, from, bytes.length);
    if (stop === HEAD_MORE) {
      this.#awaitRest();
      return false;
    }
    this.#inHead = false;
    if (stop === HEAD_BAD) {
      this.#refuse(new Refusal(400, 'The connection does not begin with a header of the PROXY protocol.'));
      return false;
    }
    this.#advance(stop - from);
    return true;
  }

  /** The beginning of a head has been taken; the rest must come in time. */
  #awaitRest(): void {
    this.#stash = null;
    if (!this.#inHead) this.arm(this.#plane.settings.timeouts.headMs);
    this.#inHead = true;
  }

  #readHead(bytes: Buffer): boolean {
    const from = this.#stashAt;
    const stop = this.#reader.read(bytes, from, bytes.length);
    if (stop === HEAD_MORE) {
      this.#awaitRest();
      return false;
    }
    this.#inHead = false;
    if (stop < 0) {
      const tooLarge = new Refusal(431, `The head is longer than ${this.#plane.settings.limits.headBytes} bytes.`);
      this.#refuse(stop === HEAD_TOO_LARGE ? tooLarge : new Refusal(400, 'The head holds a byte it must not hold.'));
      return false;
    }
    const head = parseRequestHead(this.#reader.text);
    this.#advance(stop - from);
    if (head instanceof Refusal) this.#refuse(head);
    else this.#begin(head);
    return true;
  }

  #begin(head: RequestHead): void {
    const requestId = requestIdFor(head.requestId);
    const host = head.host.name;
    const route = this.#plane.table.match(host);
    const origin = this.#peer.originOf(head);
    const own = ownAnswerTo(this.#plane, head, { route, origin });
    if (own !== null) {
      noteOwnAnswer(this.#plane, own, { head, requestId, origin, route });
      this.#answer(head, (how) => ownAnswer({ ...own, ...how, requestId }));
      return;
    }
    if (route !== null) {
      const exchange = new Exchange(this.#plane, this, new RoutedRequest(head, requestId, origin, route));
      this.#user = exchange;
      exchange.start();
      return;
    }
    this.refuseRequest(noApp(host, this.#plane.table), null, { head, requestId });
  }

  /** Answers what could not be read as a request, and reads no further. */
  #refuse(refusal: Refusal): void {
    const page = {
      status: refusal.status,
      detail: refusal.reason,
      app: null,
      requestId: requestIdFor(null),
      retryAfter: null,
      accept: '',
      method: 'GET',
      keepAlive: false,
    };
    this.write(Buffer.from(refusalPage(page)));
    this.#linger();
  }

  /**
   * Sends the end of the stream and goes on reading for a while without looking: closing at once while the client still
   * sends would make its kernel throw the last answer away.
   */
  #linger(): void {
    this.#lingering = true;
    this.#inHead = false;
    this.#stash = null;
    this.#socket.end();
    this.arm(this.#plane.settings.timeouts.lingerMs);
    if (this.#paused) {
      this.#paused = false;
      this.#socket.resume();
    }
  }

  #end(): void {
    this.#ended = true;
    this.pump();
  }

  /** Nothing more comes of the client, and what came before has been worked off. */
  #reportEnd(): void {
    if (this.#endReported || this.#gone) return;
    this.#endReported = true;
    if (this.#user !== null) this.#user.clientEnded();
    else if (!this.#lingering) this.#linger();
  }
}
