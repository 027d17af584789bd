import { BODY_BAD, type BodyReader } from '../http/body-reader.ts';
import { bodyReader } from '../http/body.ts';
import { CHUNKED } from '../http/framing.ts';
import type { UnitConnection } from './unit-connection.ts';
import type { UploadPermit, UploadPermits } from './upload-permits.ts';

/** As much of a body is kept for a second attempt. */
const REPLAY_BYTES = 65_536;

/**
 * The body of one request on its way to the unit: whether and how slowly it may come, and the memory of what a second attempt would
 * have to send again.
 */
export class Upload {
  readonly #length: number;
  readonly #body: BodyReader | null;
  /** Null where all of the body was at hand from the beginning. */
  #permit: UploadPermit | null = null;
  #kept: Buffer[] | null = [];
  #keptBytes = 0;
  #begun = false;

  constructor(bodyLength: number, mostBytes: number) {
    this.#length = bodyLength;
    this.#body = bodyLength === 0 ? null : bodyReader(bodyLength, false, mostBytes);
  }

  /** To be called first: `atHand` bytes have come. False when the client has as many bodies under way as it may. */
  admit(atHand: number, uploads: UploadPermits, app: string, client: string): boolean {
    if (this.#isWhole(atHand)) return true;
    this.#permit = uploads.admit(app, client);
    return this.#permit !== null;
  }

  /** Bytes that have come by now, while none of them is sent yet. */
  arrived(atHand: number): void {
    if (this.#isWhole(atHand)) this.close();
  }

  /** No more of it is wanted. */
  close(): void {
    this.#permit?.close();
  }

  get done(): boolean {
    return this.#body === null || this.#body.done;
  }

  /** True once a byte of the body has come from the client. */
  get begun(): boolean {
    return this.#begun;
  }

  /**
   * True when the request may be sent to a unit a second time: all of its body is at hand, and either its method
   * promises that twice is as good as once, or no unit can have acted on it for want of its body.
   */
  repeatable(idempotent: boolean): boolean {
    return this.#kept !== null && (idempotent || (this.#body !== null && !this.#begun));
  }

  /** More comes than the app takes; nothing of that goes on. */
  get isTooLong(): boolean {
    return this.#body?.isTooLong === true;
  }

  /** Forwards what belongs to the body; returns how many bytes that were, or BODY_BAD. */
  take(bytes: Buffer, from: number, end: number, unit: UnitConnection): number {
    const body = this.#body;
    if (body === null || end === from) return 0;
    this.#begun = true;
    const taken = body.take(bytes, from, end, (piece) => {
      unit.write(piece);
      this.#keep(piece);
    });
    if (taken !== BODY_BAD) this.#permit?.sent(taken);
    if (body.done) this.#permit?.close();
    return taken;
  }

  /** The client could not send, because the unit did not read, or was not there. */
  waited(): void {
    this.#permit?.waited();
  }

  /** Milliseconds in which more of the body has to come: no more than `mostMs`. */
  patienceMs(mostMs: number): number {
    return this.#permit?.patienceMs ?? mostMs;
  }

  /** Sends again what an earlier unit was sent. */
  replay(unit: UnitConnection): void {
    for (const piece of this.#kept ?? []) unit.write(piece);
  }

  /** There will be no second attempt. */
  forget(): void {
    this.#kept = null;
  }

  /** What has come whole waits for nobody but a unit. */
  #isWhole(atHand: number): boolean {
    return this.#length !== CHUNKED && atHand >= this.#length;
  }

  #keep(piece: Buffer): void {
    if (this.#kept === null) return;
    this.#keptBytes += piece.length;
    if (this.#keptBytes > REPLAY_BYTES) this.#kept = null;
    else this.#kept.push(piece);
  }
}
