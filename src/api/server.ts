/**
 * Serves the operations over HTTP: the only file that knows the framework. What is served is in operations.ts and
 * variants.ts; what an error becomes in status.ts and error-body.ts; the sockets are in listeners.ts.
 */
import Fastify, {
  type FastifyError,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  type FastifySchema,
} from 'fastify';
import type { IncomingMessage, OutgoingHttpHeaders, RequestListener, ServerResponse } from 'node:http';
import { PlatformError, toPlatformError } from '../domain/errors.ts';
import type { UseCases } from '../domain/use-cases.ts';
import { randomHex } from '../lib/ids.ts';
import type { Logger } from '../lib/logger.ts';
import { decodeBody, type RawBody, readFields } from './body.ts';
import { Call, CallContext } from './call.ts';
import { admit, identify, refuseCrossSite, SOCKET_ADDRESS } from './caller.ts';
import { DOCUMENT_PATHS, documents } from './documents.ts';
import { errorAnswer, prefersText } from './error-body.ts';
import { answerFollow } from './follow-answer.ts';
import { closeServer, type Listen, listenOnSocket, listenOnTcp } from './listeners.ts';
import { changes, type Input } from './operation.ts';
import { answerOutput, answerProgress } from './progress-answer.ts';
import { ResponseStream } from './response-stream.ts';
import { methodsAt, type Route, routesOf } from './routes.ts';
import { StandingAnswers } from './standing-answers.ts';
import { VARIANTS } from './variants.ts';

declare module 'fastify' {
  interface FastifyRequest {
    call: Call;
  }
}

export interface ApiServerOptions {
  readonly useCases: UseCases;
  readonly listen: Listen;
  /** Unix socket for the owner of the machine; null for none. */
  readonly socketPath: string | null;
  readonly version: string;
  readonly logger: Logger;
  readonly bodyLimitBytes: number;
  /** False until the platform can serve; only the healthcheck asks. */
  readonly ready: () => boolean;
  /** See Store.version(); absent: every answer is made anew. */
  readonly stateVersion?: () => Promise<string>;
  /** Offered every request below `/git/` before anything is read; true when it has taken it. */
  readonly gitHandler?: (request: IncomingMessage, response: ServerResponse) => boolean;
}

export interface ApiServer {
  readonly address: Listen;
  close(): Promise<void>;
}

/** Requests of the unix socket, marked by its listener: a missing remote address would also be that of a client that is gone. */
const OVER_SOCKET = new WeakSet<IncomingMessage>();
const EMPTY_BODY: RawBody = { text: '', mediaType: '' };
const ROUTES: readonly Route[] = VARIANTS.flatMap((variant) => routesOf(variant));
/** Where clients from 1.0 on read another answer than the published one. */
const VERSIONED: ReadonlySet<string> = new Set(
  ROUTES.filter(({ path }) => path.startsWith('/1.0/')).map(({ method, path }) => `${method} ${path}`),
);
const STANDING_PATHS: ReadonlySet<string> = new Set(
  ROUTES.filter(({ operation }) => operation.stands === true).map(({ path }) => path),
);
const JSON_TYPE = 'application/json; charset=utf-8';
const BODY_TIMEOUT_MS = 60_000;
const CLOSE_GRACE_MS = 10_000;
const MAX_PATH_PARAMETER = 1_024;

/** Throws PlatformError `config.invalid` when it cannot listen. */
export async function createApiServer(options: ApiServerOptions): Promise<ApiServer> {
  const calls = new Set<Call>();
  const standing = standingAnswers(options);
  const app = createApp(options, calls, standing);
  await app.ready();
  const handler = dispatcher(app, options, standing);
  const local: RequestListener = (request, response) => {
    OVER_SOCKET.add(request);
    handler(request, response);
  };
  const { server, address } = await listenOnTcp(handler, options.listen);
  const servers = [server];
  try {
    if (options.socketPath !== null) servers.push(await listenOnSocket(local, options.socketPath));
  } catch (error) {
    await closeServer(server, 0);
    throw error;
  }
  return {
    address,
    async close() {
      for (const call of calls) if (goesOnForLong(call)) call.giveUp();
      await Promise.all(servers.map((each) => closeServer(each, CLOSE_GRACE_MS)));
      await app.close();
    },
  };
}

/** Followed logs and commands end when they are given up; what changes an app is let finish. */
function goesOnForLong(call: Call): boolean {
  const answer = call.route?.operation.answer;
  return answer === 'entries' || answer === 'output';
}

/** Git goes its own way, unparsed. Clients from 1.0 on put `/1.0` before every path, which means nothing but in VERSIONED. */
function dispatcher(
  app: FastifyInstance,
  options: ApiServerOptions,
  standing: StandingAnswers | null,
): RequestListener {
  return (request, response) => {
    const url = request.url ?? '/';
    if (url.startsWith('/git/') && options.gitHandler?.(request, response) === true) return;
    const isVersioned = VERSIONED.has(`${request.method} ${url.split('?', 1)[0]}`);
    if (!isVersioned) request.url = url.replace(/^(\/[ab])?\/1\.0(?=\/)/, '$1');
    limitBodyTime(request);
    if (standing === null) app.routing(request, response);
    else standing.serve(request, response, () => app.routing(request, response));
  };
}

