/**
 * Rollouts under clients of every kind, and a generator that counts what became of their requests by itself: it knows nothing of the
 * edge but the port.
 */
import { Agent, type ClientRequest, createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { expect } from 'vitest';
import type { Target } from '../../src/domain/routes/router.ts';
import { RawClient } from './edge-rig.ts';
import { until } from './until.ts';

const UPLOAD = Buffer.alloc(100_000, 'x');

/** The edge under test, which routes `blog.test`. */
export interface CountingEdge {
  readonly port: number;
  route(target: Target): Promise<void>;
  drained(unit: string): Promise<number>;
}

/** What happens while three answers are under way. `cut`: the unit ends in the middle of them. */
export type Incident = { readonly kind: 'none' | 'cut' } | { readonly kind: 'workers'; kill(): Promise<void> };

let units = 0;

/** A unit, and what a test makes it do. */
export class CountedUnit {
  readonly target: Target;
  /** Answers that wait for finish(). */
  readonly pending: ServerResponse[] = [];
  streams = 0;
  readonly upgraded: Socket[] = [];
  readonly #end: () => Promise<void>;

  private constructor(target: Target, end: () => Promise<void>) {
    this.target = target;
    this.#end = end;
  }

  static async start(): Promise<CountedUnit> {
    const server = createServer({ requestTimeout: 0, headersTimeout: 0 });
    const sockets = new Set<Socket>();
    server.on('connection', (socket: Socket) => {
      sockets.add(socket);
      socket.on('close', () => sockets.delete(socket));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const unit = new CountedUnit({ unit: `counted-${(units += 1)}`, host: '127.0.0.1', port }, async () => {
      const closed = new Promise((resolve) => server.close(resolve));
      for (const socket of sockets) socket.destroy();
      await closed;
    });
    server.on('request', (incoming, response) => unit.#answer(incoming, response));
    server.on('upgrade', (incoming, socket: Socket) => {
      socket.on('error', () => {});
      socket.write('HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n');
      unit.upgraded.push(socket);
      incoming.resume();
    });
    return unit;
  }

  #answer(incoming: IncomingMessage, response: ServerResponse): void {
    const path = incoming.url ?? '';
    if (path === '/stream') {
      this.streams++;
      response.once('close', () => this.streams--);
      response.write('data: 1\n\n');
    } else if (path === '/half') {
      response.write('half ');
      this.pending.push(response);
    } else if (path === '/slow') {
      this.pending.push(response);
    } else {
      let size = 0;
      incoming.on('data', (chunk: Buffer) => (size += chunk.length));
      incoming.on('end', () => response.end(String(size)));
    }
  }

  finish(): void {
    for (const response of this.pending.splice(0)) response.end('whole');
  }

  /** With all its connections. */
  kill(): Promise<void> {
    return this.#end();
  }
}

/** What became of the requests of clients that did not leave. */
export class Generator {
  failures = 0;
  answers = 0;
  readonly #port: number;
  #agent = new Agent({ keepAlive: true });
  readonly #agents = [this.#agent];

  constructor(port: number) {
    this.#port = port;
  }

  /** Resolves when the request has come to its end, whichever. */
  async send(method: string, path: string, body?: Buffer): Promise<void> {
    const sent = this.#request(method, path);
    const outcome = new Promise<boolean>((resolve) => {
      sent.on('error', () => resolve(false));
      sent.on('response', (response) => {
        response.resume();
        response.on('error', () => resolve(false));
        response.on('end', () => resolve(response.statusCode === 200 && response.complete));
      });
    });
    sent.end(body);
    if (await outcome) this.answers++;
    else this.failures++;
  }

  /** Leaves once `when` resolves, given the request. */
  async leave(path: string, when: (sent: ClientRequest) => Promise<unknown>): Promise<void> {
    const sent = this.#request('GET', path, false);
    sent.on('error', () => {});
    sent.on('response', (response) => response.on('error', () => {}).resume());
    sent.end();
    await when(sent);
    sent.destroy();
  }

  /** Resolves when the handshake is done; the websocket is whole when it ends. */
  async websocket(): Promise<{ readonly ended: Promise<unknown> }> {
    const sent = this.#request('GET', '/socket', false, { connection: 'Upgrade', upgrade: 'websocket' });
    sent.end();
    const socket = await new Promise<Socket>((resolve, reject) => {
      sent.on('upgrade', (_, upgraded) => resolve(upgraded as Socket));
      sent.on('error', reject);
    });
    socket.on('error', () => {});
    return { ended: new Promise((resolve) => socket.resume().once('close', resolve)) };
  }

  /** A client that has not heard yet that its idle connection has gone loses a request that nobody else ever sees. */
  leaveIdleConnections(): void {
    this.#agent = new Agent({ keepAlive: true });
    this.#agents.push(this.#agent);
  }

  stop(): void {
    for (const agent of this.#agents) agent.destroy();
  }

  #request(method: string, path: string, kept = true, more: Record<string, string> = {}): ClientRequest {
    const headers = { host: 'blog.test', ...more };
    return request({ port: this.#port, method, path, headers, agent: kept ? this.#agent : false });
  }
}

/** Clients that leave: one in the middle of a stream, one before any answer, one that only ends what it sends. */
async function leavingClients(edge: CountingEdge, generator: Generator, unit: CountedUnit): Promise<void> {
  const left = [
    generator.leave('/stream', (sent) => new Promise((resolve) => sent.once('response', resolve))),
    generator.leave('/slow', () => until(() => unit.pending.length > 0, { what: 'a request to wait' })),
  ];
  // Says that it has left by the end of its stream alone, and the unit stays silent.
  const halfClosed = await RawClient.connect(edge.port);
  halfClosed.send('GET /stream HTTP/1.1\r\nHost: blog.test\r\n\r\n');
  await halfClosed.until(/data: 1/);
  halfClosed.socket.end();
  await Promise.all([...left, halfClosed.rest()]);
  await until(() => unit.streams === 0 && unit.pending.every(({ destroyed }) => destroyed), {
    what: 'the unit to hear that they have left',
  });
  unit.pending.length = 0;
}

/** The number of requests of one rollout that are sent and stay until they have an answer. */
export const REQUESTS_PER_ROLLOUT = 7;

/** One rollout: clients of every kind, some leave, the table changes, the old unit ends. */
export async function countedRollout(
  edge: CountingEdge,
  generator: Generator,
  old: CountedUnit,
  incident: Incident,
): Promise<CountedUnit> {
  await leavingClients(edge, generator, old);
  const socket = await generator.websocket();
  const sending = [generator.send('GET', '/half'), generator.send('GET', '/slow'), generator.send('POST', '/slow')];
  await until(() => old.pending.length === 3, { what: 'three answers to be under way' });
  const quick = [generator.send('GET', '/'), generator.send('POST', '/upload', UPLOAD)];
  if (incident.kind !== 'none') await Promise.all(quick);
  if (incident.kind === 'workers') {
    await incident.kill();
    generator.leaveIdleConnections();
  }
  const next = await CountedUnit.start();
  await edge.route(next.target);
  const after = [generator.send('GET', '/'), generator.send('PUT', '/upload', UPLOAD)];
  if (incident.kind !== 'cut') {
    const drained = edge.drained(old.target.unit);
    old.finish();
    expect(await drained).toBe(0);
    for (const upgraded of old.upgraded) upgraded.end('goodbye');
  }
  await old.kill();
  await socket.ended;
  // What may be repeated now waits at the new unit.
  if (incident.kind === 'cut')
    await until(() => next.pending.length === 1, { what: 'the request that may be repeated' });
  next.finish();
  await Promise.all([...sending, ...quick, ...after]);
  return next;
}
