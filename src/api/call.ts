/** One request on its way through the server: who asks, what it became, and when the client has left. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { type Caller, callerName } from '../domain/caller.ts';
import { type PlatformError, toPlatformError } from '../domain/errors.ts';
import type { UseCases } from '../domain/use-cases.ts';
import type { Logger } from '../lib/logger.ts';
import { acceptsEvents } from './error-body.ts';
import { cameFromBrowser, sessionCookie } from './dashboard/browser-door.ts';
import { type BrowserSession, changes, type Context } from './operation.ts';
import type { ApiRoute } from './routes.ts';

const MAX_LOGGED_PATH = 200;
/** What proxies add. */
const ADDED = /^(?:forwarded|via|x-forwarded(?:-.*)?|x-real-ip|x-client-ip|true-client-ip|cf-connecting-ip)$/;

export class Call {
  readonly id: string;
  readonly address: string;
  /** As the client sent it. */
  readonly contentType: string;
  route: ApiRoute | null = null;
  caller: Caller;
  /** True when the work goes on although the client has left: only giveUp() ends it then. */
  outlivesClient = false;
  /** Gets everything that goes wrong, as it was thrown. */
  onFailure: (thrown: unknown) => void = () => {};
  /** For the browser, with the answer. */
  cookie = '';
  /** To be called at the end of what has outlived its client. */
  ended: () => void = () => {};
  /** Until it is called, the body has to come within a fixed time. */
  endBodyLimit: () => void = () => {};
  /** Lets the next request of the same caller go on, once. */
  endTurn: () => void = () => {};
  #error: PlatformError | null = null;
  #left = false;
  #controller: AbortController | null = null;
  readonly #request: IncomingMessage;
  readonly #startedAt = performance.now();

  constructor(id: string, request: IncomingMessage, address: string) {
    this.id = id;
    this.address = address;
    this.contentType = request.headers['content-type'] ?? '';
    this.caller = { kind: 'anonymous', address };
    this.#request = request;
  }

  /** Milliseconds since it came. */
  get ms(): number {
    return performance.now() - this.#startedAt;
  }

  /** Fires when the client has left or the server gives the call up; made on first use, as few operations need it. */
  get signal(): AbortSignal {
    this.#controller ??= new AbortController();
    if (this.#left) this.#controller.abort();
    return this.#controller.signal;
  }

  get hasLeft(): boolean {
    return this.#left;
  }

  /** '' for what shows that it came through a proxy; many of them speak HTTP/1.0 where nothing else does. */
  get host(): string {
    const { headers, httpVersion } = this.#request;
    const isProxied = httpVersion === '1.0' || Object.keys(headers).some((name) => ADDED.test(name));
    return isProxied ? '' : (headers.host ?? '');
  }

  /** The client reads Server-Sent Events. */
  get wantsEvents(): boolean {
    return acceptsEvents(this.#request.headers.accept);
  }

  get lastEventId(): string {
    const id = this.#request.headers['last-event-id'];
    return typeof id === 'string' ? id : '';
  }

  get browser(): BrowserSession | null {
    if (!cameFromBrowser(this.#request)) return null;
    const { origin } = this.#request.headers;
    return {
      keep: ({ token, expiresAt }) => {
        const seconds = Math.floor((Date.parse(expiresAt) - Date.now()) / 1_000);
        this.cookie = sessionCookie(token, origin, seconds);
      },
      forget: () => {
        this.cookie = sessionCookie(null, origin, 0);
      },
    };
  }

  /** The connection is closed. */
  clientLeft(): void {
    if (!this.outlivesClient) this.giveUp();
  }

  /** The server does not wait for it any longer. */
  giveUp(): void {
    this.#left = true;
    this.#controller?.abort();
  }

  /** Keeps what went wrong for the log line. `error`: what is answered in place of what was thrown. */
  failed(thrown: unknown, error: PlatformError = toPlatformError(thrown)): PlatformError {
    this.#error = error;
    this.onFailure(thrown);
    return this.#error;
  }

  /** The one line per request: errors and changes at info, reads at debug. The query is left out, it may hold secrets. */
  log(logger: Logger, response: Pick<ServerResponse, 'statusCode' | 'writableFinished'>): void {
    const error = this.#error;
    const fields = {
      reqId: this.id,
      method: this.#request.method,
      path: (this.#request.url ?? '').split('?', 1)[0]?.slice(0, MAX_LOGGED_PATH),
      operation: this.route?.operation.id,
      caller: callerName(this.caller),
      status: response.statusCode,
      ms: Math.round(this.ms * 10) / 10,
      ...(error !== null && { error: error.code }),
      ...(error?.cause !== undefined && error.code === 'internal' && { err: error.cause }),
      ...(!response.writableFinished && { aborted: true }),
    };
    if (error?.code === 'internal') logger.error(fields, 'request failed');
    else if (error !== null || (this.route !== null && changes(this.route.operation))) logger.info(fields, 'request');
    else logger.debug(fields, 'request');
  }
}

/** What a handler sees of its call. */
export class CallContext implements Context {
  readonly #call: Call;
  readonly useCases: UseCases;
  readonly version: string;
  readonly ready: () => Promise<void>;

  constructor(call: Call, useCases: UseCases, platform: { version: string; ready: () => Promise<void> }) {
    this.#call = call;
    this.useCases = useCases;
    this.version = platform.version;
    this.ready = platform.ready;
  }

  get caller(): Context['caller'] {
    return this.#call.caller;
  }

  get address(): string {
    return this.#call.address;
  }

  get host(): string {
    return this.#call.host;
  }

  get signal(): AbortSignal {
    return this.#call.signal;
  }
  get wantsEvents(): boolean {
    return this.#call.wantsEvents;
  }

  get browser(): BrowserSession | null {
    return this.#call.browser;
  }

  get lastEventId(): string {
    return this.#call.lastEventId;
  }
}
