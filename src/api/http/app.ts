/**
 * The way of a request from its path to the operation: who asks, may they, what do they bring, does it fit. Each step can end it
 * with an error; what is left is answered by answer.ts. The router finds the route, and nothing else.
 */
import findMyWay from 'find-my-way';
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { Logger } from '../../lib/logger.ts';
import { once } from '../../lib/once.ts';
import type { TrustedProxies } from '../../lib/trusted-proxies.ts';
import { commonHeaders } from '../answer-headers.ts';
import { decodeBody, inCaseOf, readFields } from '../body.ts';
import { Call } from '../call.ts';
import { admit, type AppUsers, identify, refuseApps, refuseCrossSite } from '../caller.ts';
import { demandOwnPage } from '../dashboard/browser-door.ts';
import { documents } from '../documents.ts';
import { addressOf, endsInSlash, limitBodyTime, requestId } from '../incoming.ts';
import { changes, type Operation } from '../operation.ts';
import { recordRefusals } from '../refused.ts';
import { RequestTurns } from '../request-turns.ts';
import type { ApiRoute } from '../routes.ts';
import { answer, type AnswerOptions } from './answer.ts';
import { answerError, notServed, nothingHere, unreadablePath } from './errors.ts';
import { readBytes } from './read-bytes.ts';
import { Reply } from './reply.ts';

interface AppOptions extends AnswerOptions {
  readonly routes: readonly ApiRoute[];
  readonly logger: Logger;
  readonly proxies: TrustedProxies;
  /** Null or absent: apps have users or networks of their own, or none. */
  readonly appUsers?: AppUsers | null;
  readonly onAnswered?: ((operation: string, status: number, ms: number) => void) | undefined;
  /** Every call that goes on is in it. */
  readonly calls: Set<Call>;
}

interface Exchange {
  readonly request: IncomingMessage;
  readonly call: Call;
  readonly reply: Reply;
  readonly response: ServerResponse;
}

/** For who need not be known yet: what is sent is read before anybody is asked who they are. */
const PUBLIC_BODY_BYTES = 64 * 1024;
/** What an operation takes that does not say otherwise. */
const BODY_BYTES = 256 * 1024;

type Values = Readonly<Record<string, string | undefined>>;

interface Asked {
  readonly route: ApiRoute;
  readonly params: Values;
  readonly query: Values;
}

const MAX_PATH_PARAMETER = 1_024;
/** Loaded with the first request: it takes megabytes. */
const validation = once(() => import('./validate.ts'));

export function createApp(options: AppOptions): RequestListener {
  const { routes } = options;
  const turns = new RequestTurns();
  const refuse = (request: IncomingMessage, response: ServerResponse, thrown: unknown): Reply => {
    const { call, reply } = begin(request, response, options);
    answerError(thrown, request, call, reply);
    return reply;
  };
  const unreadable = (_path: string, request: IncomingMessage, response: ServerResponse): void =>
    void refuse(request, response, unreadablePath());
  const router = findMyWay({
    ignoreTrailingSlash: true,
    maxParamLength: MAX_PATH_PARAMETER,
    onBadUrl: unreadable,
    onMaxParamLength: unreadable,
    defaultRoute(request, response) {
      const { call, reply } = begin(request, response, options);
      const { error, allow } = notServed(routes, request);
      if (allow !== '') reply.addHeaders({ allow });
      answerError(error, request, call, reply);
    },
  });
  for (const route of routes) {
    const { method, path, operation } = route;
    const hasHead = operation.answer === 'json' && !changes(operation);
    router.on(hasHead ? [method, 'HEAD'] : method, path, (request, response, params, _store, query) => {
      const exchange = begin(request, response, options);
      void serve(exchange, { route, params, query }, options, turns).catch((thrown: unknown) =>
        answerError(thrown, request, exchange.call, exchange.reply),
      );
    });
  }
  for (const { path, headers, render } of documents(options.version)) {
    router.on(['GET', 'HEAD'], path, (request, response, _params, _store, query) => {
      const { call, reply } = begin(request, response, options);
      void render(query).then(
        (text) => reply.send(200, text, headers),
        (thrown: unknown) => answerError(thrown, request, call, reply),
      );
    });
  }
  return (request, response) => void router.lookup(request, response);
}

