/**
 * The way of a request through the HTTP framework, from its head to the operation. Only this folder knows the framework;
 * nothing of it is in what openApp() returns.
 */
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest, type FastifySchema } from 'fastify';
import type { RequestListener } from 'node:http';
import type { Logger } from '../../lib/logger.ts';
import type { TrustedProxies } from '../../lib/trusted-proxies.ts';
import { commonHeaders } from '../answer-headers.ts';
import { decodeBody, inCaseOf, readFields } from '../body.ts';
import { Call } from '../call.ts';
import { admit, identify, refuseCrossSite } from '../caller.ts';
import { documents } from '../documents.ts';
import { addressOf, endsInSlash, limitBodyTime, requestId } from '../incoming.ts';
import { changes } from '../operation.ts';
import { recordRefusals } from '../refused.ts';
import { demandOwnPage } from '../dashboard/browser-door.ts';
import type { Route } from '../routes.ts';
import type { StandingAnswers } from '../standing-answers.ts';
import { answer, type AnswerOptions } from './answer.ts';
import { answerError, answerNotFound, nothingHere } from './errors.ts';
import { serializersOnDemand, validatorsOnDemand } from './schemas-on-demand.ts';

declare module 'fastify' {
  interface FastifyRequest {
    call: Call;
  }
}

export interface AppOptions extends AnswerOptions {
  readonly routes: readonly Route[];
  readonly logger: Logger;
  readonly proxies: TrustedProxies;
  readonly bodyLimitBytes: number;
  /** Every call that goes on is in it. */
  readonly calls: Set<Call>;
  /** Told of every answer that stands; null when none does. */
  readonly standing: StandingAnswers | null;
}

export interface App {
  readonly serve: RequestListener;
  close(): Promise<void>;
}

const MAX_PATH_PARAMETER = 1_024;

export async function openApp(options: AppOptions): Promise<App> {
  const app = createApp(options);
  await app.ready();
  return {
    serve: (request, response) => app.routing(request, response),
    close: () => app.close(),
  };
}

function createApp(options: AppOptions): FastifyInstance {
  const { routes, standing } = options;
  const app = Fastify({
    logger: false,
    bodyLimit: options.bodyLimitBytes,
    exposeHeadRoutes: false,
    routerOptions: { ignoreTrailingSlash: true, maxParamLength: MAX_PATH_PARAMETER },
    genReqId: requestId,
    frameworkErrors: (error, request, reply) => void answerError(error, request, reply),
  });
  app.addHttpMethod('GET', { hasBody: true, overrideExisting: true });
  app.setValidatorCompiler(validatorsOnDemand);
  app.setSerializerCompiler(serializersOnDemand);
  app.decorateRequest('call');
  app.addHook('onRequest', (request, reply, done) => {
    begin(request, reply, options);
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
  app.setNotFoundHandler((request, reply) => answerNotFound(routes, request, reply));
  for (const route of routes) if (route.operation.answer !== 'upload') addRoute(app, route, options, standing);
  void app.register(async (uploads) => {
    uploads.removeAllContentTypeParsers();
    uploads.addContentTypeParser('*', (_request, _payload, done) => done(null));
    for (const route of routes) if (route.operation.answer === 'upload') addRoute(uploads, route, options, null);
  });
  for (const { path, headers, render } of documents(options.version)) {
    app.get(path, { exposeHeadRoute: true }, async ({ query }, reply) =>
      reply.headers(headers).send(render(query as Record<string, unknown>)),
    );
  }
  return app;
}

function begin(request: FastifyRequest, reply: FastifyReply, { logger, calls, proxies, useCases }: AppOptions): void {
  const call = new Call(request.id, request.raw, addressOf(request.raw, proxies));
  request.call = call;
  calls.add(call);
  recordRefusals(call, request.raw, useCases.audit);
  call.ended = () => void calls.delete(call);
  call.endBodyLimit = limitBodyTime(request.raw);
  // The framework would refuse what it cannot parse with 415; body.ts reads every body whatever its label.
  delete request.raw.headers['content-type'];
  reply.headers(commonHeaders(call.id));
  reply.raw.once('close', () => {
    if (!call.outlivesClient) calls.delete(call);
    call.clientLeft();
    call.log(logger, reply.raw);
  });
}

function readBody(call: Call, bytes: Buffer): unknown {
  const operation = call.route?.operation;
  if (operation?.answer === 'proxied') return bytes;
  if (operation?.body === undefined && operation?.rawBody === undefined) return undefined;
  const body = decodeBody(bytes, call.contentType);
  if (operation.body === undefined) return body;
  if (body.text.trim() === '') return undefined;
  const fields = readFields(body, operation.body);
  return operation.bodyInAnyCase === true ? inCaseOf(operation.body, fields) : fields;
}

function addRoute(app: FastifyInstance, route: Route, options: AppOptions, standing: StandingAnswers | null): void {
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
    onRequest: async ({ call, headers, params, raw, url }) => {
      // The framework takes `/apps//env` for an app without a name.
      if (Object.values(params as Record<string, string>).includes('')) throw nothingHere();
      // `DELETE /teams/x/` is a member without a name, and must not become the removal of the team.
      if (route.method !== 'GET' && endsInSlash(url)) throw nothingHere();
      call.route = route;
      demandOwnPage(raw);
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
