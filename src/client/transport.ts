/** One HTTP request over TCP, TLS or a unix socket; bounded in time and size. Knows nothing of the API's operations. */
import type { ClientRequest, IncomingMessage, RequestOptions } from 'node:http';
import type { Readable } from 'node:stream';
import { ClientError, errorFromBody } from './errors.ts';

export type ServerAddress = { readonly baseUrl: string } | { readonly socketPath: string };

export interface ServerCall {
  readonly method: string;
  /** Below the base, with query; begins with a slash. */
  readonly path: string;
  readonly body?: { readonly type: string } & ({ readonly text: string } | { readonly stream: Readable });
  readonly signal?: AbortSignal;
  /** Milliseconds without a byte after which we give up once connected; 0 waits for ever. */
  readonly idleMs: number;
}

export interface HttpResponse {
  readonly status: number;
  readonly requestId: string;
  readonly body: IncomingMessage;
}

interface Transport {
  /** The answer when its status is below 300, else the ClientError it holds. */
  send(call: ServerCall): Promise<HttpResponse>;
  /** How the target is called in messages. */
  readonly name: string;
}

const CONNECT_MS = 10_000;
const MAX_ERROR_BYTES = 1024 * 1024;

export function createTransport(target: ServerAddress, token: string | undefined): Transport {
  const name = nameOf(target);
  const base = 'baseUrl' in target ? parseBase(target.baseUrl) : null;
  return {
    name,
    async send(call) {
      // An import would load all that Node has for HTTP in browsers' manner too.
      const open = process.getBuiltinModule(base?.protocol === 'https:' ? 'node:https' : 'node:http').request;
      const options: RequestOptions = {
        method: call.method,
        headers: headersOf(call, token, base),
        agent: false,
        ...('socketPath' in target
          ? { socketPath: target.socketPath, path: call.path }
          : { ...addressOf(base), path: `${base?.pathname.replace(/\/+$/, '') ?? ''}${call.path}` }),
      };
      const response = await exchange(open(options), call, name);
      const status = response.statusCode ?? 0;
      if (status >= 300) throw await errorOf(response, name, call.path);
      return { status, requestId: headerOf(response, 'x-request-id'), body: response };
    },
  };
}

/** What an answer with status >= 300 to a request for `path` says. */
export async function errorOf(response: IncomingMessage, name: string, path: string): Promise<ClientError> {
  const status = response.statusCode ?? 0;
  if (status < 400) {
    response.destroy();
    return redirected(name, path, headerOf(response, 'location'));
  }
  const text = await readAll(response, MAX_ERROR_BYTES, name);
  return errorFromBody(status, text, headerOf(response, 'x-request-id'));
}

/** Nothing was done, and the token goes nowhere else than where it was given for. */
function redirected(name: string, path: string, location: string): ClientError {
  const base = /^https?:/.test(location) && location.endsWith(path) ? location.slice(0, -path.length) : '';
  return new ClientError(
    location === ''
      ? `What answers at ${name} leads elsewhere.`
      : `What answers at ${name} leads to ${location}; nothing was done.`,
    {
      status: 0,
      code: 'client.redirected',
      hint:
        base === ''
          ? 'Is this the address of a Tancho platform? Something before it may ask for a login of its own.'
          : `The platform is at another address; log in there: tancho login ${base}`,
    },
  );
}

/** How the target is called in messages. */
export function nameOf(target: ServerAddress): string {
  return 'baseUrl' in target ? target.baseUrl.replace(/\/+$/, '') : `the socket ${target.socketPath}`;
}

function parseBase(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || (url.protocol !== 'http:' && url.protocol !== 'https:')) {
    throw new ClientError(`"${text}" is not the address of a platform.`, {
      status: 0,
      code: 'client.bad_target',
      hint: 'Use an address such as http://127.0.0.1:8080.',
    });
  }
  return url;
}

function addressOf(base: URL | null): RequestOptions {
  if (base === null) return {};
  return { hostname: base.hostname.replace(/^\[|\]$/g, ''), ...(base.port === '' ? {} : { port: Number(base.port) }) };
}

function headersOf(call: ServerCall, token: string | undefined, base: URL | null): Record<string, string | number> {
  return {
    // RFC 9112: a request over a socket names no host of its own.
    host: base?.host ?? 'localhost',
    accept: 'application/json',
    ...(token === undefined ? {} : { authorization: `bearer ${token}` }),
    ...(call.body === undefined
      ? {}
      : {
          'content-type': call.body.type,
          ...('text' in call.body && { 'content-length': Buffer.byteLength(call.body.text) }),
        }),
  };
}

