/**
 * Requests that become a websocket, a shell, a log that is followed, or an edge that follows: the same access as every other operation, but outside of http/, which knows nothing of
 * websockets. Everything else that wants another protocol is left to be answered in plain HTTP.
 */
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { WebSocket, WebSocketServer } from 'ws';
import { isPlatformError, type PlatformError } from '../domain/errors.ts';
import type { UseCases } from '../domain/use-cases.ts';
import { randomHex } from '../lib/ids.ts';
import type { Logger } from '../lib/logger.ts';
import type { TrustedProxies } from '../lib/trusted-proxies.ts';
import { ServerResponse } from '../lib/node-http.ts';
import { Call, CallContext } from './call.ts';
import { admit, identify, refuseCrossSite, tokenOf } from './caller.ts';
import { cameFromBrowser, demandOwnPage } from './dashboard/browser-door.ts';
import { edgeCarrier } from './edge-socket.ts';
import { errorAnswer } from './error-body.ts';
import { addressOf } from './incoming.ts';
import { LogSocket } from './log-socket.ts';
import type { EdgeOperation, EntriesOperation, ShellOperation } from './operation.ts';
import { recordRefusals } from './refused.ts';
import { paramsOf, type ApiRoute, withoutVersion } from './routes.ts';
import { Buffered, refuseShell, SHELL_PROTOCOL, ShellSocket } from './shell-socket.ts';
import { STATUS } from './status.ts';

interface SocketUpgradeOptions {
  readonly useCases: UseCases;
  readonly version: string;
  readonly logger: Logger;
  readonly ready: () => Promise<void>;
  readonly proxies: TrustedProxies;
}

const MAX_MESSAGE_BYTES = 1024 * 1024;
/** Of an edge, which has shown its token: lines of requests. */
const MAX_EDGE_MESSAGE_BYTES = 16 * MAX_MESSAGE_BYTES;

interface Asked {
  readonly route: ApiRoute;
  readonly operation: ShellOperation | EntriesOperation | EdgeOperation;
  readonly params: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, string>>;
}

/** `isClosing`: what comes from then on is given up at once. */
export function socketUpgrades(
  routes: readonly ApiRoute[],
  { calls, isClosing }: { readonly calls: Set<Call>; readonly isClosing: () => boolean },
  options: SocketUpgradeOptions,
) {
  const sockets = new Map<number, WebSocketServer>();
  return (request: IncomingMessage, socket: Duplex, head: Buffer): boolean => {
    const asked = askedFor(routes, request);
    if (asked === null) return false;
    // Nobody else looks after this socket any more.
    socket.on('error', () => {});
    const call = new Call(randomHex(16), request, addressOf(request, options.proxies));
    call.route = asked.route;
    recordRefusals(call, request, options.useCases.audit);
    calls.add(call);
    if (isClosing()) call.giveUp();
    socket.once('close', () => {
      calls.delete(call);
      call.giveUp();
    });
    // Loaded before anything is begun, and not at the start: most servers see none for long.
    const served = import('ws').then(({ WebSocketServer }) => {
      const longest = asked.operation.answer === 'edge' ? MAX_EDGE_MESSAGE_BYTES : MAX_MESSAGE_BYTES;
      const server = sockets.get(longest) ?? socketServer(WebSocketServer, longest);
      sockets.set(longest, server);
      const upgrade = (): Promise<WebSocket> =>
        new Promise((resolve) => server.handleUpgrade(request, socket, head, (client) => resolve(client)));
      return serve(asked, call, { ...options, request, upgrade });
    });
    served.then(
      () => call.log(options.logger, { statusCode: 101, writableFinished: true }),
      (thrown: unknown) => refuse(call, call.failed(thrown), request, socket as Socket, options.logger),
    );
    return true;
  };
}

function socketServer(Sockets: typeof WebSocketServer, maxPayload: number): WebSocketServer {
  return new Sockets({
    noServer: true,
    maxPayload,
    perMessageDeflate: false,
    handleProtocols: (protocols) => (protocols.has(SHELL_PROTOCOL) ? SHELL_PROTOCOL : false),
  });
}