function standingAnswers({ stateVersion, logger }: ApiServerOptions): StandingAnswers | null {
  if (stateVersion === undefined) return null;
  return new StandingAnswers({
    paths: STANDING_PATHS,
    version: stateVersion,
    isTrusted: (request) => OVER_SOCKET.has(request),
    answer(request, response, bytes) {
      const id = requestId(request);
      response.writeHead(200, { ...commonHeaders(id), 'content-type': JSON_TYPE, 'content-length': bytes.length });
      response.end(bytes);
      logger.debug({ reqId: id, method: request.method, path: request.url?.split('?', 1)[0] }, 'answered again');
    },
  });
}

function limitBodyTime(request: IncomingMessage): void {
  if (request.headers['transfer-encoding'] === undefined && request.headers['content-length'] === undefined) return;
  const timer = setTimeout(() => request.destroy(), BODY_TIMEOUT_MS);
  const stop = (): void => clearTimeout(timer);
  request.once('end', stop).once('close', stop);
}

function createApp(options: ApiServerOptions, calls: Set<Call>, standing: StandingAnswers | null): FastifyInstance {
  const app = Fastify({
    logger: false,
    bodyLimit: options.bodyLimitBytes,
    exposeHeadRoutes: false,
    routerOptions: { ignoreTrailingSlash: true, maxParamLength: MAX_PATH_PARAMETER },
    ajv: { customOptions: { coerceTypes: false, removeAdditional: false, useDefaults: false, allowUnionTypes: true } },
    genReqId: requestId,
    frameworkErrors: (error, request, reply) => void answerError(error, request, reply),
  });
  app.addHttpMethod('GET', { hasBody: true, overrideExisting: true });
  app.decorateRequest('call');
  app.addHook('onRequest', (request, reply, done) => {
    begin(request, reply, options.logger, calls);
    done();
  });
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (request, bytes, done) => {
    try {
      done(null, readBody(request.call, bytes as Buffer));
    } catch (error) {
      done(error as Error);
    }
  });
  app.setErrorHandler(answerError);
  app.setNotFoundHandler(answerNotFound);
  for (const route of ROUTES) addRoute(app, route, options, standing);
  for (const { path, headers, render } of documents(options.version)) {
    app.get(path, async ({ query }, reply) => reply.headers(headers).send(render(query as Record<string, unknown>)));
  }
  return app;
}

function requestId(request: IncomingMessage): string {
  const given = request.headers['x-request-id'];
  return typeof given === 'string' && /^[\w.-]{8,64}$/.test(given) ? given : randomHex(16);
}

function begin(request: FastifyRequest, reply: FastifyReply, logger: Logger, calls: Set<Call>): void {
  const address = OVER_SOCKET.has(request.raw) ? SOCKET_ADDRESS : (request.raw.socket.remoteAddress ?? 'unknown');
  const call = new Call(request.id, request.raw, address);
  request.call = call;
  calls.add(call);
  // The framework would refuse what it cannot parse with 415; body.ts reads every body whatever its label.
  delete request.raw.headers['content-type'];
  reply.headers(commonHeaders(call.id));
  reply.raw.once('close', () => {
    calls.delete(call);
    call.giveUp();
    call.log(logger, reply.raw);
  });
}

function commonHeaders(id: string): Record<string, string> {
  return { 'x-request-id': id, 'x-content-type-options': 'nosniff', 'cache-control': 'no-store' };
}

function readBody(call: Call, bytes: Buffer): unknown {
  const operation = call.route?.operation;
  if (operation?.body === undefined && operation?.rawBody === undefined) return undefined;
  const body = decodeBody(bytes, call.contentType);
  if (operation.body === undefined) return body;
  return body.text.trim() === '' ? undefined : readFields(body, operation.body);
}

function addRoute(
  app: FastifyInstance,
  route: Route,
  options: ApiServerOptions,
  standing: StandingAnswers | null,
): void {
  const { operation, variant } = route;
  const shape = operation.answer === 'json' ? variant.shapes[operation.shape] : null;
  const schema: FastifySchema = {
    ...(operation.params !== undefined && { params: operation.params }),
    ...(operation.query !== undefined && { querystring: operation.query }),
    ...(operation.body !== undefined && { body: operation.body }),
    ...(shape !== null && { response: { 200: shape.schema } }),
  };
  app.route({
    method: route.method,
    url: route.path,
    schema,
    exposeHeadRoute: operation.answer === 'json' && !changes(operation),
    onRequest: async ({ call, headers, params }) => {
      // The framework takes `/apps//env` for an app without a name.
      if (Object.values(params as Record<string, string>).includes('')) throw nothingHere();
      call.route = route;
      if (changes(operation)) refuseCrossSite(headers['sec-fetch-site']);
      if (operation.access === 'public' && !changes(operation)) return;
      call.caller = await identify(options.useCases.users, headers.authorization, call.address);
      admit(call.caller, operation.access);
    },
    ...(operation.stands === true && {
      onSend: async (request: FastifyRequest, reply: FastifyReply, payload: unknown) => {
        if (reply.statusCode !== 200 || typeof payload !== 'string') return payload;
        const bytes = Buffer.from(payload);
        standing?.keep(request.raw, bytes);
        return bytes;
      },
    }),
    ...(operation.isBodyOptional === true && {
      preValidation: async (request: FastifyRequest) => void (request.body ??= {}),
    }),
    handler: (request, reply) => answer(route, request, reply, options),
  });
}

