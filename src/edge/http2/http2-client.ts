import { performServerHandshake, constants, type ServerHttp2Session, type ServerHttp2Stream } from 'node:http2';
import type { TLSSocket } from 'node:tls';
import type { GatedConnection } from '../../lib/connection-gate.ts';
import { addressGroup } from '../../lib/trusted-proxies.ts';
import { Refusal } from '../http/refusal.ts';
import { ownAnswer } from '../rewrite/own-answer.ts';
import { refusalPage } from '../rewrite/refusal-page.ts';
import { requestIdFor } from '../rewrite/request-id.ts';
import type { EdgeClientConnection } from '../proxy/client.ts';
import type { ClientPeer } from '../proxy/client-peer.ts';
import type { Watched } from '../proxy/deadlines.ts';
import { Exchange } from '../proxy/exchange.ts';
import { RoutedRequest } from '../proxy/routed-request.ts';
import { noteOwnAnswer, ownAnswerTo } from '../proxy/own-answers.ts';
import type { Plane } from '../proxy/plane.ts';
import { noApp } from '../proxy/refusals.ts';
import { MAX_FIELDS } from '../http/fields.ts';
import { type Http2Head, parseHttp2Head } from './http2-head.ts';
import { Http2Request } from './http2-request.ts';

const STREAMS = 100;
/** As much of a body may be under way to a unit that does not read. */
const WINDOW_BYTES = 131_072;
const SESSION_MB = 16;
/** Streams that a client may reset in a burst, and per second after it: more is the attack "rapid reset". */
const RESET_BURST = 200;
const RESETS_PER_SECOND = 20;
/** Frames that break the rules, and streams beyond the limit, that are borne before the connection ends. */
const MOST_INVALID = 32;
const MOST_SETTINGS = 32;
/** A client's connection that speaks HTTP/2: every stream of it is a request as any other. */
export class Http2Client implements EdgeClientConnection, GatedConnection, Watched {
  deadline = Number.POSITIVE_INFINITY;
  readonly #plane: Plane;
  readonly #session: ServerHttp2Session;
  readonly #socket: TLSSocket;
  readonly #peer: ClientPeer;
  /** Of its address; null: that of a trusted proxy. */
  readonly #group: string | null;
  readonly #requests = new Set<Http2Request>();
  /** By the clock of Deadlines; null before it is asked to leave. */
  #leavesAt: number | null = null;

