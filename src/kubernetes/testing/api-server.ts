/**
 * Test support: a small API server for Kubernetes. It keeps objects, lists them in pages, applies, patches and deletes them, and answers
 * watches with bookmarks. What runs pods is given by who needs it; faults can be asked for.
 */
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { type WebSocket, WebSocketServer } from 'ws';
import { isRecord } from '../../lib/is-record.ts';
import type { ClusterAccess, ClusterLogin } from '../access.ts';
import { isSelected } from './selectors.ts';
import { type Recorded, ApiRefusal, type StoredObject, StoredObjects } from './stored-objects.ts';

const PROTOCOL = 'v5.channel.k8s.io';
const ROUTE = /^(?:\/api\/(v1)|\/apis\/([^/]+\/[^/]+))(?:\/namespaces\/([^/]+))?\/([^/]+)(?:\/([^/]+))?(?:\/([^/]+))?$/;

export interface Nodes {
  log(pod: StoredObject, query: URLSearchParams, response: ServerResponse): void;
  /** Of all nodes. */
  stats(): object;
  exec(pod: StoredObject, command: readonly string[], query: URLSearchParams, socket: WebSocket): void;
}

interface Target {
  readonly plural: string;
  readonly namespace: string | undefined;
  readonly name: string | undefined;
  readonly part: string | undefined;
}

interface Fault {
  /** 0: it is never answered. */
  readonly status: number;
  readonly retryAfter?: string;
}

export interface ApiServerOptions {
  readonly nodes?: Nodes;
  readonly tls?: { readonly cert: string; readonly key: string };
  /** Absent: everybody is let in. */
  readonly isAllowed?: (authorization: string, groups: readonly string[]) => boolean;
}