/** Null for what is no request for one of them. */
function askedFor(routes: readonly ApiRoute[], request: IncomingMessage): Asked | null {
  if (request.method !== 'GET' || request.headers.upgrade?.toLowerCase() !== 'websocket') return null;
  if (!URL.canParse(request.url ?? '', 'http://localhost')) return null;
  const url = new URL(request.url ?? '', 'http://localhost');
  const parts = withoutVersion(url.pathname).replace(/\/$/, '').split('/');
  for (const route of routes) {
    const { operation } = route;
    if (operation.answer !== 'shell' && operation.answer !== 'entries' && operation.answer !== 'edge') continue;
    const found = paramsOf(route, parts);
    if (found === null) continue;
    const params = Object.fromEntries(Object.entries(found).map(([name, text]) => [name, decoded(text)]));
    return { route, operation, params, query: Object.fromEntries(url.searchParams) };
  }
  return null;
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

interface Serving extends SocketUpgradeOptions {
  readonly request: IncomingMessage;
  readonly upgrade: () => Promise<WebSocket>;
}

/** Resolves when the socket is closed. Rejects with what is to be answered with a status. */
async function serve(asked: Asked, call: Call, serving: Serving): Promise<void> {
  const { useCases, version, ready, request } = serving;
  const { headers } = request;
  // Of these even programs send an `Origin`, some of them any; it takes a token in all cases.
  refuseCrossSite({ 'sec-fetch-site': headers['sec-fetch-site'] });
  demandOwnPage(request);
  const { operation } = asked;
  if (operation.answer === 'edge') {
    const context = new CallContext(call, useCases, { version, ready });
    return serveEdge(operation, { asked, context, call }, serving);
  }
  call.caller = await identify(useCases.users, headers.authorization, call.address);
  admit(call.caller, operation.access);
  const context = new CallContext(call, useCases, { version, ready });
  if (operation.answer === 'shell') await serveShell(operation, { asked, context, call }, serving);
  else await serveLog(operation, { asked, context, call }, serving);
}

interface Admitted {
  readonly asked: Asked;
  readonly context: CallContext;
  readonly call: Call;
}

async function serveLog(
  operation: EntriesOperation,
  { asked: { route, params, query }, context, call }: Admitted,
  { upgrade }: Serving,
): Promise<void> {
  const batches = await operation.handle(context, { params, query: { ...query, follow: '1' }, body: undefined });
  if (!(Symbol.asyncIterator in batches))
    throw new Error('What is asked to follow a log is answered with one that goes on.');
  await new LogSocket(await upgrade(), call).carry(batches, route.variant.shapes[operation.shape]);
}

/** Who asks is no user: its token is that of an edge, and good for nothing else. */
async function serveEdge(
  operation: EdgeOperation,
  { asked: { params, query }, context, call }: Admitted,
  { request, upgrade }: Serving,
): Promise<void> {
  const carry = await operation.handle(
    context,
    { params, query, body: undefined },
    tokenOf(request.headers.authorization),
  );
  await carry(edgeCarrier(await upgrade(), call));
}

async function serveShell(
  operation: ShellOperation,
  { asked: { params, query }, context, call }: Admitted,
  { request, upgrade }: Serving,
): Promise<void> {
  const output = new Buffered();
  let shell;
  try {
    shell = await operation.handle(context, { params, query, body: undefined }, output.take);
  } catch (thrown) {
    const error = call.failed(thrown);
    if (isAnsweredByStatus(error, request)) throw error;
    await refuseShell(await upgrade(), error);
    return;
  }
  const client = await upgrade();
  await new ShellSocket(client, shell, call).carry(output, (query['terminal'] ?? '') === '');
}

/**
 * Clients that do not speak our protocol show nothing of an answer but 101, and browsers hide such an answer from pages: both read the
 * error in the shell itself.
 */
function isAnsweredByStatus(error: PlatformError, request: IncomingMessage): boolean {
  if ([401, 403].includes(STATUS[error.code]) || isPlatformError(error, 'app.not_found')) return true;
  const protocols = (request.headers['sec-websocket-protocol'] ?? '').split(/\s*,\s*/);
  return protocols.includes(SHELL_PROTOCOL) && !cameFromBrowser(request);
}

function refuse(call: Call, error: PlatformError, request: IncomingMessage, socket: Socket, logger: Logger): void {
  const { status, headers, body } = errorAnswer(error, request.headers.accept, call.id);
  const response = new ServerResponse(request);
  response.shouldKeepAlive = false;
  response.assignSocket(socket);
  response.once('finish', () => {
    call.log(logger, response);
    socket.end();
  });
  response.writeHead(status, { ...headers, 'x-request-id': call.id, 'x-content-type-options': 'nosniff' }).end(body);
}
