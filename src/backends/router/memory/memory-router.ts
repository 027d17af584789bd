/**
 * A router inside this process, on node:http: small, for tests and trials. It does what the contract says and no more:
 * no retries but on refusal, no limits of its own, nothing on disk.
 */
import { randomUUID } from 'node:crypto';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { type AddressInfo, Server as NetServer } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import type {
  AccessEntry,
  AppTraffic,
  CertificateSet,
  CertificatesInForce,
  Route,
  Router,
  RouteTable,
  Target,
} from '../../../domain/routes/router.ts';
import { bucketOf, NO_ANSWERS } from '../../../lib/answer-counts.ts';
import { hostPort } from '../../../lib/host-port.ts';
import { listening } from '../../../lib/listening.ts';
import { createServer, request as httpRequest } from '../../../lib/node-http.ts';
import { KeyedCounter } from '../../../lib/keyed-counter.ts';
import { isHeld, type Ruling, ruledOut, stickyCookie, stickyFirst } from './memory-rules.ts';
import { MemoryTls } from './memory-tls.ts';

const POLL_MS = 5;
const MOST_LOGGED = 1_000;
const ANSWER_MS = 60_000;

class Counter {
  requests = 0;
  failures = 0;
  answers = { classes: [...NO_ANSWERS.classes], times: [...NO_ANSWERS.times], timeMs: 0 };

  answered(status: number, ms: number): void {
    const { classes, times } = this.answers;
    const [at, bucket] = [Math.floor(status / 100) - 1, bucketOf(ms)];
    classes[at] = (classes[at] ?? 0) + 1;
    times[bucket] = (times[bucket] ?? 0) + 1;
    this.answers.timeMs += ms;
  }
}

interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly route: Route;
  readonly counter: Counter;
}

interface Address {
  readonly host: string;
  readonly port: number;
}

/** `tls` null: there is no TLS listener. */
export async function createMemoryRouter(options: { listen: Address; tls?: Address | null }): Promise<Router> {
  const router = new MemoryRouter();
  await router.start(options.listen, options.tls ?? null);
  return router;
}

class MemoryRouter implements Router {
  readonly name = 'memory';
  listen = '';
  tlsListen: string | null = null;
  #table: RouteTable = { version: 0, routes: [] };
  #accessLog: AccessEntry[] = [];
  #isLeaving = false;
  readonly #inFlight = new KeyedCounter();
  readonly #counters = new Map<string, Counter>();
  readonly #server: Server = createServer((request, response) => this.#serve(request, response));
  readonly #tls = new MemoryTls((socket) => this.#server.emit('connection', socket));