export class ApiServer {
  readonly store = new StoredObjects();
  /** `GET /api/v1/pods`, in the order of their coming. */
  readonly requests: string[] = [];
  /** Answered in place of what is asked for, one request each; watches and connections have their own. */
  readonly faults: Fault[] = [];
  /** What nobody has the right to: `DELETE /apis/batch/v1/`. */
  forbidden: string | null = null;
  readonly #options: ApiServerOptions;
  readonly #server: Server;
  readonly #watches = new Set<ServerResponse>();
  readonly #sockets = new WebSocketServer({
    noServer: true,
    handleProtocols: (all) => (all.has(PROTOCOL) ? PROTOCOL : false),
  });
  /** Watches get nothing any more, and are not ended. */
  isSilent = false;
  #isAway = false;

  constructor(options: ApiServerOptions = {}) {
    this.#options = options;
    const answer = (request: IncomingMessage, response: ServerResponse): void => void this.#answer(request, response);
    const { tls } = options;
    this.#server =
      tls === undefined
        ? process.getBuiltinModule('node:http').createServer(answer)
        : process.getBuiltinModule('node:https').createServer(tls, answer);
    this.#server.on('upgrade', (request, socket, head) => this.#upgrade(request, socket, head));
  }

  async start(): Promise<void> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
  }

  get url(): string {
    const { port } = this.#server.address() as AddressInfo;
    return this.#options.tls === undefined ? `http://127.0.0.1:${port}` : `https://localhost:${port}`;
  }

  access(login: ClusterLogin = { headers: {}, certificate: null }): ClusterAccess {
    return {
      cluster: {
        server: new URL(this.url),
        authorities: this.#options.tls?.cert ?? null,
        isVerified: true,
        serverName: null,
      },
      namespace: 'default',
      description: 'a small API server',
      login: async () => login,
      refused: () => {},
    };
  }

  /** Connections are taken and ended without an answer, those that are there too. */
  set isAway(isAway: boolean) {
    this.#isAway = isAway;
    if (isAway) this.cutWatches();
  }

  /** Ends every watch in the middle of what it says. */
  cutWatches(): void {
    for (const response of this.#watches) response.destroy();
  }

  /** As servers do after some minutes. */
  endWatches(): void {
    for (const response of this.#watches) response.end();
  }

  bookmark(): void {
    const object = { metadata: { resourceVersion: String(this.store.version) } };
    for (const response of this.#watches)
      if (!this.isSilent) response.write(`${JSON.stringify({ type: 'BOOKMARK', object })}\n`);
  }

  get watchCount(): number {
    return this.#watches.size;
  }

  async close(): Promise<void> {
    for (const client of this.#sockets.clients) client.terminate();
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (this.#isAway) return void request.socket.destroy();
    const url = new URL(request.url ?? '/', 'http://server');
    this.requests.push(`${request.method} ${url.pathname}${url.search}`);
    try {
      const body = await readBody(request);
      const fault = url.searchParams.has('watch') ? undefined : this.faults.shift();
      if (fault !== undefined) {
        if (fault.status === 0) return;
        if (fault.retryAfter !== undefined) response.setHeader('retry-after', fault.retryAfter);
        throw new ApiRefusal(fault.status, 'Asked', 'a fault was asked for');
      }
      this.#letIn(request);
      if (this.forbidden !== null && `${request.method} ${url.pathname}`.startsWith(this.forbidden))
        throw new ApiRefusal(403, 'Forbidden', 'nobody may');
      if (url.pathname.endsWith('/proxy/stats/summary')) return respond(response, 200, this.#nodes().stats());
      if (url.pathname === '/version') return respond(response, 200, { gitVersion: 'v1.0.0-small' });
      this.#serve(request, targetOf(url.pathname), url.searchParams, body, response);
    } catch (error) {
      refuse(response, error);
    }
  }

  #letIn(request: IncomingMessage): void {
    const { isAllowed } = this.#options;
    const groups = request.headersDistinct['impersonate-group'] ?? [];
    if (isAllowed !== undefined && !isAllowed(request.headers.authorization ?? '', groups)) {
      throw new ApiRefusal(401, 'Unauthorized', 'Unauthorized');
    }
  }

  #serve(
    request: IncomingMessage,
    target: Target,
    query: URLSearchParams,
    body: string,
    response: ServerResponse,
  ): void {
    const { plural, namespace, name, part } = target;
    const { method, headers } = request;
    if (part === 'log') return this.#nodes().log(this.#pod(target), query, response);
    if (name === undefined && method === 'GET') {
      return query.has('watch')
        ? this.#watch(target, query, response)
        : respond(response, 200, this.#list(target, query));
    }
    const what = { name: name ?? '', ...(namespace !== undefined && { namespace }) };
    if (method === 'GET') {
      const found = this.store.find(plural, what);
      if (found === null) throw new ApiRefusal(404, 'NotFound', `${plural} "${what.name}" not found`);
      return respond(response, 200, found);
    }
    const given: unknown = body === '' ? {} : JSON.parse(body);
    if (!isRecord(given)) throw new ApiRefusal(400, 'BadRequest', 'no object');
    if (method === 'DELETE') return respond(response, 200, this.#delete(plural, what, given));
    const object = given as unknown as StoredObject;
    if (method === 'POST') return respond(response, 201, this.store.create(plural, withPlace(object, namespace)));
    if (method === 'PUT') {
      const { resourceVersion } = object.metadata;
      return respond(
        response,
        200,
        this.store.update(plural, what, resourceVersion, (now) => ({ ...object, status: now.status })),
      );
    }
    if (headers['content-type'] === 'application/apply-patch+yaml') {
      if (!query.has('fieldManager'))
        throw new ApiRefusal(400, 'BadRequest', 'PatchOptions: fieldManager: Required value');
      return respond(response, 200, this.store.apply(plural, withPlace(object, namespace)));
    }
    return respond(response, 200, this.store.patch(plural, what, given));
  }

  #delete(
    plural: string,
    what: { name: string; namespace?: string },
    given: Readonly<Record<string, unknown>>,
  ): StoredObject {
    const { propagationPolicy, gracePeriodSeconds, preconditions } = given;
    const now = this.store.find(plural, what);
    const { uid, resourceVersion } = isRecord(preconditions) ? preconditions : {};
    const isOther =
      (uid !== undefined && uid !== now?.metadata.uid) ||
      (resourceVersion !== undefined && resourceVersion !== now?.metadata.resourceVersion);
    if (now !== null && isOther) throw new ApiRefusal(409, 'Conflict', 'the preconditions are not met');
    return this.store.delete(plural, what, {
      propagation: String(propagationPolicy ?? 'Background'),
      ...(typeof gracePeriodSeconds === 'number' && { graceSeconds: gracePeriodSeconds }),
    });
  }

  #list({ plural, namespace }: Target, query: URLSearchParams): object {
    const all = this.store
      .all(plural)
      .filter(({ metadata }) => namespace === undefined || metadata.namespace === namespace)
      .filter((object) => isSelected(object, query.get('labelSelector'), query.get('fieldSelector')));
    const from = Number(query.get('continue') ?? 0);
    const limit = Number(query.get('limit') ?? all.length);
    const next = from + limit < all.length ? String(from + limit) : undefined;
    return {
      kind: 'List',
      metadata: { resourceVersion: String(this.store.version), continue: next },
      items: all.slice(from, from + limit),
    };
  }

  #watch({ plural, namespace }: Target, query: URLSearchParams, response: ServerResponse): void {
    const from = Number(query.get('resourceVersion') ?? 0);
    response.writeHead(200, { 'content-type': 'application/json' });
    response.flushHeaders();
    if (from < this.store.oldest) {
      const object = { kind: 'Status', code: 410, reason: 'Expired', message: `too old resource version: ${from}` };
      response.end(`${JSON.stringify({ type: 'ERROR', object })}\n`);
      return;
    }
    const send = ({ version, type, plural: of, object }: Recorded): void => {
      const isMeant = of === plural && (namespace === undefined || object.metadata.namespace === namespace);
      if (this.isSilent || version <= from || !isMeant || response.writableEnded) return;
      if (!isSelected(object, query.get('labelSelector'), query.get('fieldSelector'))) return;
      response.write(`${JSON.stringify({ type, object })}\n`);
    };
    for (const recorded of this.store.history) send(recorded);
    const leave = this.store.listen(send);
    this.#watches.add(response);
    response.once('close', () => {
      leave();
      this.#watches.delete(response);
    });
  }

  #upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    const url = new URL(request.url ?? '/', 'http://server');
    this.requests.push(`${request.method} ${url.pathname}${url.search}`);
    try {
      this.#letIn(request);
      const pod = this.#pod(targetOf(url.pathname));
      this.#sockets.handleUpgrade(request, socket, head, (channel) => {
        this.#nodes().exec(pod, url.searchParams.getAll('command'), url.searchParams, channel);
      });
    } catch (error) {
      const { code, reason, message } =
        error instanceof ApiRefusal ? error : new ApiRefusal(500, 'InternalError', String(error));
      const body = JSON.stringify({ kind: 'Status', code, reason, message });
      socket.end(
        `HTTP/1.1 ${code} ${reason}\r\ncontent-length: ${Buffer.byteLength(body)}\r\nconnection: close\r\n\r\n${body}`,
      );
    }
  }

  #pod({ name = '', namespace }: Target): StoredObject {
    const pod = this.store.find('pods', { name, ...(namespace !== undefined && { namespace }) });
    if (pod === null) throw new ApiRefusal(404, 'NotFound', `pods "${name}" not found`);
    return pod;
  }

  #nodes(): Nodes {
    if (this.#options.nodes === undefined) throw new ApiRefusal(500, 'InternalError', 'there are no nodes');
    return this.#options.nodes;
  }
}

function targetOf(path: string): Target {
  const [, core, group, namespace, plural = '', name, part] = ROUTE.exec(path) ?? [];
  if (core === undefined && group === undefined) throw new ApiRefusal(404, 'NotFound', `no path ${path}`);
  return { plural, namespace, name, part };
}

function withPlace(object: StoredObject, namespace: string | undefined): StoredObject {
  return namespace === undefined ? object : { ...object, metadata: { ...object.metadata, namespace } };
}

async function readBody(request: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  for await (const part of request as AsyncIterable<Buffer>) parts.push(part);
  return Buffer.concat(parts).toString('utf8');
}

function respond(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify(body));
}

function refuse(response: ServerResponse, error: unknown): void {
  const { code, reason, message } =
    error instanceof ApiRefusal ? error : new ApiRefusal(500, 'InternalError', String(error));
  respond(response, code, { kind: 'Status', status: 'Failure', code, reason, message });
}