  constructor(plane: Plane, socket: TLSSocket, peer: ClientPeer) {
    this.#plane = plane;
    this.#socket = socket;
    this.#peer = peer;
    this.#group = peer.isTrusted ? null : addressGroup(peer.address);
    const { headBytes } = plane.settings.limits;
    this.#session = performServerHandshake(socket, {
      settings: {
        ...{ enablePush: false, maxConcurrentStreams: STREAMS, initialWindowSize: WINDOW_BYTES },
        maxHeaderListSize: headBytes,
      },
      ...{ maxSessionMemory: SESSION_MB, maxHeaderListPairs: MAX_FIELDS, maxSettings: MOST_SETTINGS },
      ...{ maxSessionInvalidFrames: MOST_INVALID, maxSessionRejectedStreams: MOST_INVALID },
      ...{ streamResetBurst: RESET_BURST, streamResetRate: RESETS_PER_SECOND },
      // Apps send some fields twice; what to make of it is for the client, as over HTTP/1.1.
      strictSingleValueFields: false,
    }) as ServerHttp2Session;
    this.#session.on('stream', (stream, _headers, flags, raw) => this.#begin(stream, flags, raw));
    // The reason does not matter: 'close' follows.
    this.#session.on('error', () => {});
    this.#session.on('close', () => plane.deadlines.forget(this));
    // Who sends no more cannot take more either, and has most likely left; that its socket is half open nobody else would notice.
    socket.once('end', () => this.close());
    plane.deadlines.watch(this);
    this.#armIdle();
  }

  get busy(): boolean {
    return this.#requests.size > 0;
  }

  get isWaiting(): boolean {
    return this.#requests.size === 0 && !this.#session.destroyed;
  }

  close(): void {
    this.#session.destroy();
  }

  closeWhenIdle(): void {
    if (!this.#session.closed) this.#session.close();
  }

  cut(): void {
    for (const request of [...this.#requests]) request.cut();
    this.#session.destroy();
  }

  /** Nothing has been asked for a while, or the client does not leave. */
  expire(): void {
    if (this.#requests.size > 0) return;
    if (this.#session.closed) this.#socket.destroy();
    else this.#session.close();
    this.deadline = this.#plane.deadlines.after(this.#plane.settings.timeouts.lingerMs);
  }

  #armIdle(): void {
    const { idleMs, quietMs, lingerMs } = this.#plane.settings.timeouts;
    const openMs = this.#plane.draining ? quietMs : idleMs;
    this.deadline = this.#plane.deadlines.after(this.#session.closed ? lingerMs : openMs);
  }

  #begin(stream: ServerHttp2Stream, flags: number, raw: readonly string[]): void {
    const hasBody = (flags & constants.NGHTTP2_FLAG_END_STREAM) === 0;
    const read = parseHttp2Head(raw, hasBody, this.#plane.settings.limits.headBytes);
    const isRefused = read instanceof Refusal;
    const how = isRefused
      ? { method: 'GET', isChunked: false }
      : { method: read.head.method, isChunked: read.isChunked };
    const leave = this.#enter();
    if (leave === null) {
      stream.on('error', () => {});
      stream.close(constants.NGHTTP2_REFUSED_STREAM);
      return;
    }
    const request = new Http2Request(this.#plane, stream, how);
    this.#requests.add(request);
    this.deadline = Number.POSITIVE_INFINITY;
    stream.once('close', () => {
      leave();
      this.#ended(request);
    });
    if (isRefused) refuse(request, read);
    else this.#serve(request, read);
    if (this.#plane.draining) this.#leave();
  }

  /** Null: its address has as many requests under way as it might with one on each connection. Nobody counts those of a trusted proxy. */
  #enter(): (() => void) | null {
    const group = this.#group;
    if (group === null) return () => {};
    const { streams, settings } = this.#plane;
    return streams.of(group) < settings.limits.connectionsPerAddress ? streams.enter(group) : null;
  }

  #serve(request: Http2Request, { head }: Http2Head): void {
    const requestId = requestIdFor(head.requestId);
    const origin = this.#peer.originOf(head);
    const route = this.#plane.table.match(head.host.name);
    const own = ownAnswerTo(this.#plane, head, { route, origin });
    if (own !== null) {
      noteOwnAnswer(this.#plane, own, { head, requestId, origin, route });
      request.respond(ownAnswer({ ...own, requestId, method: head.method, keepAlive: true }));
    } else if (route === null) {
      request.refuseRequest(noApp(head.host.name, this.#plane.table), null, { head, requestId });
    } else {
      const exchange = new Exchange(this.#plane, request, new RoutedRequest(head, requestId, origin, route));
      request.begin(exchange);
      exchange.start();
    }
  }

  #ended(request: Http2Request): void {
    this.#requests.delete(request);
    if (this.#requests.size === 0) this.#armIdle();
  }

  /**
   * Another edge has taken over. Node's HTTP/2 answers no request that comes after its GOAWAY, so that is not sent while the client is
   * likely to have sent some: once nothing is asked for a moment, or, where that never comes, with a number that says which of the client's
   * requests nobody has seen, so that it sends them again (RFC 9113 section 6.8).
   */
  #leave(): void {
    this.#leavesAt ??= this.#plane.deadlines.after(this.#plane.settings.timeouts.leaveMs);
    if (performance.now() >= this.#leavesAt) this.closeWhenIdle();
  }
}

function refuse(request: Http2Request, { status, reason }: Refusal): void {
  const page = { status, detail: reason, app: null, requestId: requestIdFor(null), retryAfter: null, accept: '' };
  request.respond(refusalPage({ ...page, method: 'GET', keepAlive: false }));
}