/** Sends and waits for the head of the answer; abort and silence end the body too, while it is being read. */
function exchange(request: ClientRequest, call: ServerCall, name: string): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const { signal } = call;
    let answer: IncomingMessage | undefined;
    let ofBody: Error | null = null;
    const giveUp = (error: Error): void => {
      (answer ?? request).destroy(error);
    };
    const onAbort = (): void => giveUp(abortError(signal));
    const connecting = setTimeout(
      () => giveUp(unreachable(name, `no connection within ${CONNECT_MS / 1000} seconds`, undefined)),
      CONNECT_MS,
    );
    const connected = (): void => {
      clearTimeout(connecting);
      request.setTimeout(call.idleMs, () => giveUp(timeout(name, call.idleMs)));
    };
    const done = (): void => {
      clearTimeout(connecting);
      signal?.removeEventListener('abort', onAbort);
    };
    request.once('socket', (socket) => {
      socket.setKeepAlive(true, 30_000);
      if (socket.connecting) socket.once('connect', connected);
      else connected();
    });
    request.once('response', (response) => {
      answer = response;
      response.once('close', done);
      resolve(response);
    });
    request.on('error', (error) => {
      done();
      const isOurs = error instanceof ClientError || error === ofBody || signal?.aborted === true;
      reject(isOurs ? error : fromSocket(error, name));
    });
    if (signal?.aborted === true) {
      onAbort();
      return;
    }
    signal?.addEventListener('abort', onAbort, { once: true });
    sendBody(request, call.body, (error) => giveUp((ofBody = error)));
  });
}

/** A stream is sent as it comes; whoever answers before its end gets no more of it. */
function sendBody(request: ClientRequest, body: ServerCall['body'], giveUp: (error: Error) => void): void {
  if (body === undefined || 'text' in body) {
    request.end(body?.text);
    return;
  }
  const { stream } = body;
  stream.once('error', giveUp);
  request.once('response', () => stream.unpipe(request));
  stream.pipe(request);
}

/** What an aborted call rejects with: the signal's own reason. */
function abortError(signal: AbortSignal | undefined): Error {
  return signal?.reason instanceof Error ? signal.reason : new DOMException('Aborted', 'AbortError');
}

function fromSocket(error: NodeJS.ErrnoException, name: string): ClientError {
  const why: Readonly<Record<string, string>> = {
    ECONNREFUSED: 'nothing listens there',
    ENOENT: 'the socket is not there',
    EACCES: 'this user may not open it',
    ENOTFOUND: 'its host name is not known',
    EAI_AGAIN: 'its host name cannot be looked up now',
    ECONNRESET: 'the connection was cut',
    ETIMEDOUT: 'it does not answer',
  };
  const code = error.code ?? '';
  return unreachable(name, why[code] ?? error.message, error);
}

function unreachable(name: string, why: string, cause: unknown): ClientError {
  return new ClientError(`The platform at ${name} cannot be reached: ${why}.`, {
    status: 0,
    code: 'client.unreachable',
    hint: 'Is it running? On its machine: tancho server status',
    ...(cause === undefined ? {} : { cause }),
  });
}

function timeout(name: string, idleMs: number): ClientError {
  return new ClientError(`The platform at ${name} has sent nothing for ${idleMs / 1000} seconds.`, {
    status: 0,
    code: 'client.timeout',
    hint: 'Try again; the operation may still be going on there.',
  });
}

/** The rest of a body as text. */
export async function readAll(body: IncomingMessage, most: number, name: string): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of chunksOf(body, name)) {
    size += chunk.length;
    if (size > most) {
      body.destroy();
      throw badAnswer(`The answer of ${name} is larger than ${most} bytes.`);
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

/** The chunks of a body; a connection that breaks becomes a ClientError. */
export async function* chunksOf(body: IncomingMessage, name: string): AsyncGenerator<Buffer> {
  try {
    for await (const chunk of body as AsyncIterable<Buffer>) yield chunk;
  } catch (error) {
    if (error instanceof ClientError) throw error;
    const thrown = error as NodeJS.ErrnoException;
    if (thrown.name === 'AbortError' || thrown.code === undefined) throw error;
    throw fromSocket(thrown, name);
  }
}

export function badAnswer(message: string, status = 0): ClientError {
  return new ClientError(message, {
    status,
    code: 'client.bad_answer',
    hint: 'Is this the address of a Tancho platform?',
  });
}

function headerOf(response: IncomingMessage, name: string): string {
  const value = response.headers[name];
  return typeof value === 'string' ? value : '';
}
