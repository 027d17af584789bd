/**
 * Serves the operations over HTTP. What is served is in operations.ts and variants.ts; what an error becomes in status.ts and
 * error-body.ts; the sockets are in listeners.ts; the way of a request to its operation is in http/.
 */
import { chown } from 'node:fs/promises';
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { UseCases } from '../domain/use-cases.ts';
import type { Logger } from '../lib/logger.ts';
import { markThroughEdge, TrustedProxies } from '../lib/trusted-proxies.ts';
import { commonHeaders, JSON_TYPE } from './answer-headers.ts';
import type { Call } from './call.ts';
import type { AppUsers } from './caller.ts';
import { enterFromBrowser } from './dashboard/browser-door.ts';
import { createApp } from './http/app.ts';
import { cameOverSocket, markOverSocket, markVersioned, requestId } from './incoming.ts';
import { closeServer, type Handlers, type Listen, listenOnSocket, listenOnTcp } from './listeners.ts';
import { descriptorOf, type ListenPlace } from '../lib/listening.ts';
import { markOldest, pathOfOldest } from './oldest.ts';
import { type ApiRoute, routesOf, withoutVersion } from './routes.ts';
import { socketUpgrades } from './socket-upgrade.ts';
import { StandingAnswers } from './standing-answers.ts';
import { refuseWhileStarting } from './starting.ts';
import { VARIANTS } from './variants.ts';

export interface ApiServerOptions {
  readonly useCases: UseCases;
  readonly listen: ListenPlace;
  /** Unix socket for the owner of the machine; null for none. */
  readonly socketPath: string | null;
  /** Unix socket where the edge brings requests, and says whose they are; null or absent for none. */
  readonly edgeDoor?: string | null;
  /** Whose that socket is; null and absent: of the user of this process. */
  readonly edgeUser?: number | null;
  readonly version: string;
  readonly logger: Logger;
  /** Believed for whom they speak; nobody when absent. */
  readonly trustedProxies?: TrustedProxies;
  /** The users of apps that share the network of the machine; null or absent for none. */
  readonly appUsers?: AppUsers | null;
  /** Resolves when requests may be served; until then, and where it rejects, they are answered `unavailable`. Absent: at once. */
  readonly opened?: Promise<void>;
  /** Throws `unavailable` while the platform cannot serve; only the healthcheck asks. */
  readonly ready: () => Promise<void>;
  /** Called for each answer of a known operation, with the milliseconds that it took. */
  readonly onAnswered?: (operation: string, status: number, ms: number) => void;
  /** See Store.version(); absent: every answer is made anew. */
  readonly stateVersion?: () => Promise<string>;
  /** Offered every request below `/git/` before anything is read; true when it has taken it. */
  readonly gitHandler?: (request: IncomingMessage, response: ServerResponse) => boolean;
}

export interface ApiServer {
  readonly address: Listen;
  /** Of the listener at that address. */
  readonly descriptor: number;
  close(): Promise<void>;
}

const ROUTES: readonly ApiRoute[] = VARIANTS.flatMap((variant) => routesOf(variant));
/** Where clients from 1.0 on read another answer than the published one. */
const VERSIONED: ReadonlySet<string> = new Set(
  ROUTES.filter(({ path }) => path.startsWith('/1.0/')).map(({ method, path }) => `${method} ${path}`),
);
const STANDING_PATHS: ReadonlySet<string> = new Set(
  ROUTES.filter(({ operation }) => operation.stands === true).map(({ path }) => path),
);
const CLOSE_GRACE_MS = 10_000;

