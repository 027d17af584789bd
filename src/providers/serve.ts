/**
 * A provider's HTTP server: takes the contract's requests apart, has the handlers do what they ask, and answers with the
 * contract's statuses. Keeps nothing; state is the handlers' business.
 */
import { createHash } from 'node:crypto';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { atMost, inTime } from '../lib/deadline.ts';
import { hostPort } from '../lib/host-port.ts';
import { listening } from '../lib/listening.ts';
import { createServer } from '../lib/node-http.ts';
import { type ProviderAnswer, errorAnswer, send, statusAnswer } from './answer.ts';
import { bindRequest, createRequest, type Fields, first, type CallTarget, targetOf, unitRequest } from './calls.ts';
import { type Operation, type ProviderCall, ProviderError, type ProviderHandlers } from './contract.ts';
import { Joined } from './joined.ts';
import { createGate, type Credentials, readFields } from './request.ts';

/** The platform waits a minute for a change; before that the answer is to ask again. */
const CALL_MS = 50_000;
const MOST_CALLS = 200;
const STOP_MS = 10_000;
const MOST_LOGGED = 300;

/** Called around every call of the contract; null: it has answered by itself, or never will. */
type Around = (exchange: ProviderExchange, run: () => Promise<ProviderAnswer>) => Promise<ProviderAnswer | null>;

export interface ProviderExchange {
  readonly operation: Operation;
  readonly instance: string;
  readonly method: string;
  /** Without the query. */
  readonly path: string;
  readonly fields: Fields;
  readonly idempotencyKey: string;
  readonly response: ServerResponse;
}

export interface ServeOptions extends Credentials {
  readonly host: string;
  /** 0: any free port. */
  readonly port: number;
  readonly handlers: ProviderHandlers;
  /** One line per request, and one per fault; no secrets. */
  readonly log?: (line: string) => void;
  readonly around?: Around;
  /** Paths beyond the contract, behind the same credentials. Null: not one of them. */
  readonly beyond?: (request: IncomingMessage, path: string) => Promise<ProviderAnswer | null>;
  readonly callMs?: number;
  /** How long a stop waits for calls that run. */
  readonly stopMs?: number;
}

export interface RunningProvider {
  /** `http://127.0.0.1:8432` */
  readonly url: string;
  /** Resolves when calls that run have been answered, or have been cut off after a while. The handlers' connections are not its business. */
  stop(): Promise<void>;
}

export async function serveProvider(options: ServeOptions): Promise<RunningProvider> {
  const listener = createListener(options);
  const server = createServer({ headersTimeout: 10_000, requestTimeout: 30_000, keepAliveTimeout: 5_000 }, listener);
  server.maxConnections = 2 * MOST_CALLS;
  await listening(server, { port: options.port, host: options.host });
  const { address, port } = server.address() as AddressInfo;
  let stopping: Promise<void> | null = null;
  return {
    url: `http://${hostPort({ host: address, port })}`,
    stop: () => (stopping ??= closed(server, options.stopMs ?? STOP_MS)),
  };
}

async function closed(server: Server, patienceMs: number): Promise<void> {
  const end = new Promise<void>((resolve) => server.close(() => resolve()));
  server.closeIdleConnections();
  await atMost(patienceMs, end);
  server.closeAllConnections();
  await end;
}

