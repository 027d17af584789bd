/** Hands a caller's own request on to a provider, for both kinds of endpoint. */
import { type Readable, Transform } from 'node:stream';
import { type ProxyAnswer, type ServiceEndpoint, EndpointFailure } from '../../domain/services/service-endpoint.ts';
import { openRequest, RequestFailure } from '../../lib/guarded/guarded-request.ts';
import { basicAuth, type CallOptions, commonHeaders, endpointFailure, headerText, urlOf } from './calls.ts';

const MAX_PROXY_BYTES = 32 * 1024 * 1024;
/** Of one connection only (RFC 9110 7.6.1), or what would show one side the other's sessions. */
const NOT_HANDED_ON = new Set([
  'authorization',
  'connection',
  'cookie',
  'expect',
  'host',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'set-cookie',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

export function createProxy(options: CallOptions): ServiceEndpoint['proxy'] {
  const { guard, deadlines } = options;
  return async (endpoint, request, call) => {
    const url = urlOf(endpoint, request.path);
    const base = urlOf(endpoint, '/');
    if (!request.path.startsWith('/') || url.origin !== base.origin || !url.pathname.startsWith(base.pathname)) {
      throw new EndpointFailure('forbidden_address', 'The path must lie below the address of the service.', {
        mayHaveHappened: false,
      });
    }
    const changes = !['GET', 'HEAD', 'OPTIONS'].includes(request.method.toUpperCase());
    const ended = new AbortController();
    const end = (): void => ended.abort();
    if (call.signal.aborted) end();
    call.signal.addEventListener('abort', end, { once: true });
    const timer = setTimeout(end, deadlines.long);
    const finish = (): void => {
      clearTimeout(timer);
      call.signal.removeEventListener('abort', end);
    };
    try {
      const answer = await openRequest(guard, {
        method: request.method,
        url,
        headers: {
          ...commonHeaders(endpoint, call),
          ...withoutClaims(handedOn(request.headers)),
          'x-tsuru-user': headerText(call.user),
          authorization: `Basic ${basicAuth(endpoint)}`,
        },
        body: request.body,
        connectMs: deadlines.connect,
        signal: ended.signal,
      });
      answer.once('close', finish);
      return { status: answer.statusCode ?? 502, headers: handedOn(answer.headers), body: bounded(answer) };
    } catch (error) {
      finish();
      if (error instanceof RequestFailure) throw endpointFailure(endpoint, error, changes && error.sent);
      throw error;
    }
  };
}

/** `Connection` names further fields that are of this connection only. */
function handedOn<T extends string | readonly string[]>(
  headers: Readonly<Record<string, T | undefined>>,
): Record<string, T> {
  const kept: Record<string, T> = {};
  const named = Object.entries(headers)
    .filter(([name]) => name.toLowerCase() === 'connection')
    .flatMap(([, value]) =>
      String(value)
        .toLowerCase()
        .split(/\s*,\s*/),
    );
  for (const [name, value] of Object.entries(headers)) {
    const lower = name.toLowerCase();
    if (value !== undefined && !NOT_HANDED_ON.has(lower) && !named.includes(lower)) kept[lower] = value;
  }
  return kept;
}

/** Who asks, and for which instance, is the platform's to say: providers believe it. Some take `_` in a name for `-`. */
function withoutClaims(headers: Readonly<Record<string, string>>): Record<string, string> {
  const isClaim = (name: string): boolean =>
    /^x-(?:(?:tsuru|tancho)-|request-id$|broker-api-.*-identity$)/.test(name.replaceAll('_', '-'));
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !isClaim(name)));
}

function bounded(answer: Readable): ProxyAnswer['body'] {
  let size = 0;
  const body = new Transform({
    transform(part: Buffer, _encoding, done) {
      size += part.length;
      if (size > MAX_PROXY_BYTES) done(new Error(`The answer is longer than ${MAX_PROXY_BYTES} bytes.`));
      else done(null, part);
    },
  });
  // Not pipeline(): an error of either side is the reader's to see, and both are to be gone after it.
  answer.once('error', (error) => body.destroy(error));
  body.once('close', () => answer.destroy());
  return answer.pipe(body);
}
