import { BODY_BAD } from '../http/body-reader.ts';
import { Refusal } from '../http/refusal.ts';
import type { RequestHead } from '../http/request-head.ts';
import type { ResponseHead } from '../http/response-head.ts';
import { UnitAnswer } from './unit-answer.ts';
import { AnswerHeads } from './answer-heads.ts';
import type { Requester } from './requester.ts';
import type { ClientUser } from './client-user.ts';
import { headForUnit, interimHead, tunnelProtocol } from '../rewrite/heads.ts';
import type { Plane } from './plane.ts';
import type { RoutedRequest } from './routed-request.ts';
import { PLATFORM_ROUTE } from '../routing/platform-route.ts';
import type { Applicant } from '../routing/target-pool.ts';
import { Tunnel } from './tunnel.ts';
import type { UnitConnection } from './unit-connection.ts';
import {
  BODY_LATE,
  BODY_MALFORMED,
  BODY_TOO_LONG,
  BUSY,
  failure,
  type RefusedRequest,
  TOO_MANY_UPLOADS,
} from './refusals.ts';
import { UnitSearch } from './unit-search.ts';
import { Upload } from './upload.ts';

/**
 * One request and its answer: finds a unit, moves the body up and the answer down at the same time, repeats where that
 * is safe, and fails in plain words where it is not. Everything ends in #over().
 */
export class Exchange implements Applicant, ClientUser {
  readonly endsByItself = true;
  readonly #plane: Plane;
  readonly #client: Requester;
  readonly #request: RoutedRequest;
  readonly #head: RequestHead;
  readonly #upload: Upload;
  readonly #heads: AnswerHeads;
  readonly #search: UnitSearch;
  #unit: UnitConnection | null = null;
  #reused = false;
  /** The connection that went away last: it is repeated once after a kept one, and once after a new one. */
  #lost: 'kept' | 'new' | null = null;
  #unitPaused = false;
  #heard = false;
  /** No unit is asked for before there is something to send to it. */
  #awaitsBody = false;
  /** It has closed its sending side; most that do so have left, and nothing that becomes of their request is a failure. */
  #clientLeft = false;
  #answer: UnitAnswer | null = null;

  constructor(plane: Plane, client: Requester, request: RoutedRequest) {
    this.#plane = plane;
    this.#client = client;
    this.#request = request;
    this.#head = request.head;
    this.#search = new UnitSearch(plane, request);
    this.#upload = new Upload(request.head.bodyLength, this.#search.mostBodyBytes);
    this.#heads = new AnswerHeads(client, request, plane.settings.limits.headBytes);
  }