  async start({ host, port }: Address, tls: Address | null): Promise<void> {
    await listening(this.#server, { host, port });
    this.listen = hostPort({ host, port: (this.#server.address() as AddressInfo).port });
    if (tls !== null) this.tlsListen = await this.#tls.start(tls.host, tls.port);
  }

  apply(table: RouteTable): Promise<void> {
    if (table.version > this.#table.version) this.#table = table;
    return Promise.resolve();
  }

  table(): Promise<RouteTable> {
    return Promise.resolve(this.#table);
  }

  applyCertificates(set: CertificateSet): Promise<void> {
    this.#tls.apply(set);
    return Promise.resolve();
  }

  certificates(): Promise<CertificatesInForce> {
    return Promise.resolve(this.#tls.state());
  }

  async drained(units: readonly string[], timeoutMs: number): Promise<number> {
    const open = (): number => units.reduce((sum, unit) => sum + this.#inFlight.of(unit), 0);
    const deadline = performance.now() + timeoutMs;
    while (open() > 0 && performance.now() < deadline) await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    return open();
  }

  async trafficOf(apps: readonly string[]): Promise<ReadonlyMap<string, AppTraffic>> {
    return new Map(await Promise.all(apps.map(async (app) => [app, await this.traffic(app)] as const)));
  }

  traffic(app: string): Promise<AppTraffic> {
    const { requests, failures, answers } = this.#counters.get(app) ?? new Counter();
    return Promise.resolve(structuredClone({ requests, failures, answers }));
  }

  takeAccessLog(): Promise<readonly AccessEntry[]> {
    return Promise.resolve(this.#accessLog.splice(0));
  }

  #logAccess(app: string, line: string): void {
    if (this.#accessLog.length < MOST_LOGGED) this.#accessLog.push({ app, atMs: Date.now(), line });
  }

  async leave(timeoutMs: number): Promise<void> {
    this.#isLeaving = true;
    // Not as node:http has it, which closes what is idle.
    const closed = new Promise<void>((resolve) => NetServer.prototype.close.call(this.#server, () => resolve()));
    await Promise.race([closed, delay(timeoutMs, undefined, { ref: false })]);
  }

  close(): Promise<void> {
    return Promise.resolve();
  }

  async stop(): Promise<void> {
    if (!this.#server.listening) return;
    const closed = new Promise((resolve) => this.#server.close(resolve));
    this.#server.closeAllConnections();
    await Promise.all([closed, this.#tls.stop()]);
  }

  #serve(request: IncomingMessage, response: ServerResponse): void {
    const offered = request.headers['x-request-id'];
    if (this.#isLeaving) response.setHeader('connection', 'close');
    response.setHeader('x-request-id', typeof offered === 'string' ? offered : randomUUID());
    const host = (request.headers.host ?? '')
      .toLowerCase()
      .replace(/:[0-9]+$/, '')
      .replace(/\.$/, '');
    const isPlain = !('encrypted' in request.socket);
    const answer = isPlain ? this.#tls.challengeAnswer(host, request.url ?? '') : null;
    if (answer !== null) {
      response.end(answer);
      return;
    }
    const route = this.#match(host);
    if (route === undefined) {
      refuse(response, 404, `No app answers at ${host}.`);
      return;
    }
    const counter = this.#counters.get(route.app) ?? new Counter();
    this.#counters.set(route.app, counter);
    counter.requests++;
    const begunAt = performance.now();
    response.once('close', () => {
      if (response.headersSent) counter.answered(response.statusCode, performance.now() - begunAt);
      if (route.rules?.accessLog === true)
        this.#logAccess(route.app, `method=${request.method} path="${request.url}" status=${response.statusCode}`);
    });
    if (isPlain && this.tlsListen !== null && route.https === 'redirect' && this.#tls.has(host)) {
      const port = this.tlsListen.slice(this.tlsListen.lastIndexOf(':'));
      response.writeHead(308, { location: `https://${host}${port === ':443' ? '' : port}${request.url ?? '/'}` }).end();
      return;
    }
    const leave = this.#inFlight.enter(`app ${route.app}`);
    response.once('close', leave);
    void this.#serveBy({ request, response, counter }, host, route);
  }

  async #serveBy(exchange: Omit<Exchange, 'route'>, host: string, found: Route): Promise<void> {
    const { request, response } = exchange;
    const open = this.#inFlight.of(`app ${found.app}`);
    const against = (rules = found.rules): Ruling | null =>
      rules === undefined ? null : ruledOut(rules, request, open);
    const deadline = performance.now() + (found.rules?.hold?.seconds ?? 0) * 1_000;
    let route: Route | undefined = found;
    while (route !== undefined && against(route.rules) === null && isHeld(route) && performance.now() < deadline) {
      await new Promise((resolve) => setTimeout(resolve, POLL_MS));
      route = this.#match(host);
    }
    if (route === undefined) return refuse(response, 404, `No app answers at ${host}.`);
    const ruling = against(route.rules);
    if (ruling !== null || isHeld(route) || route.targets.length === 0) {
      response.setHeader('retry-after', '5');
      return refuse(response, ruling?.status ?? 503, ruling?.detail ?? route.note, ruling?.page);
    }
    const targets = [...route.targets].sort((a, b) => this.#load(a) - this.#load(b) || Math.random() - 0.5);
    const isSticky = route.rules?.sticky === true;
    this.#forward({ ...exchange, route }, isSticky ? stickyFirst(targets, request) : targets);
  }

  #match(host: string): Route | undefined {
    const wildcard = host.replace(/^[^.]+/, '*');
    const named = (name: string): Route | undefined => this.#table.routes.find((route) => route.hosts.includes(name));
    return named(host) ?? named(wildcard);
  }

  #load(target: Target): number {
    return this.#inFlight.of(target.unit);
  }

  #forward(exchange: Exchange, targets: readonly Target[]): void {
    const { request, response, route, counter } = exchange;
    const [target, ...others] = targets;
    if (target === undefined) {
      counter.failures++;
      refuse(response, 502, `The app ${route.app} could not be reached.`);
      return;
    }
    const leave = this.#inFlight.enter(target.unit);
    response.once('close', leave);
    const { method, url: path } = request;
    const upstream = httpRequest({
      host: target.host,
      port: target.port,
      method,
      path,
      agent: false,
      timeout: (route.rules?.answerSeconds ?? 0) * 1_000 || ANSWER_MS,
    });
    for (const [name, value] of Object.entries(forwarded(request, response))) upstream.setHeader(name, value);
    upstream.once('socket', (socket) => socket.once('connect', () => request.pipe(upstream)));
    upstream.on('response', (answer) => {
      const { connection: _connection, 'keep-alive': _keepAlive, 'x-request-id': _id, ...headers } = answer.headers;
      if (route.rules?.sticky === true) response.appendHeader('set-cookie', stickyCookie(target));
      response.writeHead(answer.statusCode ?? 502, headers);
      answer.on('error', () => response.destroy());
      answer.pipe(response);
    });
    upstream.on('timeout', () => upstream.destroy(new Error('timeout')));
    upstream.on('error', (error: NodeJS.ErrnoException) => {
      leave();
      response.off('close', leave);
      if (error.code === 'ECONNREFUSED') this.#forward(exchange, others);
      else if (response.headersSent) response.destroy();
      else {
        counter.failures++;
        refuse(response, error.message === 'timeout' ? 504 : 502, `The app ${route.app} did not answer.`);
      }
    });
    response.once('close', () => upstream.destroy());
  }
}

function forwarded(request: IncomingMessage, response: ServerResponse): Record<string, string | string[]> {
  const headers: Record<string, string | string[]> = {};
  for (const [name, value] of Object.entries(request.headers)) {
    if (value !== undefined && name !== 'connection' && !name.startsWith('x-forwarded-')) headers[name] = value;
  }
  return {
    ...headers,
    'x-forwarded-for': (request.socket.remoteAddress ?? '').replace(/^::ffff:/, ''),
    'x-forwarded-proto': 'encrypted' in request.socket ? 'https' : 'http',
    'x-forwarded-host': request.headers.host ?? '',
    'x-forwarded-port': String(request.socket.localPort ?? ''),
    'x-request-id': String(response.getHeader('x-request-id')),
  };
}

function refuse(response: ServerResponse, status: number, detail: string, html = ''): void {
  const page = html !== '' ? html : `${detail}\n\nrequest: ${String(response.getHeader('x-request-id'))}\n`;
  response.writeHead(status, {
    'content-type': `text/${html === '' ? 'plain' : 'html'}; charset=utf-8`,
    'content-length': Buffer.byteLength(page),
  });
  response.end(page);
}
