import { BODY_BAD } from '../http/body-reader.ts';
import { HEAD_MORE, HeadReader } from '../http/head-reader.ts';
import { Refusal } from '../http/refusal.ts';
import type { RequestHead } from '../http/request-head.ts';
import type { ResponseHead } from '../http/response-head.ts';
import { parseResponseHead } from '../http/response-head.ts';
import { Answer } from './answer.ts';
import type { ClientConnection } from './client-connection.ts';
import type { ClientUser } from './client-user.ts';
import { headForUnit, interimHead, tunnelProtocol } from '../rewrite/heads.ts';
import type { Plane } from './plane.ts';
import { refusalPage } from '../rewrite/refusal-page.ts';
import type { LiveRoute } from '../routing/route-table.ts';
import type { Applicant, TargetPool } from '../routing/target-pool.ts';
import { Tunnel } from './tunnel.ts';
import type { UnitConnection } from './unit-connection.ts';
import { Upload } from './upload.ts';

const IDEMPOTENT = new Set(['GET', 'HEAD', 'OPTIONS', 'TRACE', 'PUT', 'DELETE', 'PROPFIND', 'REPORT', 'SEARCH']);
const MAX_INTERIM = 32;

export interface RoutedRequest {
  readonly head: RequestHead;
  readonly requestId: string;
  readonly route: LiveRoute;
}

/**
 * One request and its answer: finds a unit, moves the body up and the answer down at the same time, repeats where that
 * is safe, and fails in plain words where it is not. Everything ends in #over().
 */
export class Exchange implements Applicant, ClientUser {
  readonly endsByItself = true;
  readonly #plane: Plane;
  readonly #client: ClientConnection;
  readonly #head: RequestHead;
  readonly #requestId: string;
  readonly #upload: Upload;
  readonly #reader: HeadReader;
  #route: LiveRoute;
  #pool: TargetPool | null = null;
  #unit: UnitConnection | null = null;
  #tried: Set<TargetPool> | null = null;
  #reused = false;
  #repeated = false;
  #connectTimedOut = false;
  #unitPaused = false;
  #heard = false;
  #interims = 0;
  #answer: Answer | null = null;

  constructor(plane: Plane, client: ClientConnection, request: RoutedRequest) {
    this.#plane = plane;
    this.#client = client;
    this.#head = request.head;
    this.#requestId = request.requestId;
    this.#route = request.route;
    this.#upload = new Upload(request.head.bodyLength);
    this.#reader = new HeadReader(plane.settings.limits.headBytes, 0);
  }

  start(): void {
    this.#dispatch(false);
  }

  get wantsBytes(): boolean {
    const unit = this.#unit;
    return unit !== null && unit.connected && !unit.blocked && !this.#upload.done;
  }

  // --- the way up: client to unit

