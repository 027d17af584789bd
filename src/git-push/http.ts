/**
 * The HTTP door: `git push https://<email>:<token>@<host>/git/<app>.git`. The smart protocol only, streamed both ways.
 * Works on bare node:http requests, in front of the API's own routes.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import type { RefusalLog } from '../domain/audit/audit.ts';
import type { Caller } from '../domain/caller.ts';
import { type ErrorCode, isPlatformError, PlatformError, toPlatformError } from '../domain/errors.ts';
import type { Logger } from '../lib/logger.ts';
import { TrustedProxies } from '../lib/trusted-proxies.ts';
import { callerOf, type GitLogins } from './http-caller.ts';
import { packetLine } from './packet-line.ts';
import { printableName } from './printable.ts';
import { appOfPath, NO_LFS, refusalText } from './refusal.ts';
import type { GitServiceName } from './repositories.ts';
import type { GitSessions } from './sessions.ts';

interface GitHttpOptions extends GitLogins {
  readonly audit: RefusalLog;
  readonly sessions: GitSessions;
  readonly logger: Logger;
  /** Believed for whom they speak; nobody when absent. */
  readonly trustedProxies?: TrustedProxies;
}

/** True when the request was git's and is being answered; false: not ours, untouched. */
export type GitHttp = (request: IncomingMessage, response: ServerResponse) => boolean;

interface Target {
  readonly path: string;
  readonly service: GitServiceName;
  readonly mode: 'advertise' | 'rpc';
}

const NOBODY = new TrustedProxies([]);
const PREFIX = '/git/';
const LFS = /^\/git\/[^/?]+\/info\/lfs\//;
const SERVICES: readonly GitServiceName[] = ['git-receive-pack', 'git-upload-pack'];

const STATUS: Partial<Record<ErrorCode, number>> = {
  'input.invalid': 400,
  'auth.required': 401,
  'auth.wrong_password': 401,
  'user.not_found': 401,
  'user.invalid_password': 401,
  'access.denied': 403,
  unsupported: 403,
  'app.not_found': 404,
  'auth.throttled': 429,
  too_many_requests: 429,
  unavailable: 503,
  'disk.low': 507,
};

export function createGitHttp(options: GitHttpOptions): GitHttp {
  return (request, response) => {
    if (request.url === undefined || !request.url.startsWith(PREFIX)) return false;
    if (LFS.test(request.url)) {
      refuseLfs(request, response);
      return true;
    }
    void answer(request, response, options).catch((error: unknown) => {
      options.logger.error({ err: error }, 'git over http');
      response.destroy();
    });
    return true;
  };
}

async function answer(request: IncomingMessage, response: ServerResponse, options: GitHttpOptions): Promise<void> {
  const gone = new AbortController();
  response.once('close', () => {
    if (!response.writableFinished) gone.abort();
  });
  try {
    const target = targetOf(request);
    const caller = await callerOf(request, options, options.trustedProxies ?? NOBODY);
    const app = appOfPath(target.path);
    await serve(request, response, {
      target,
      caller,
      app,
      sessions: options.sessions,
      logger: options.logger,
      signal: gone.signal,
    });
  } catch (error) {
    if (isWrongLogin(error)) {
      const address = (options.trustedProxies ?? NOBODY).clientOf(request);
      const caller = { kind: 'anonymous', address } as const;
      options.audit.refused({ caller, action: 'user.login', target: '', detail: 'git over HTTP' }, error);
    }
    if (gone.signal.aborted) return;
    if (response.headersSent) response.destroy();
    else refuse(request, response, error, options.logger);
  }
}

/** Git asks without a password first: that is no attempt. */
function isWrongLogin(error: unknown): boolean {
  return isPlatformError(error, 'auth.wrong_password') || isPlatformError(error, 'auth.throttled');
}

interface Exchange {
  readonly logger: Logger;
  readonly target: Target;
  readonly caller: Caller;
  readonly app: string;
  readonly sessions: GitSessions;
  readonly signal: AbortSignal;
}

