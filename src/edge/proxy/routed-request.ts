import { addressGroup } from '../../lib/trusted-proxies.ts';
import type { RequestHead } from '../http/request-head.ts';
import type { RequestOrigin } from '../rewrite/request-origin.ts';
import { accessLine } from '../rewrite/access-line.ts';
import type { LiveRoute } from '../routing/route-table.ts';
import type { AccessLog } from './access-log.ts';

/** The client has gone before there was an answer. */
const CLIENT_LEFT = 499;

/** A request to an app, and what is reported of it to its counters. */
export class RoutedRequest {
  readonly head: RequestHead;
  readonly requestId: string;
  readonly origin: RequestOrigin;
  readonly route: LiveRoute;
  readonly begunAt = performance.now();
  /** Of the body of the answer. */
  bytes = 0;
  /** 0: there was none yet. */
  #status = 0;
  #isOpen = true;
  #isLogged = false;
  #clientGroup: string | null = null;

  constructor(head: RequestHead, requestId: string, origin: RequestOrigin, route: LiveRoute) {
    this.head = head;
    this.requestId = requestId;
    this.origin = origin;
    this.route = route;
    route.counter.begun();
  }

  /** Reading an address takes longer than refusing a request, and a queue that is full is looked through for each. */
  get clientGroup(): string {
    return (this.#clientGroup ??= addressGroup(this.origin.client));
  }

  /** The head of an answer, whoever gives it. */
  answered(status: number): void {
    const wasWaiting = this.#isOpen && this.#status === 0;
    this.#status = status;
    this.route.counter.answered(status, performance.now() - this.begunAt, wasWaiting);
  }

  /** Nothing more comes of it. `unit`: who was asked for the answer, '' for nobody. */
  log(log: AccessLog, unit: string): void {
    if (this.route.rules?.accessLog !== true || this.#isLogged) return;
    this.#isLogged = true;
    log.add(this.route.app, () => this.#line(unit));
  }

  #line(unit: string): string {
    const { method, target, host } = this.head;
    const { client, isSecure } = this.origin;
    return accessLine({
      ...{ method, target, host: host.name, requestId: this.requestId, client, isSecure, unit },
      ...{ bytes: this.bytes, ms: performance.now() - this.begunAt, status: this.#status || CLIENT_LEFT },
    });
  }

  failed(): void {
    this.route.counter.failed();
  }

  /** Whatever happens now, the platform does not owe an answer any more. */
  ended(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    this.route.counter.ended(this.#status !== 0);
  }
}
