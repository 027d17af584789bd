import type { RequestHead } from '../http/request-head.ts';
import type { RequestOrigin } from '../rewrite/request-origin.ts';
import type { LiveRoute } from '../routing/route-table.ts';

/** A request to an app, and what its counters are told of it. */
export class RoutedRequest {
  readonly head: RequestHead;
  readonly requestId: string;
  readonly origin: RequestOrigin;
  readonly route: LiveRoute;
  readonly begunAt = performance.now();
  #isOpen = true;

  constructor(head: RequestHead, requestId: string, origin: RequestOrigin, route: LiveRoute) {
    this.head = head;
    this.requestId = requestId;
    this.origin = origin;
    this.route = route;
    route.counter.begun();
  }

  /** The head of an answer, whoever gives it. */
  answered(status: number): void {
    this.route.counter.answered(status, performance.now() - this.begunAt);
  }

  failed(): void {
    this.route.counter.failed();
  }

  /** Whatever happens now, the platform does not owe an answer any more. */
  ended(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    this.route.counter.ended();
  }
}
