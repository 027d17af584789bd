/** Requests to the API server: over kept connections, each with a time-out, tried again where that does no harm. */
import type { ClientRequest, IncomingMessage } from 'node:http';
import type { Agent } from 'node:https';
import type { Readable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { deadline } from '../lib/deadline.ts';
import type { ClusterAccess, ClusterLogin } from './access.ts';
import { isPassing, KubernetesError, refusal, UNREACHABLE } from './kubernetes-error.ts';
import { Multiplexed, type Secure } from './multiplexed.ts';

const HEAD_MS = 20_000;
/** That a timer can have, some weeks. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;
/** How long one question is tried again. */
const PATIENCE_MS = 30_000;
const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 1_000;
/** At once; those beyond wait for a connection. Watches have their own. */
const MAX_SOCKETS = 16;
const KEEP_ALIVE_MS = 15_000;
const MAX_BODY_BYTES = 64 * 1024 * 1024;
const MAX_ERROR_BYTES = 64 * 1024;
const NEVER = new AbortController().signal;
const ACCEPT = { accept: 'application/json', 'user-agent': 'tancho' };

export interface ApiRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly path: string;
  readonly query?: Readonly<Record<string, string | undefined>>;
  readonly body?: unknown;
  /** Absent: JSON. */
  readonly contentType?: string;
  /** Asked twice it does the same: it may be tried again whatever has become of it. Absent: all but POST. */
  readonly isIdempotent?: boolean;
  /** Whoever asks comes back by himself: a failure is the answer. Absent: it is tried again. */
  readonly isRepeated?: boolean;
  /** There may be nothing to answer with for hours, and the head is waited for as long as the connection lasts. */
  readonly isSilentAtFirst?: boolean;
  readonly signal?: AbortSignal;
}

interface TlsChoice {
  readonly secure: Secure;
  readonly headers: ClusterLogin['headers'];
}

/** One login's connections. */
interface Agents {
  readonly certificate: ClusterLogin['certificate'];
  readonly secure: Secure;
  readonly short: Agent;
  readonly long: Agent;
  /** Null: not with this server. */
  many: Multiplexed | null;
}

export class Transport {
  readonly #access: ClusterAccess;
  readonly #http: typeof import('node:http') | typeof import('node:https');
  #agents: Agents | null = null;
  readonly #underWay = new Set<ClientRequest>();

  constructor(access: ClusterAccess) {
    this.#access = access;
    this.#http = process.getBuiltinModule(access.cluster.server.protocol === 'http:' ? 'node:http' : 'node:https');
  }

  /** The body of a success; throws KubernetesError, AccessProblem. */
  async ask(request: ApiRequest): Promise<string> {
    const { signal: unwanted, isIdempotent = request.method !== 'POST', isRepeated = true } = request;
    const limited = deadline(PATIENCE_MS, unwanted ?? null);
    try {
      for (let attempt = 0; ; attempt++) {
        try {
          return await readAll(await this.#open(request, 'short', limited.signal), MAX_BODY_BYTES);
        } catch (error) {
          unwanted?.throwIfAborted();
          const pauseMs = isRepeated ? pauseBefore(error, attempt, isIdempotent) : null;
          if (pauseMs === null || limited.signal.aborted) throw error;
          await delay(pauseMs, undefined, { signal: limited.signal }).catch(() => {
            throw error;
          });
        }
      }
    } finally {
      limited.clear();
    }
  }

  /** An answer whose body goes on for long; to be read, or destroyed. Not tried again. */
  async stream(request: ApiRequest): Promise<IncomingMessage> {
    return this.#open(request, 'long', request.signal ?? NEVER);
  }

  /** The same where there may be thousands at a time: over few connections, if the server can do that. `onSent`: there is a connection, and the question is on its way. */
  async streamOfMany(request: ApiRequest, onSent: () => void = () => undefined): Promise<Readable> {
    const { path, query, signal = NEVER } = request;
    const headMs = headMsOf(request);
    const { pathname, search } = this.url(path, query);
    for (let attempt = 0; ; attempt++) {
      const login = await this.#access.login();
      const agents = this.#agentsOf(login);
      const headers = { ...ACCEPT, ...login.headers };
      const asked = { path: pathname + search, headers, signal, headMs, onSent };
      const answer = await agents.many?.get(asked).catch((error: unknown) => {
        throw unreachable(error);
      });
      if (answer === undefined || answer === null) {
        agents.many = null;
        onSent();
        return this.stream(request);
      }
      if (answer.status >= 200 && answer.status < 300) return answer.body;
      const body = await readAll(answer.body, MAX_ERROR_BYTES).catch(() => '');
      if (answer.status === 401 && attempt === 0) this.#access.refused();
      else throw refusal(answer.status, body, answer.headers['retry-after']);
    }
  }

  /** For connections that are no requests. */
  async tls(): Promise<TlsChoice> {
    const login = await this.#access.login();
    return { secure: this.#agentsOf(login).secure, headers: login.headers };
  }

  url(path: string, query: ApiRequest['query'] = {}): URL {
    const { server } = this.#access.cluster;
    const url = new URL(server.pathname.replace(/\/+$/, '') + path, server);
    for (const [name, value] of Object.entries(query)) if (value !== undefined) url.searchParams.set(name, value);
    return url;
  }

  close(): void {
    const closed = new KubernetesError(0, UNREACHABLE, 'The connection to Kubernetes was closed.');
    for (const request of this.#underWay) request.destroy(closed);
    this.#agents?.many?.close();
    this.#dropAgents();
  }

  /** Resolves with the head of a success; a login that is refused is had anew, once. */
  async #open(request: ApiRequest, kind: 'short' | 'long', signal: AbortSignal): Promise<IncomingMessage> {
    for (let attempt = 0; ; attempt++) {
      const login = await this.#access.login();
      const response = await this.#head(request, login, this.#agentsOf(login)[kind], signal);
      const { statusCode = 0 } = response;
      if (statusCode >= 200 && statusCode < 300) return response;
      const body = await readAll(response, MAX_ERROR_BYTES).catch(() => '');
      if (statusCode === 401 && attempt === 0) this.#access.refused();
      else throw refusal(statusCode, body, response.headers['retry-after']);
    }
  }

  #head(request: ApiRequest, login: ClusterLogin, agent: Agent, signal: AbortSignal): Promise<IncomingMessage> {
    const { method, path, query, body, contentType = 'application/json' } = request;
    const text = body === undefined ? null : JSON.stringify(body);
    const limited = deadline(headMsOf(request), signal);
    return new Promise<IncomingMessage>((resolve, reject) => {
      const sent: ClientRequest = this.#http.request(this.url(path, query), {
        method,
        agent,
        headers: {
          ...ACCEPT,
          ...(text !== null && { 'content-type': contentType, 'content-length': Buffer.byteLength(text) }),
          ...login.headers,
        },
      });
      const giveUp = (): void => void sent.destroy(unreachable(limited.signal.reason));
      limited.signal.addEventListener('abort', giveUp, { once: true });
      if (limited.signal.aborted) giveUp();
      this.#underWay.add(sent);
      sent.once('close', () => this.#underWay.delete(sent));
      sent.once('response', (response) => {
        limited.clear();
        limited.signal.removeEventListener('abort', giveUp);
        // What is not wanted any more while its body comes is ended there.
        const leave = (): void => void response.destroy(unreachable(signal.reason));
        signal.addEventListener('abort', leave, { once: true });
        response.once('close', () => signal.removeEventListener('abort', leave));
        if (signal.aborted) leave();
        resolve(response);
      });
      sent.once('error', (error) => {
        limited.clear();
        reject(unreachable(error));
      });
      sent.end(text ?? undefined);
    });
  }