  start(): void {
    const { refusal } = this.#search;
    if (refusal !== null) {
      this.#refuse(refusal);
      return;
    }
    const atHand = this.#client.bytesAtHand;
    if (!this.#upload.admit(atHand, this.#plane.uploads, this.#search.route.app, this.#request.origin.client)) {
      this.#refuse(TOO_MANY_UPLOADS);
      return;
    }
    this.#awaitsBody = atHand === 0 && !this.#upload.done && !this.#head.expectsContinue;
    if (this.#awaitsBody) this.#armForAnswer();
    else this.#dispatch(false);
  }

  get wantsBytes(): boolean {
    const unit = this.#unit;
    return this.#awaitsBody || (unit !== null && unit.connected && !unit.blocked && !this.#upload.done);
  }

  // --- the way up: client to unit

  clientSent(bytes: Buffer, from: number, end: number): number {
    if (this.#awaitsBody) {
      this.#awaitsBody = false;
      this.#upload.arrived(end - from);
      this.#dispatch(false);
      return 0;
    }
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
    this.#clientLeft = true;
    this.#request.ended();
    if (this.#upload.done) this.#arm(this.#plane.settings.timeouts.halfClosedMs);
    else this.#client.abort();
  }

  clientGone(): void {
    this.#over(false);
  }

  cut(): void {
    if (this.#answer?.done === true) this.#client.abort();
    else this.#cutShort();
  }

  clientFlushed(): void {
    if (this.#unitPaused) {
      this.#unitPaused = false;
      this.#unit?.resume();
    }
    if (this.#answer === null) return;
    if (this.#answer.done) this.#settle();
    else this.#arm(this.#plane.settings.timeouts.silenceMs);
  }

  #arm(ms: number): void {
    this.#client.arm(this.#clientLeft ? Math.min(ms, this.#plane.settings.timeouts.halfClosedMs) : ms);
  }

  // --- finding a unit

  unitGranted(unit: UnitConnection, reused: boolean): void {
    this.#unit = unit;
    this.#reused = reused;
    if (unit.connected) this.#send(unit);
    else this.#arm(this.#plane.settings.timeouts.connectMs);
  }

  unitConnected(): void {
    if (this.#unit !== null) this.#send(this.#unit);
  }

  unitWithdrawn(): void {
    this.#search.leave();
    this.#dispatch(this.#lost !== null);
  }

  get clientGroup(): string {
    return this.#request.clientGroup;
  }

  get heldUpBy(): string | null {
    return this.#answer !== null && this.#client.blocked ? this.clientGroup : null;
  }

  giveWay(): void {
    if (this.#answer === null) this.#refuse(BUSY);
    else this.#client.abort();
  }

  #dispatch(fresh: boolean): void {
    this.#arm(this.#plane.settings.timeouts.queueMs);
    const none = this.#search.next(this, fresh);
    if (none !== null) this.#refuse(none);
    else if (this.#search.heldForMs > 0) this.#arm(this.#search.heldForMs);
  }

  #send(unit: UnitConnection): void {
    const isPlatform = this.#search.route.app === PLATFORM_ROUTE;
    const head = headForUnit(this.#head, this.#request.origin, this.#request.requestId, isPlatform);
    if (this.#head.bodyLength === 0) {
      unit.write(head);
    } else {
      // What is at hand of the body leaves together with the head.
      unit.cork();
      process.nextTick(() => unit.uncork());
      unit.write(head);
      this.#upload.replay(unit);
      this.#upload.waited();
    }
    this.#armForAnswer();
    this.#client.pump();
  }

  #armForAnswer(): void {
    const { stallMs } = this.#plane.settings.timeouts;
    if (this.#upload.done) this.#arm(this.#search.route.answerMs);
    else this.#arm(this.#unit?.blocked === true ? stallMs : this.#upload.patienceMs(stallMs));
  }

  // --- the way down: unit to client

  unitSent(bytes: Buffer, size: number): void {
    this.#heard = true;
    this.#upload.forget();
    const from = this.#answer === null ? this.#readHead(bytes, size) : 0;
    if (from < 0 || this.#answer === null) return;
    this.#request.bytes += size - from;
    if (!this.#answer.take(bytes, from, size)) {
      this.#cutShort();
      return;
    }
    if (this.#client.blocked) {
      this.#arm(this.#plane.settings.timeouts.stallMs);
      this.#unitPaused = true;
      this.#unit?.pause();
    } else if (this.#answer.done) {
      this.#settle();
    } else {
      this.#arm(this.#plane.settings.timeouts.silenceMs);
    }
  }

  unitFlushed(): void {
    this.#upload.waited();
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

  /** Begins the answer once its head is complete; returns where its body begins, or -1. */
  #readHead(bytes: Buffer, size: number): number {
    const head = this.#heads.read(bytes, size);
    if (head === null) return -1;
    if (head instanceof Refusal) {
      this.#fail(502, `The app sent an answer that is not valid HTTP. ${head.reason}`);
      return -1;
    }
    if (head.status === 101) {
      this.#switch(head, bytes.subarray(this.#heads.at, size));
      return -1;
    }
    this.#begin(head);
    return this.#heads.at;
  }

  #begin(head: ResponseHead): void {
    this.#request.answered(head.status);
    // A client that got the answer without a 100 before it may never send the body it announced.
    const bodyMayNotCome = this.#head.expectsContinue && this.#head.bodyLength !== 0 && !this.#upload.begun;
    const mayKeepAlive = !this.#plane.draining && !bodyMayNotCome;
    const { requestId, origin } = this.#request;
    const hstsSeconds = origin.isSecure ? this.#plane.settings.hstsSeconds : 0;
    const own = { requestId, hstsSeconds, cookie: this.#search.cookieFor(origin.isSecure) };
    this.#answer = new UnitAnswer(this.#client, this.#head, { head, mayKeepAlive, own });
  }

  #switch(head: ResponseHead, rest: Buffer): void {
    const unit = this.#unit;
    const asked = tunnelProtocol(this.#head);
    if (unit === null || asked === null) {
      this.#fail(502, 'The app switched to a protocol that was not asked for.');
      return;
    }
    const protocol = head.fields.find((field) => field.name === 'upgrade')?.value ?? asked;
    this.#request.answered(head.status);
    this.#unit = null;
    this.#client.write(interimHead(head, this.#request.requestId, protocol));
    this.#request.log(this.#plane.accessLog, this.#search.unit);
    this.#search.handOver();
    this.#request.ended();
    const tunnel = new Tunnel(this.#plane, this.#client, unit, protocol);
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
      this.#arm(this.#plane.settings.timeouts.stallMs);
      return;
    }
    this.#over(this.#upload.done && answer.head.keepAlive && !answer.excess);
    this.#client.exchangeDone(answer.keepAlive && this.#upload.done);
  }

  /** The connection could not be made; another target may take it. Units that end together close their kept connections together. */
  #unreachable(): void {
    this.#search.refused();
    this.#dispatch(this.#lost !== null);
  }

  /** The unit went away before the first byte of an answer. */
  #lostEarly(): void {
    const kind = this.#reused ? 'kept' : 'new';
    const isFirst = this.#lost !== 'new' && this.#lost !== kind;
    if (this.#heard || !isFirst || !this.#upload.repeatable(this.#search.idempotent)) {
      this.#fail(502, 'The app closed the connection before it answered.');
      return;
    }
    this.#lost = kind;
    // A connection that had served before was most likely just closed for idleness; a new one means a unit in trouble.
    if (this.#reused) this.#search.leave();
    else this.#search.passOver();
    this.#dispatch(true);
  }

  expire(): void {
    const unit = this.#unit;
    const blocked = this.#client.blocked;
    if (this.#clientLeft) {
      this.#client.abort();
    } else if (this.#answer !== null) {
      if (blocked || this.#answer.done) this.#client.abort();
      else this.#cutShort();
    } else if (unit === null) {
      this.#refuse(this.#awaitsBody ? BODY_LATE : this.#search.tooLate);
    } else if (!unit.connected) {
      this.#search.timedOut = true;
      this.#dropUnit();
      this.#unreachable();
    } else if (!this.#upload.done && !unit.blocked) {
      this.#refuse(BODY_LATE);
    } else {
      this.#fail(504, 'The app did not answer in time.');
    }
  }

  #badUpload(): void {
    if (this.#answer === null) this.#refuse(this.#upload.isTooLong ? BODY_TOO_LONG : BODY_MALFORMED);
    else this.#client.abort();
  }

  /** The answer has begun and cannot be finished: the client must see that it is not whole. */
  #cutShort(): void {
    this.#countFailure();
    this.#over(false);
    this.#client.abort();
  }

  #fail(status: number, detail: string): void {
    this.#refuse(failure(status, detail));
  }

  /** The edge's own answer in place of the unit's. */
  #refuse(refused: RefusedRequest): void {
    this.#request.answered(refused.status);
    if (refused.counts) this.#countFailure();
    this.#over(false);
    this.#client.refuseRequest(refused, this.#search.route.app, {
      head: this.#head,
      requestId: this.#request.requestId,
    });
  }

  #countFailure(): void {
    if (!this.#clientLeft) this.#request.failed();
  }

  /** Lets go of the unit. `reusable`: its connection is as good as new. */
  #over(reusable: boolean): void {
    this.#request.log(this.#plane.accessLog, this.#search.unit);
    const unit = this.#unit;
    this.#upload.close();
    this.#request.ended();
    if (unit !== null && reusable) {
      this.#unit = null;
      if (this.#unitPaused) unit.resume();
      this.#search.giveBack(unit, this.#answer?.head.keepAliveSeconds ?? null);
    } else {
      this.#dropUnit();
    }
    this.#search.leave(this);
  }

  #dropUnit(): void {
    const unit = this.#unit;
    this.#unit = null;
    if (unit === null) return;
    unit.user = null;
    unit.destroy();
  }
}
