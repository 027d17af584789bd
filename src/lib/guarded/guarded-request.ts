/**
 * One HTTP request to an address that users chose: only checked addresses are connected to, with the host's name kept for TLS and
 * the Host field. Redirects are answered, not followed; nothing is kept open afterwards.
 */
import type { IncomingMessage, RequestOptions } from 'node:http';
import type { Socket } from 'node:net';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream';
import { request as requestHttp } from '../node-http.ts';
import { type AddressGuard, ForbiddenAddress, type ResolvedAddress, UnknownHost } from './address-guard.ts';

/** For one of several addresses. */
const LEAST_ATTEMPT_MS = 250;

interface GuardedRequest {
  readonly method: string;
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Readable | null;
  /** Until the connection stands, with TLS where there is. */
  readonly connectMs: number;
  /** Ends the request, and later the reading of its answer. */
  readonly signal: AbortSignal;
  /** PEM of roots that the server is trusted by, in place of those that everybody trusts. */
  readonly roots?: string;
}

type RequestFailureCode = 'forbidden' | 'unreachable' | 'timeout' | 'malformed' | 'too_long';

export class RequestFailure extends Error {
  override readonly name = 'RequestFailure';
  readonly code: RequestFailureCode;
  /** False: not one byte of the request has reached the other side. */
  readonly sent: boolean;

  constructor(code: RequestFailureCode, message: string, sent: boolean, cause?: unknown) {
    super(message, { cause });
    this.code = code;
    this.sent = sent;
  }
}

/** Resolves with the head of the answer; whoever gets it reads or destroys it. Throws RequestFailure only. */
export async function openRequest(guard: AddressGuard, request: GuardedRequest): Promise<IncomingMessage> {
  const addresses = await checked(guard, request);
  const { url, method, body, connectMs, signal, roots } = request;
  const isTls = url.protocol === 'https:';
  const headers: Record<string, string | number> = { ...request.headers };
  if (typeof body === 'string') headers['content-length'] = Buffer.byteLength(body);
  const options: RequestOptions & { autoSelectFamilyAttemptTimeout: number; ca?: string } = {
    method,
    headers,
    agent: false,
    signal,
    lookup: pinned(addresses),
    // Each address has its share, so that one that swallows packets does not stand in the way of the next.
    autoSelectFamilyAttemptTimeout: Math.max(LEAST_ATTEMPT_MS, Math.floor(connectMs / Math.max(addresses.length, 1))),
    ...(roots !== undefined && { ca: roots }),
  };
  return new Promise((resolve, reject) => {
    let sent = false;
    let isLate = false;
    const open = isTls ? process.getBuiltinModule('node:https').request : requestHttp;
    const outgoing = open(url, options);
    const connecting = setTimeout(() => {
      isLate = true;
      outgoing.destroy();
    }, connectMs);
    const connected = (): void => {
      sent = true;
      clearTimeout(connecting);
    };
    outgoing.once('socket', (socket: Socket) => socket.once(isTls ? 'secureConnect' : 'connect', connected));
    outgoing.once('response', (answer) => {
      resolve(answer);
    });
    outgoing.once('upgrade', (_answer, socket) => {
      socket.destroy();
      reject(new RequestFailure('malformed', 'it wants to go on with another protocol', sent));
    });
    outgoing.once('close', () => {
      clearTimeout(connecting);
      // Whatever ended it: who has neither an answer nor an error by now would wait for ever.
      reject(failureOf(new Error('closed without an answer'), signal, sent));
    });
    outgoing.on('error', (error) => {
      if (isLate) reject(new RequestFailure('unreachable', `no connection within ${connectMs} ms`, sent, error));
      else reject(failureOf(error, signal, sent));
    });
    if (body === null || typeof body === 'string') outgoing.end(body ?? undefined);
    else pipeline(body, outgoing, () => undefined);
  });
}

async function checked(guard: AddressGuard, request: GuardedRequest): Promise<readonly ResolvedAddress[]> {
  const { signal, url } = request;
  let giveUp = (): void => undefined;
  const aborted = new Promise<never>((_, reject) => {
    giveUp = () => reject(new RequestFailure('timeout', 'no answer in time', false));
    if (signal.aborted) giveUp();
    signal.addEventListener('abort', giveUp, { once: true });
  });
  try {
    return await Promise.race([guard.check(url), aborted]);
  } catch (error) {
    if (error instanceof RequestFailure) throw error;
    if (error instanceof ForbiddenAddress) throw new RequestFailure('forbidden', error.message, false, error);
    const reason = error instanceof UnknownHost ? error.message : 'its name cannot be resolved';
    throw new RequestFailure('unreachable', reason, false, error);
  } finally {
    signal.removeEventListener('abort', giveUp);
  }
}

/** Answers what was checked, whatever the name has come to mean since. Not asked where the host is an address. */
function pinned(addresses: readonly ResolvedAddress[]): NonNullable<RequestOptions['lookup']> {
  return (_host, options, done) => {
    const [first] = addresses;
    if (first === undefined) done(new Error('no address'), '', 4);
    else if (options.all === true) done(null, [...addresses]);
    else done(null, first.address, first.family);
  };
}

function failureOf(error: Error & { code?: string }, signal: AbortSignal, sent: boolean): RequestFailure {
  if (signal.aborted) return new RequestFailure('timeout', 'no answer in time', sent, error);
  const code = error.code ?? 'unknown';
  if (code.startsWith('HPE_')) return new RequestFailure('malformed', `not an HTTP answer (${code})`, sent, error);
  return new RequestFailure('unreachable', code === 'ECONNRESET' ? 'the connection broke' : code, sent, error);
}

/** The whole body; one that is longer is not read to its end. Throws RequestFailure only. */
export async function readAnswer(answer: IncomingMessage, maxBytes: number, signal: AbortSignal): Promise<string> {
  const parts: Buffer[] = [];
  let size = 0;
  try {
    for await (const part of answer as AsyncIterable<Buffer>) {
      size += part.length;
      if (size > maxBytes) throw new RequestFailure('too_long', `longer than ${maxBytes} bytes`, true);
      parts.push(part);
    }
  } catch (error) {
    if (error instanceof RequestFailure) throw error;
    throw failureOf(error instanceof Error ? error : new Error(String(error)), signal, true);
  } finally {
    answer.destroy();
  }
  return Buffer.concat(parts).toString('utf8');
}
