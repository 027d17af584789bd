import type { RequestHead } from '../http/request-head.ts';
import type { ClientUser } from './client-user.ts';
import type { RefusedRequest } from './refusals.ts';

/** Who a request is answered to, as an exchange sees it. */
export interface Requester {
  /** True while what was written has not left this process. */
  readonly blocked: boolean;
  /** Of the body or of what follows: so many bytes have come that nobody has taken. */
  readonly bytesAtHand: number;
  /** Sets the only deadline there is; the user hears of it by expire(). */
  arm(ms: number): void;
  /** In HTTP/1.1; strings are latin1. */
  write(data: string | Buffer): void;
  /** A head and what of its body has come; `body` is lent, and so is the memory before it, to be written to. */
  beginAnswer(head: string, body: Buffer): void;
  cork(): void;
  uncork(): void;
  /** Closes the sending side once everything written is out. */
  endWriting(): void;
  /** Ends it at once; the client can see that an answer was cut short. */
  abort(): void;
  /** Offers the user what has come. */
  pump(): void;
  /** The exchange is over; its answer has been written whole. */
  exchangeDone(keepAlive: boolean): void;
  /** The edge's own answer in place of a unit's; the exchange, if there was one, is over. */
  refuseRequest(refused: RefusedRequest, app: string | null, request: { head: RequestHead; requestId: string }): void;
  /** From now on the bytes of both sides are the tunnel's. */
  handTo(tunnel: ClientUser): void;
}
