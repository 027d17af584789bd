/** One call to a provider: deadline, bounds, what may be repeated, and what a failure means. Protocols are in http/ and osb/. */
import type { IncomingHttpHeaders } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { type Endpoint, type EndpointCall, EndpointFailure } from '../../domain/services/service-endpoint.ts';
import { withoutCredentials } from '../../lib/credentials-in-text.ts';
import { withDeadline } from '../../lib/deadline.ts';
import type { AddressGuard } from '../../lib/guarded/address-guard.ts';
import { openRequest, readAnswer, RequestFailure } from '../../lib/guarded/guarded-request.ts';
import type { Logger } from '../../lib/logger.ts';
import { createRedactor, withEncoded } from '../../lib/redact.ts';
import { isPage } from '../../lib/web-page.ts';
import { withoutTrailing } from '../../lib/without-trailing.ts';
import { wordsIn } from './answer-words.ts';

/** Milliseconds. */
export interface CallTimeouts {
  readonly connect: number;
  /** Plans, info, status, units. */
  readonly short: number;
  /** One request that creates, binds, unbinds or removes. */
  readonly long: number;
  /** An operation that a broker goes on with after its answer. */
  readonly asynchronous: number;
  /** Between two questions how far such an operation is. */
  readonly poll: number;
}

export const CALL_TIMEOUTS: CallTimeouts = {
  connect: 5_000,
  short: 15_000,
  long: 120_000,
  asynchronous: 60 * 60_000,
  poll: 2_000,
};

const MAX_BODY_BYTES = 1024 * 1024;
const MAX_EXCERPT = 500;
const ATTEMPTS = 3;
const FIRST_PAUSE_MS = 100;

export interface ProviderRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** Below the endpoint's URL, with query. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | null;
  /** Asks for a change, so that a broken connection leaves open whether it was made. */
  readonly changes: boolean;
  /** May be sent again when the connection failed. */
  readonly repeatable: boolean;
  readonly timeoutMs: number;
  /** Not to be in a message, besides the endpoint's password. */
  readonly secrets?: readonly string[];
}