function begin(request: IncomingMessage, response: ServerResponse, options: AppOptions): Exchange {
  const { logger, calls, proxies, useCases } = options;
  const call = new Call(requestId(request), request, addressOf(request, proxies));
  calls.add(call);
  recordRefusals(call, request, useCases.audit);
  call.ended = () => void calls.delete(call);
  call.endBodyLimit = limitBodyTime(request);
  response.once('close', () => {
    if (!call.outlivesClient) calls.delete(call);
    call.clientLeft();
    call.log(logger, response);
    // What was cut off says nothing of how long it takes; who follows something is cut off in the end.
    const operation = call.route?.operation.id;
    if (operation !== undefined && response.writableFinished)
      options.onAnswered?.(operation, response.statusCode, call.ms);
  });
  return { request, call, reply: new Reply(response, commonHeaders(call.id)), response };
}

async function serve(exchange: Exchange, asked: Asked, options: AppOptions, turns: RequestTurns): Promise<void> {
  const { request, call, response } = exchange;
  const { route, params } = asked;
  // The router takes `/apps//env` for an app without a name.
  if (Object.values(params).includes('')) throw nothingHere();
  // `DELETE /teams/x/` is a member without a name, and must not become the removal of the team.
  if (route.method !== 'GET' && endsInSlash(request.url ?? '/')) throw nothingHere();
  call.route = route;
  if (!(await admitCaller(exchange, route.operation, options))) return answerAsked(exchange, asked, options);
  await turns.begin(call, route.operation, request);
  try {
    await answerAsked(exchange, asked, options);
  } finally {
    // What the client has not taken yet is held here.
    if (response.destroyed) call.endTurn();
    else response.once('close', call.endTurn);
  }
}

async function answerAsked(exchange: Exchange, { route, params, query }: Asked, options: AppOptions): Promise<void> {
  const { request, call, reply } = exchange;
  const { operation } = route;
  const body = operation.answer === 'upload' ? undefined : await bodyOf(exchange, operation);
  const { demandValid } = await validation();
  demandValid(operation, { params, query, body });
  await answer({ route, request, call, params, query, body }, reply, options);
}

/** False for what everybody may see, of whom it is not known who they are. */
async function admitCaller({ request, call }: Exchange, operation: Operation, options: AppOptions): Promise<boolean> {
  const { useCases, appUsers = null } = options;
  demandOwnPage(request);
  if (changes(operation)) refuseCrossSite(request.headers);
  if (operation.access === 'public' && !changes(operation)) return false;
  call.caller = await identify(useCases.users, request.headers.authorization, call.address);
  if (call.caller.kind === 'anonymous') await refuseApps(request, appUsers);
  admit(call.caller, operation.access);
  return true;
}

async function bodyOf({ request, call }: Exchange, operation: Operation): Promise<unknown> {
  const { bodyLimitBytes = operation.access === 'public' ? PUBLIC_BODY_BYTES : BODY_BYTES } = operation;
  const bytes = await readBytes(request, bodyLimitBytes);
  if (operation.answer === 'proxied') return bytes;
  if (bytes.length > 0 && (operation.body !== undefined || operation.rawBody !== undefined)) {
    const body = decodeBody(bytes, call.contentType);
    if (operation.body === undefined) return body;
    if (body.text.trim() !== '') {
      const fields = readFields(body, operation.body);
      return operation.bodyInAnyCase === true ? inCaseOf(operation.body, fields) : fields;
    }
  }
  return operation.isBodyOptional === true ? {} : undefined;
}