async function serve(request: IncomingMessage, response: ServerResponse, exchange: Exchange): Promise<void> {
  const { caller, app, sessions, logger, signal } = exchange;
  const { service, mode } = exchange.target;
  const protocol = header(request, 'git-protocol');
  const errors = (text: Buffer): void => logger.debug({ app, service }, `git says: ${printableName(text.toString())}`);
  const code = await sessions.serve({ caller, app, service, mode, protocol, signal }, () => {
    response.writeHead(200, {
      'content-type': `application/x-${service}-${mode === 'advertise' ? 'advertisement' : 'result'}`,
      'cache-control': 'no-cache, max-age=0, must-revalidate',
      expires: 'Fri, 01 Jan 1980 00:00:00 GMT',
      pragma: 'no-cache',
      'x-accel-buffering': 'no',
    });
    if (mode === 'advertise' && !isVersion2(service, protocol))
      response.write(`${packetLine(`# service=${service}\n`)}0000`);
    return { input: bodyOf(request), output: response, errors };
  });
  // Of an answer that is cut off a client must not believe that it is whole: git would wait for ever for what is to follow.
  if (code < 0) response.destroy();
  else response.end();
}

/** In version 2 of the fetch protocol the answer begins without naming the service. */
function isVersion2(service: GitServiceName, protocol: string): boolean {
  return service === 'git-upload-pack' && protocol.split(':').includes('version=2');
}

function bodyOf(request: IncomingMessage): Readable {
  const encoding = header(request, 'content-encoding');
  if (encoding !== 'gzip' && encoding !== 'x-gzip') return request;
  const plain = createGunzip();
  request.on('error', (error) => plain.destroy(error));
  return request.pipe(plain);
}

function header(request: IncomingMessage, name: string): string {
  const value = request.headers[name];
  return typeof value === 'string' ? value : '';
}

/** Throws for what is not one of the four requests of the smart protocol. */
function targetOf(request: IncomingMessage): Target {
  const [pathname = '', query = ''] = (request.url ?? '').split('?', 2);
  const parts = pathname.slice(PREFIX.length).split('/');
  const [path = '', ...rest] = parts;
  const what = rest.join('/');
  if (what === 'info/refs') {
    const service = SERVICES.find((name) => name === new URLSearchParams(query).get('service'));
    if (service !== undefined && request.method === 'GET') return { path, service, mode: 'advertise' };
  } else {
    const service = SERVICES.find((name) => name === what);
    if (service !== undefined && request.method === 'POST') {
      if (header(request, 'content-type') === `application/x-${service}-request`) return { path, service, mode: 'rpc' };
      throw new PlatformError('input.invalid', `The content type must be application/x-${service}-request.`);
    }
  }
  throw new PlatformError('unsupported', 'Only the smart protocol of git is spoken here.', {
    hint: 'Use git 1.6.6 or newer, and the address http(s)://<host>/git/<app>.git',
  });
}

function refuse(request: IncomingMessage, response: ServerResponse, error: unknown, logger: Logger): void {
  const { code, details } = toPlatformError(error);
  const retryAfter = details['retryAfterSeconds'];
  const status = STATUS[code] ?? 500;
  answerRefusal(request, response, {
    status,
    headers: {
      'content-type': 'text/plain; charset=utf-8',
      ...(status === 401 ? { 'www-authenticate': 'Basic realm="tancho", charset="UTF-8"' } : {}),
      ...(retryAfter === undefined ? {} : { 'retry-after': String(retryAfter) }),
    },
    text: `${refusalText(error, logger)}\n`,
  });
}

/** As its API says it; with this status it goes on without locks, too. */
function refuseLfs(request: IncomingMessage, response: ServerResponse): void {
  answerRefusal(request, response, {
    status: 501,
    headers: { 'content-type': 'application/vnd.git-lfs+json' },
    text: JSON.stringify({ message: NO_LFS }),
  });
}

interface Refusal {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
}

function answerRefusal(request: IncomingMessage, response: ServerResponse, refusal: Refusal): void {
  response.writeHead(refusal.status, {
    ...refusal.headers,
    'cache-control': 'no-cache',
    // What the client still sends is not read, so the connection cannot be used again.
    ...(request.complete ? {} : { connection: 'close' }),
  });
  response.end(refusal.text);
  request.resume();
}