function createListener(options: ServeOptions): (request: IncomingMessage, response: ServerResponse) => void {
  const { log = () => {} } = options;
  const isAllowed = createGate(options);
  const joined = new Joined<ProviderAnswer>();
  /** Connections, and what is being done: a caller may leave before its work is finished. */
  let running = 0;
  let working = 0;

  async function answerTo(request: IncomingMessage, response: ServerResponse): Promise<ProviderAnswer | null> {
    const [path = '', query = ''] = splitOnce(request.url ?? '/', '?');
    if (!isAllowed(request.headers.authorization)) {
      const headers = { 'www-authenticate': 'Basic realm="provider"' };
      return { status: 401, body: 'This needs the name and the password of the service.', headers };
    }
    const special = (await options.beyond?.(request, path)) ?? null;
    if (special !== null) return special;
    const method = request.method ?? '';
    const target = targetOf(method, path);
    if (target === null) return { status: 404, body: 'The contract has no such path.' };
    if ('allowed' in target) {
      return { status: 405, body: 'Not with this method.', headers: { allow: target.allowed.join(', ') } };
    }
    const fields = await readFields(request, query);
    const idempotencyKey = headerOf(request, 'idempotency-key');
    const exchange = { ...target, method, path, fields, idempotencyKey, response };
    const instanceId = headerOf(request, 'x-tancho-instance-id');
    const bindingId = headerOf(request, 'x-tancho-binding-id');
    const call = {
      idempotencyKey,
      instanceId,
      bindingId,
      user: first(fields, 'user') || headerOf(request, 'x-tsuru-user'),
      fields,
    };
    const run = (): Promise<ProviderAnswer> => {
      const work = async (): Promise<ProviderAnswer> => {
        if (working >= MOST_CALLS) return BUSY;
        working += 1;
        try {
          return await perform(options.handlers, target, call);
        } finally {
          working -= 1;
        }
      };
      const isRead = ['plans', 'info', 'status'].includes(target.operation);
      const started = isRead || idempotencyKey === '' ? work() : joined.run(stepOf(exchange), work);
      return inTime(options.callMs ?? CALL_MS, started, takesLonger);
    };
    const onFault = (error: unknown): void => log(`${method} ${path}: ${faultText(error)}`);
    const answered = (): Promise<ProviderAnswer> => run().catch((error: unknown) => errorAnswer(error, onFault));
    return options.around === undefined ? answered() : options.around(exchange, answered);
  }

  return (request, response) => {
    const begun = Date.now();
    running += 1;
    response.once('close', () => {
      running -= 1;
      const path = (request.url ?? '').split('?')[0]?.slice(0, MOST_LOGGED) ?? '';
      const status = response.writableFinished ? String(response.statusCode) : 'not answered';
      log(`${request.method ?? ''} ${path} ${status} ${Date.now() - begun} ms`);
    });
    const work = running > MOST_CALLS ? Promise.resolve(BUSY) : answerTo(request, response);
    work
      .catch((error: unknown) => errorAnswer(error, (fault) => log(faultText(fault))))
      .then((answer) => {
        if (answer !== null) send(response, answer);
        // A connection whose request was not read to its end cannot carry another one.
        if (!request.complete) response.once('finish', () => request.destroy());
      })
      .catch((error: unknown) => {
        log(faultText(error));
        response.destroy();
      });
  };
}

const BUSY: ProviderAnswer = {
  status: 503,
  body: 'Too many calls at once; ask again.',
  headers: { 'retry-after': '1' },
};

async function perform(handlers: ProviderHandlers, target: CallTarget, call: ProviderCall): Promise<ProviderAnswer> {
  const { instance } = target;
  switch (target.operation) {
    case 'plans':
      return { status: 200, body: await handlers.plans() };
    case 'create':
      await handlers.create(createRequest(call));
      return { status: 201 };
    case 'info':
      return { status: 200, body: await handlers.info(instance) };
    case 'status':
      return statusAnswer(await handlers.status(instance));
    case 'bind':
      return { status: 201, body: await handlers.bind(bindRequest(call, instance)) };
    case 'unbind':
      await handlers.unbind(bindRequest(call, instance));
      return { status: 200 };
    case 'bindUnit':
    case 'unbindUnit': {
      // Before its fields: to a caller that looks for an older contract here, 404 says that there is no such instance.
      await handlers.status(instance);
      const unit = unitRequest(call, instance);
      await (target.operation === 'bindUnit' ? handlers.bindUnit?.(unit) : handlers.unbindUnit?.(unit));
      return { status: target.operation === 'bindUnit' ? 201 : 200 };
    }
    case 'remove':
      await handlers.remove({ ...call, instance });
      return { status: 200 };
  }
}

/** The work itself goes on; whoever asks again with the same key waits for it. */
function takesLonger(): ProviderError {
  return new ProviderError('unavailable', 'This takes longer; ask again with the same Idempotency-Key.');
}

/** The key alone would let one step answer for another when a caller uses it twice. */
function stepOf({ method, path, fields, idempotencyKey }: ProviderExchange): string {
  const text = JSON.stringify([method, path, [...fields].sort(), idempotencyKey]);
  return createHash('sha256').update(text).digest('hex');
}

function headerOf(request: IncomingMessage, name: string): string {
  const value = request.headers[name];
  return (Array.isArray(value) ? value[0] : value)?.slice(0, MOST_LOGGED) ?? '';
}

function splitOnce(text: string, separator: string): [string, string] {
  const at = text.indexOf(separator);
  return at === -1 ? [text, ''] : [text.slice(0, at), text.slice(at + separator.length)];
}

function faultText(error: unknown): string {
  return error instanceof Error ? `${error.name}: ${error.message}` : String(error);
}