export interface EndpointAnswer {
  /** An earlier attempt of this very request broke off after it was sent: it may have been carried out, whatever this answer says. */
  readonly mayHaveHappened: boolean;
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

export interface CallOptions {
  readonly guard: AddressGuard;
  readonly deadlines: CallTimeouts;
  readonly logger: Logger;
}

/** Any answer at all is a success here. */
export type Send = (endpoint: Endpoint, request: ProviderRequest, call: EndpointCall) => Promise<EndpointAnswer>;

export function createSend(options: CallOptions): Send {
  const { guard, deadlines, logger } = options;

  async function once(endpoint: Endpoint, request: ProviderRequest, call: EndpointCall, signal: AbortSignal) {
    const { method, headers, body } = request;
    const answer = await openRequest(guard, {
      method,
      url: urlOf(endpoint, request.path),
      headers: { ...commonHeaders(endpoint, call), ...headers },
      body,
      connectMs: deadlines.connect,
      signal,
    });
    const text = await readAnswer(answer, MAX_BODY_BYTES, signal);
    return { status: answer.statusCode ?? 0, headers: answer.headers, text };
  }

  return async (endpoint, request, call) => {
    const startedAt = Date.now();
    const attempts = request.repeatable ? ATTEMPTS : 1;
    return withDeadline(request.timeoutMs, call.signal, async (signal) => {
      let mayHaveHappened = false;
      for (let attempt = 1; ; attempt += 1) {
        try {
          const answer = { ...(await once(endpoint, request, call, signal)), mayHaveHappened };
          logger.debug(
            { ...described(endpoint, request), status: answer.status, ms: Date.now() - startedAt },
            'provider',
          );
          return answer;
        } catch (error) {
          if (!(error instanceof RequestFailure)) throw error;
          logger.debug({ ...described(endpoint, request), failure: error.code, attempt }, 'provider failed');
          mayHaveHappened ||= request.changes && error.sent;
          if (attempt === attempts || error.code !== 'unreachable')
            throw endpointFailure(endpoint, error, mayHaveHappened);
          await delay(FIRST_PAUSE_MS * 2 ** (attempt - 1), undefined, { signal }).catch(() => undefined);
        }
      }
    });
  };
}

/** Without the query: it holds the parameters. */
function described(endpoint: Endpoint, request: ProviderRequest): object {
  return { service: endpoint.service, method: request.method, path: request.path.split('?')[0], kind: endpoint.kind };
}

/** The path is appended as text: `//host` in it is a path, too. */
export function urlOf(endpoint: Endpoint, path: string): URL {
  const address = withoutTrailing(endpoint.url, '/') + path;
  const url = URL.canParse(address) ? new URL(address) : null;
  if (url === null || url.username !== '' || url.password !== '') {
    throw new EndpointFailure('forbidden_address', `The address of the service "${endpoint.service}" cannot be used.`, {
      mayHaveHappened: false,
    });
  }
  return url;
}

export function basicAuth(endpoint: Endpoint): string {
  const user = endpoint.username === '' ? endpoint.service : endpoint.username;
  return Buffer.from(`${user}:${endpoint.password}`).toString('base64');
}

export function commonHeaders(endpoint: Endpoint, call: EndpointCall): Record<string, string> {
  return {
    authorization: `Basic ${basicAuth(endpoint)}`,
    accept: 'application/json',
    'accept-encoding': 'identity',
    'user-agent': 'tancho',
    'idempotency-key': headerText(call.idempotencyKey),
    'x-request-id': headerText(call.requestId),
  };
}

/** Header fields carry ASCII; what is not is percent-encoded. */
export function headerText(value: string): string {
  return value.replace(/[^\x20-\x7e]+/g, (part) => encodeURIComponent(Buffer.from(part).toString()));
}

export function endpointFailure(
  endpoint: Endpoint,
  failure: RequestFailure,
  mayHaveHappened: boolean,
): EndpointFailure {
  const whose = `the provider of the service "${endpoint.service}"`;
  const options = { mayHaveHappened, cause: failure };
  switch (failure.code) {
    case 'forbidden':
      return new EndpointFailure('forbidden_address', failure.message, options);
    case 'unreachable':
      return new EndpointFailure('unreachable', `Cannot reach ${whose}: ${failure.message}.`, options);
    case 'timeout':
      return new EndpointFailure('timeout', `No answer from ${whose} in time.`, options);
    case 'malformed':
      return new EndpointFailure('invalid_answer', `The answer of ${whose} is not HTTP.`, options);
    case 'too_long':
      return new EndpointFailure('invalid_answer', `The answer of ${whose} is ${failure.message}.`, options);
  }
}

/** Says that something took too long: it may go on. */
const TIMED_OUT = 408;

/** An answer that says no. Only a 4xx says that nothing was done; a redirect may be sent after it was, as to a web form. */
export function refusal(
  endpoint: Endpoint,
  request: ProviderRequest,
  answer: EndpointAnswer,
  description?: string,
): EndpointFailure {
  const { status } = answer;
  const excerpt = excerptOf(endpoint, request, description ?? redirectOf(endpoint, answer) ?? answer.text);
  const said = `The provider of the service "${endpoint.service}" answered ${status}${excerpt === '' ? '.' : `: ${excerpt}`}`;
  const code = status === 412 ? 'precondition_failed' : status === 404 || status === 410 ? 'not_found' : 'refused';
  const isPlainNo = status >= 400 && status < 500 && status !== TIMED_OUT;
  const mayHaveHappened = request.changes && (answer.mayHaveHappened || !isPlainNo);
  return new EndpointFailure(code, said, { mayHaveHappened, status });
}

/** Without the query, which may be a secret; null: the answer is no redirect. */
function redirectOf(endpoint: Endpoint, { status, headers: { location } }: EndpointAnswer): string | null {
  if (status < 300 || status >= 400 || location === undefined || !URL.canParse(location, endpoint.url)) return null;
  const { protocol, host, pathname } = new URL(location, endpoint.url);
  return `a redirect to ${protocol}//${host}${pathname}. Redirects are not followed: the manifest of the service has to name the final address`;
}

function excerptOf(endpoint: Endpoint, request: ProviderRequest, text: string): string {
  const redact = createRedactor(withEncoded([endpoint.password, basicAuth(endpoint), ...(request.secrets ?? [])]));
  const words = withoutCredentials(redact(wordsIn(text)))
    .replace(/[\p{Cc}\p{Cf}\s]+/gu, ' ')
    .trim();
  return words.length > MAX_EXCERPT ? words.slice(0, MAX_EXCERPT).replace(/[\ud800-\udbff]$/, '') : words;
}

/** Never repeats the answer: it may be full of credentials. */
export function invalidAnswer(
  endpoint: Endpoint,
  request: Pick<ProviderRequest, 'changes'>,
  status: number,
  why: string,
): EndpointFailure {
  return new EndpointFailure('invalid_answer', `The provider of the service "${endpoint.service}" answered ${why}.`, {
    mayHaveHappened: request.changes,
    status,
  });
}

/** A web page is what a proxy, an ingress or a login says, not the provider: nobody knows what was done behind it, nor whether anything is gone. */
export function demandNoPage(endpoint: Endpoint, request: ProviderRequest, answer: EndpointAnswer): void {
  if (isPage(answer.text)) throw invalidAnswer(endpoint, request, answer.status, 'with a web page');
}

export function jsonOf(endpoint: Endpoint, request: ProviderRequest, answer: EndpointAnswer): unknown {
  try {
    return JSON.parse(answer.text) as unknown;
  } catch {
    throw invalidAnswer(endpoint, request, answer.status, 'something that is not JSON');
  }
}