  #agentsOf({ certificate }: ClusterLogin): Agents {
    const known = this.#agents;
    if (known !== null && isSame(known.certificate, certificate)) return known;
    this.#dropAgents();
    const { server } = this.#access.cluster;
    const secure = this.#secure(certificate);
    const options = { keepAlive: true, keepAliveMsecs: KEEP_ALIVE_MS, timeout: 0, ...secure };
    const { Agent: Kept } = this.#http;
    const made = new Kept({ ...options, maxSockets: MAX_SOCKETS }) as Agent;
    const many = server.protocol === 'https:' ? new Multiplexed({ server, secure }) : null;
    this.#agents = { certificate, secure, short: made, long: new Kept(options) as Agent, many };
    return this.#agents;
  }

  /** Connections that are in use end with what they are used for. */
  #dropAgents(): void {
    const agents = this.#agents === null ? [] : [this.#agents.short, this.#agents.long];
    this.#agents?.many?.retire();
    this.#agents = null;
    for (const agent of agents) {
      agent.maxFreeSockets = 0;
      for (const socket of Object.values(agent.freeSockets).flat()) socket?.destroy();
    }
  }

  #secure(certificate: ClusterLogin['certificate']): Secure {
    const { server, authorities, isVerified, serverName } = this.#access.cluster;
    const secure = { rejectUnauthorized: isVerified, ...(serverName !== null && { servername: serverName }) };
    if (server.protocol === 'http:') return secure;
    const secureContext = process.getBuiltinModule('node:tls').createSecureContext({
      ...(authorities !== null && { ca: authorities }),
      ...(certificate !== null && { cert: certificate.chain, key: certificate.key }),
    });
    return { ...secure, secureContext };
  }
}

function headMsOf({ isSilentAtFirst = false }: ApiRequest): number {
  return isSilentAtFirst ? LONGEST_TIMER_MS : HEAD_MS;
}

/** Null: it is not to be tried again. */
function pauseBefore(error: unknown, attempt: number, isIdempotent: boolean): number | null {
  if (!isPassing(error)) return null;
  const isUntouched = error.status === 429 || isRefusedConnection(error);
  if (!isUntouched && !isIdempotent) return null;
  if (error.retryAfterMs !== null) return error.retryAfterMs;
  const longest = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** attempt);
  return longest * (0.5 + Math.random() / 2);
}

function isRefusedConnection({ status, cause }: KubernetesError): boolean {
  return status === 0 && cause instanceof Error && (cause as NodeJS.ErrnoException).code === 'ECONNREFUSED';
}

function unreachable(cause: unknown): KubernetesError {
  if (cause instanceof KubernetesError) return cause;
  const why = cause instanceof Error ? cause.message : String(cause);
  return new KubernetesError(0, UNREACHABLE, `Kubernetes was not reached: ${why}`, { cause });
}

function isSame(one: ClusterLogin['certificate'], other: ClusterLogin['certificate']): boolean {
  return one?.chain === other?.chain && one?.key === other?.key;
}

async function readAll(response: AsyncIterable<unknown>, maxBytes: number): Promise<string> {
  const parts: Buffer[] = [];
  let size = 0;
  try {
    for await (const part of response as AsyncIterable<Buffer>) {
      size += part.length;
      if (size > maxBytes)
        throw new KubernetesError(0, 'TooLarge', `An answer of Kubernetes is longer than ${maxBytes} bytes.`);
      parts.push(part);
    }
  } catch (error) {
    throw unreachable(error);
  }
  return Buffer.concat(parts).toString('utf8');
}