/** Throws PlatformError `config.invalid` when it cannot listen. */
export async function createApiServer(options: ApiServerOptions): Promise<ApiServer> {
  const calls = new Set<Call>();
  const standing = standingAnswers(options);
  const proxies = options.trustedProxies ?? new TrustedProxies([]);
  const app = createApp({ ...options, proxies, routes: ROUTES, calls, standing });
  let isClosing = false;
  const sockets = socketUpgrades(ROUTES, { calls, isClosing: () => isClosing }, { ...options, proxies });
  const open: Handlers = {
    request: dispatcher(app, options, standing),
    upgrade(request, socket, head) {
      enterFromBrowser(request);
      return sockets(request, socket, head);
    },
  };
  const { opened } = options;
  let isOpen = opened === undefined;
  opened?.then(
    () => (isOpen = true),
    () => undefined,
  );
  const handler: Handlers = {
    request: (request, response) =>
      isOpen ? open.request(request, response) : refuseWhileStarting(request, response, options.logger),
    // Whoever offers another protocol sooner is answered as whoever does not.
    upgrade: (request, socket, head) => isOpen && open.upgrade(request, socket, head),
  };
  const marked = (mark: (request: IncomingMessage) => void): Handlers => ({
    request(request, response) {
      mark(request);
      handler.request(request, response);
    },
    upgrade(request, socket, head) {
      mark(request);
      return handler.upgrade(request, socket, head);
    },
  });
  const { server, address } = await listenOnTcp(handler, options.listen, proxies);
  const servers = [server];
  try {
    if (options.socketPath !== null) servers.push(await listenOnSocket(marked(markOverSocket), options.socketPath));
    const { edgeDoor = null, edgeUser = null } = options;
    if (edgeDoor !== null) servers.push(await listenOnSocket(marked(markThroughEdge), edgeDoor));
    if (edgeDoor !== null && edgeUser !== null) await chown(edgeDoor, edgeUser, edgeUser);
  } catch (error) {
    await Promise.all(servers.map((each) => closeServer(each, 0)));
    throw error;
  }
  return {
    address,
    descriptor: descriptorOf(server),
    async close() {
      isClosing = true;
      for (const call of calls) if (goesOnForLong(call)) call.giveUp();
      await Promise.all(servers.map((each) => closeServer(each, CLOSE_GRACE_MS)));
    },
  };
}

/** Followed logs, commands, shells and uploads end when they are given up; what else changes an app is let finish. */
function goesOnForLong(call: Call): boolean {
  const answer = call.route?.operation.answer ?? '';
  return ['entries', 'output', 'upload', 'shell', 'edge'].includes(answer);
}

/** Git goes its own way, unparsed. Clients from 1.0 on put `/1.0` ... before every path, which means nothing but in VERSIONED. */
function dispatcher(
  serve: RequestListener,
  options: ApiServerOptions,
  standing: StandingAnswers | null,
): RequestListener {
  return (request, response) => {
    if (!enterFromBrowser(request) && /^\/dashboard(?:[/?]|$)/.test(request.url ?? '')) {
      dashboard(request, response, options.logger);
      return;
    }
    const oldest = pathOfOldest(request.url ?? '/');
    if (oldest !== null) {
      markOldest(request);
      request.url = oldest;
    }
    const url = request.url ?? '/';
    if (url.startsWith('/git/') && options.gitHandler?.(request, response) === true) return;
    const plain = withoutVersion(url);
    if (plain !== url) markVersioned(request);
    const isVersioned = plain !== url && VERSIONED.has(`${request.method} /1.0${plain.split('?', 1)[0]}`);
    request.url = isVersioned ? `/1.0${plain}` : plain;
    if (standing === null || oldest !== null) serve(request, response);
    else standing.serve(request, response, () => serve(request, response));
  };
}

/** Few open it, so it is loaded when somebody does. */
function dashboard(request: IncomingMessage, response: ServerResponse, logger: Logger): void {
  const id = requestId(request);
  void import('./dashboard/dashboard.ts')
    .then(({ serveDashboard }) => serveDashboard(request, response, id))
    .catch((error: unknown) => {
      logger.error({ err: error, reqId: id, path: request.url?.split('?', 1)[0] }, 'the dashboard cannot be served');
      if (response.headersSent) response.destroy();
      else
        response
          .writeHead(500, { ...commonHeaders(id), 'content-type': 'text/plain; charset=utf-8' })
          .end(
            `The dashboard cannot be served; the log of the server says why (request ${id}). Load the page again.\n`,
          );
    });
}

function standingAnswers({ stateVersion, logger }: ApiServerOptions): StandingAnswers | null {
  if (stateVersion === undefined) return null;
  return new StandingAnswers({
    paths: STANDING_PATHS,
    version: stateVersion,
    isTrusted: cameOverSocket,
    answer(request, response, bytes) {
      const id = requestId(request);
      response.writeHead(200, { ...commonHeaders(id), 'content-type': JSON_TYPE, 'content-length': bytes.length });
      response.end(bytes);
      logger.debug({ reqId: id, method: request.method, path: request.url?.split('?', 1)[0] }, 'answered again');
    },
  });
}