async function answer(
  { operation, variant }: Route,
  request: FastifyRequest,
  reply: FastifyReply,
  { useCases, version, ready }: ApiServerOptions,
): Promise<unknown> {
  const { call } = request;
  const context = new CallContext(call, useCases, { version, ready });
  const body = operation.body === undefined ? (request.body ?? EMPTY_BODY) : request.body;
  const input: Input<unknown, unknown, unknown> = { params: request.params, query: request.query, body };
  const late = { onLateError: (thrown: unknown): void => void call.failed(thrown) };
  switch (operation.answer) {
    case 'json': {
      const wire = variant.shapes[operation.shape].toWire((await operation.handle(context, input)) as never);
      // The framework takes a text for a document that is written already.
      if (typeof wire !== 'string') return wire;
      return reply.type(JSON_TYPE).send(JSON.stringify(wire));
    }
    case 'text':
      return reply.type('text/plain; charset=utf-8').send(await operation.handle(context, input));
    case 'empty':
      await operation.handle(context, input);
      return reply.send();
    case 'progress':
      return answerProgress(streamOf(reply), (say) => operation.handle(context, input, say), late);
    case 'output': {
      const raw = variant.extensions && prefersText(request.headers.accept);
      return answerOutput(streamOf(reply), (output) => operation.handle(context, input, output), { ...late, raw });
    }
    case 'entries': {
      const shape = variant.shapes[operation.shape];
      const found = await operation.handle(context, input);
      if (Symbol.asyncIterator in found) return answerFollow(streamOf(reply), found, shape, call.signal);
      return shape.toWire(found);
    }
  }
}

/** From its first byte on, the answer is no longer the framework's. */
function streamOf(reply: FastifyReply): ResponseStream {
  return new ResponseStream(reply.raw, () => {
    reply.hijack();
    return reply.getHeaders() as OutgoingHttpHeaders;
  });
}

function answerNotFound(request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const path = request.url.split('?', 1)[0] ?? '';
  const methods = DOCUMENT_PATHS.includes(path) ? ['GET'] : methodsAt(ROUTES, path);
  if (methods.length === 0) return answerError(nothingHere(), request, reply);
  const allow = methods.sort().join(', ');
  const wrong = new PlatformError('route.method_not_allowed', `This path does not answer to ${request.method}.`, {
    hint: `Use ${allow}.`,
  });
  return answerError(wrong, request, reply.header('allow', allow));
}

function nothingHere(): PlatformError {
  const hint = 'GET /openapi.json lists what this server serves.';
  return new PlatformError('route.not_found', 'There is nothing at this path.', { hint });
}

function answerError(thrown: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const error = fromFramework(thrown, request);
  // A URL that cannot be decoded fails before any hook has run.
  const call = request.call as Call | undefined;
  call?.failed(error);
  const answered = errorAnswer(error, request.headers.accept, request.id);
  return reply
    .code(answered.status)
    .headers({ ...commonHeaders(request.id), ...answered.headers })
    .serializer((body: string) => body)
    .send(answered.body);
}

/** What the framework itself finds wrong with a request, in the words of the platform. */
function fromFramework(thrown: unknown, request: FastifyRequest): PlatformError {
  if (!(thrown instanceof Error) || thrown instanceof PlatformError) return toPlatformError(thrown);
  const { validation, validationContext, statusCode = 500 } = thrown as Partial<FastifyError>;
  if (validation !== undefined) {
    if (validationContext === 'body' && request.body === undefined) {
      return new PlatformError('input.invalid_json', 'The request has no body.', { hint: 'Send a JSON object.' });
    }
    const [first] = validation;
    const field = first?.instancePath.slice(1) ?? '';
    const problem = (first?.message ?? 'is invalid').replace(/,(?:null|array)$/, '');
    return new PlatformError('input.invalid', `${field === '' ? 'The request body' : field} ${problem}.`, {
      hint: 'GET /openapi.json shows what this operation takes.',
      ...(field !== '' && { details: { field } }),
    });
  }
  if (statusCode === 413) {
    return new PlatformError('input.too_large', 'The request body is too large.', { hint: 'Send less at once.' });
  }
  if (statusCode >= 400 && statusCode < 500) {
    return new PlatformError('input.invalid', 'The request cannot be understood.', { cause: thrown });
  }
  return toPlatformError(thrown);
}