  clientSent(bytes: Buffer, from: number, end: number): number {
    const unit = this.#unit;
    if (unit === null) return 0;
    const taken = this.#upload.take(bytes, from, end, unit);
    if (taken === BODY_BAD) {
      this.#badUpload();
      return end - from;
    }
    if (this.#answer?.done === true) this.#settle();
    else if (this.#answer === null) this.#armForAnswer();
    return taken;
  }

  clientEnded(): void {
    if (this.#upload.done) this.#client.arm(this.#plane.settings.timeouts.halfClosedMs);
    else this.#client.abort();
  }

  clientGone(): void {
    this.#over(false);
  }

  clientFlushed(): void {
    if (this.#unitPaused) {
      this.#unitPaused = false;
      this.#unit?.resume();
    }
    if (this.#answer === null) return;
    this.#client.arm(this.#plane.settings.timeouts.silenceMs);
    this.#settle();
  }

  // --- finding a unit

  unitGranted(unit: UnitConnection, reused: boolean): void {
    this.#unit = unit;
    this.#reused = reused;
    if (unit.connected) this.#send(unit);
    else this.#client.arm(this.#plane.settings.timeouts.connectMs);
  }

  unitConnected(): void {
    if (this.#unit !== null) this.#send(this.#unit);
  }

  unitWithdrawn(): void {
    this.#leavePool();
    this.#dispatch(false);
  }

  /** Chooses by the table of this moment, which may be newer than the request. */
  #dispatch(fresh: boolean): void {
    const route = this.#plane.table.match(this.#head.host.name);
    if (route === null) {
      this.#refuse(404, `No app answers at ${this.#head.host.name}.`, null);
      return;
    }
    this.#route = route;
    if (route.pools.length === 0) {
      this.#refuse(503, route.note, 5);
      return;
    }
    const pool = this.#plane.pools.pick(route.pools, this.#tried);
    if (pool === null) {
      if (this.#connectTimedOut) this.#fail(504, 'The app did not take the connection in time.');
      else this.#fail(502, 'The app could not be reached.');
      return;
    }
    this.#pool = pool;
    pool.enter();
    this.#client.arm(this.#plane.settings.timeouts.queueMs);
    const careful = !IDEMPOTENT.has(this.#head.method);
    if (pool.acquire(this, { careful, fresh }, this.#plane.deadlines.now)) return;
    this.#fail(503, 'The app has more requests than it can take just now.', 1);
  }

  #send(unit: UnitConnection): void {
    if (this.#head.bodyLength === 0) {
      unit.write(headForUnit(this.#head, this.#client, this.#requestId));
    } else {
      // What is at hand of the body leaves together with the head.
      unit.cork();
      process.nextTick(() => unit.uncork());
      unit.write(headForUnit(this.#head, this.#client, this.#requestId));
      this.#upload.replay(unit);
    }
    this.#armForAnswer();
    this.#client.pump();
  }

  #armForAnswer(): void {
    const { answerMs, stallMs } = this.#plane.settings.timeouts;
    this.#client.arm(this.#upload.done ? answerMs : stallMs);
  }

  // --- the way down: unit to client

  unitSent(bytes: Buffer, size: number): void {
    this.#heard = true;
    this.#upload.forget();
    const from = this.#answer === null ? this.#readHeads(bytes, size) : 0;
    if (from < 0 || this.#answer === null) return;
    if (!this.#answer.take(bytes, from, size)) {
      this.#cutShort();
      return;
    }
    const { silenceMs, stallMs } = this.#plane.settings.timeouts;
    this.#client.arm(this.#client.blocked ? stallMs : silenceMs);
    if (this.#client.blocked) {
      this.#unitPaused = true;
      this.#unit?.pause();
    }
    this.#settle();
  }

  unitFlushed(): void {
    this.#client.pump();
  }

  unitEnded(): void {
    const whole = this.#answer?.ended() === true;
    this.#dropUnit();
    if (whole) this.#settle();
    else if (this.#answer !== null) this.#cutShort();
    else this.#lostEarly();
  }

  unitLost(error: string | null): void {
    const connected = this.#unit?.connected === true;
    const whole = this.#answer !== null && (this.#answer.done || (error === null && this.#answer.ended()));
    this.#unit = null;
    if (!connected) this.#unreachable();
    else if (whole) this.#settle();
    else if (this.#answer !== null) this.#cutShort();
    else this.#lostEarly();
  }

  /** Reads interim answers and the head of the final one; returns where its body begins, or -1. */
  #readHeads(bytes: Buffer, size: number): number {
    let at = 0;
    while (at < size) {
      at = this.#reader.read(bytes, at, size);
      if (at === HEAD_MORE) return -1;
      const head = at < 0 ? null : parseResponseHead(this.#reader.text, this.#head.method);
      if (head === null || head instanceof Refusal) {
        this.#fail(502, 'The app sent an answer that is not valid HTTP.');
        return -1;
      }
      if (head.status === 101) {
        this.#switch(head, bytes.subarray(at, size));
        return -1;
      }
      if (head.status >= 200) {
        this.#begin(head);
        return at;
      }
      if (++this.#interims > MAX_INTERIM) {
        this.#fail(502, 'The app sent an answer that is not valid HTTP.');
        return -1;
      }
      const wanted = this.#head.minorVersion === 1 && (head.status !== 100 || this.#head.expectsContinue);
      if (wanted) this.#client.write(interimHead(head, this.#requestId, null));
    }
    return -1;
  }

  #begin(head: ResponseHead): void {
    this.#route.counter.requests++;
    // A client that was told nothing but the answer may never send the body it announced.
    const bodyMayNotCome = this.#head.expectsContinue && this.#head.bodyLength !== 0 && !this.#upload.begun;
    const mayKeepAlive = !this.#plane.stopping && !bodyMayNotCome;
    this.#answer = new Answer(this.#client, this.#head, { head, mayKeepAlive, requestId: this.#requestId });
  }

  #switch(head: ResponseHead, rest: Buffer): void {
    const unit = this.#unit;
    const asked = tunnelProtocol(this.#head);
    if (unit === null || asked === null) {
      this.#fail(502, 'The app switched to a protocol that was not asked for.');
      return;
    }
    const protocol = head.fields.find((field) => field.name === 'upgrade')?.value ?? asked;
    this.#route.counter.requests++;
    this.#unit = null;
    this.#client.write(interimHead(head, this.#requestId, protocol));
    const tunnel = new Tunnel(this.#plane, this.#client, unit);
    if (rest.length > 0) tunnel.forward(rest);
    this.#client.pump();
  }

  // --- ends

  /** Once the answer is out: goes on with the upload as long as the unit takes it, else ends the exchange. */
  #settle(): void {
    const answer = this.#answer;
    // The unit's read buffer is still being written to the client: see UnitConnection.
    if (answer === null || !answer.done || this.#client.blocked) return;
    if (!this.#upload.done && answer.keepAlive && this.#unit !== null) {
      this.#client.arm(this.#plane.settings.timeouts.stallMs);
      return;
    }
    this.#over(this.#upload.done && answer.head.keepAlive && !answer.excess);
    this.#client.exchangeDone(answer.keepAlive && this.#upload.done);
  }

  /** The connection could not be made; another target may take it. */
  #unreachable(): void {
    this.#pool?.refused(this.#plane.deadlines.now);
    this.#tryOthers();
    this.#dispatch(false);
  }

  /** The unit went away before the first byte of an answer. */
  #lostEarly(): void {
    const repeatable = !this.#heard && !this.#repeated && this.#upload.repeatable(IDEMPOTENT.has(this.#head.method));
    if (!repeatable) {
      this.#fail(502, 'The app closed the connection before it answered.');
      return;
    }
    this.#repeated = true;
    // A connection that had served before was most likely just closed for idleness; a new one means a unit in trouble.
    if (this.#reused) this.#leavePool();
    else this.#tryOthers();
    this.#dispatch(true);
  }

  #tryOthers(): void {
    const pool = this.#pool;
    if (pool === null) return;
    this.#tried = (this.#tried ?? new Set()).add(pool);
    this.#leavePool();
  }

  expire(): void {
    const unit = this.#unit;
    const blocked = this.#client.blocked;
    if (this.#answer !== null) {
      if (blocked || this.#answer.done) this.#client.abort();
      else this.#cutShort();
    } else if (unit === null) {
      this.#fail(503, 'The app has more requests than it can take just now.', 1);
    } else if (!unit.connected) {
      this.#connectTimedOut = true;
      this.#dropUnit();
      this.#unreachable();
    } else if (!this.#upload.done && !unit.blocked) {
      this.#refuse(408, 'The body of the request took too long to arrive.', null);
    } else {
      this.#fail(504, 'The app did not answer in time.');
    }
  }

  #badUpload(): void {
    if (this.#answer === null) this.#refuse(400, 'The body of the request is not framed as announced.', null);
    else this.#client.abort();
  }

  /** The answer has begun and cannot be finished: the client must see that it is not whole. */
  #cutShort(): void {
    this.#route.counter.failures++;
    this.#over(false);
    this.#client.abort();
  }

  #fail(status: number, detail: string, retryAfter: number | null = null): void {
    this.#route.counter.failures++;
    this.#refuse(status, detail, retryAfter);
  }

  /** The edge's own answer in place of the unit's. */
  #refuse(status: number, detail: string, retryAfter: number | null): void {
    this.#route.counter.requests++;
    this.#over(false);
    const keepAlive = this.#head.keepAlive && this.#head.bodyLength === 0 && !this.#plane.stopping;
    const { accept, method } = this.#head;
    const page = {
      status,
      detail,
      app: this.#route.app,
      requestId: this.#requestId,
      retryAfter,
      accept,
      method,
      keepAlive,
    };
    this.#client.write(Buffer.from(refusalPage(page)));
    this.#client.exchangeDone(keepAlive);
  }

  /** Lets go of unit and pool. `reusable`: the unit's connection is as good as new. */
  #over(reusable: boolean): void {
    const unit = this.#unit;
    const pool = this.#pool;
    if (pool !== null && unit !== null && reusable) {
      this.#unit = null;
      if (this.#unitPaused) unit.resume();
      pool.release(unit, this.#plane.deadlines.now, this.#answer?.head.keepAliveSeconds ?? null);
    } else {
      this.#dropUnit();
      pool?.forget(this);
    }
    this.#leavePool();
  }

  #dropUnit(): void {
    const unit = this.#unit;
    this.#unit = null;
    if (unit === null) return;
    unit.user = null;
    unit.destroy();
  }

  #leavePool(): void {
    const pool = this.#pool;
    this.#pool = null;
    pool?.leave();
  }
}
