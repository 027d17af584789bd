/** A data plane in this process with real units behind it, and raw clients that see every byte. */
import { createServer as createHttpServer } from 'node:http';
import type { IncomingMessage, RequestListener, Server as HttpServer } from 'node:http';
import { connect, createServer as createNetServer } from 'node:net';
import type { AddressInfo, Server, Socket } from 'node:net';
import type { Route, RouteTable, Target } from '../../src/domain/routes/router.ts';
import { DataPlane } from '../../src/edge/proxy/data-plane.ts';
import { DEFAULT_SETTINGS } from '../../src/edge/proxy/settings.ts';
import type { EdgeLimits, EdgeProxySettings, Timeouts } from '../../src/edge/proxy/settings.ts';

const PATIENCE_MS = 120_000;

export interface RigSettings extends Partial<
  Pick<EdgeProxySettings, 'trustedProxies' | 'proxyProtocol' | 'hstsSeconds' | 'http2' | 'platform'>
> {
  readonly tls?: boolean;
  readonly limits?: Partial<EdgeLimits>;
  readonly timeouts?: Partial<Timeouts>;
}

export class EdgeRig {
  readonly plane: DataPlane;
  port = 0;
  /** 0 without TLS. */
  tlsPort = 0;
  #version = 0;
  #units = 0;
  readonly #servers: { server: Server | HttpServer; sockets: Set<Socket> }[] = [];
  readonly #clients = new Set<RawClient>();

  constructor(settings: RigSettings = {}) {
    this.plane = new DataPlane(
      {
        ...DEFAULT_SETTINGS,
        ...settings,
        limits: { ...DEFAULT_SETTINGS.limits, ...settings.limits },
        timeouts: { ...DEFAULT_SETTINGS.timeouts, lingerMs: 300, ...settings.timeouts },
      },
      (error) => {
        throw error;
      },
    );
  }

  static async start(settings: RigSettings = {}): Promise<EdgeRig> {
    const rig = new EdgeRig(settings);
    const at = { host: '127.0.0.1', port: 0 };
    const { port, tlsPort } = await rig.plane.listen({ plain: at, tls: settings.tls === true ? at : null });
    rig.port = port;
    rig.tlsPort = tlsPort;
    return rig;
  }

  /** A unit on node:http; `onUpgrade` takes what wants another protocol. */
  httpUnit(listener: RequestListener, onUpgrade?: (request: IncomingMessage, socket: Socket) => void): Promise<Target> {
    const server = createHttpServer({ requestTimeout: 0, headersTimeout: 0 }, listener);
    if (onUpgrade !== undefined) server.on('upgrade', (request, socket) => onUpgrade(request, socket as Socket));
    return this.#listen(server);
  }

  /** A unit that handles bare sockets. */
  rawUnit(onSocket: (socket: Socket) => void): Promise<Target> {
    return this.#listen(
      createNetServer({ allowHalfOpen: true, noDelay: true }, (socket) => {
        socket.on('error', () => {});
        onSocket(socket);
      }),
    );
  }

  /** Ends a unit and its connections. */
  async kill(target: Target): Promise<void> {
    for (const { server, sockets } of this.#servers) {
      const address = server.address();
      if (typeof address !== 'object' || address?.port !== target.port) continue;
      const closed = new Promise((resolve) => server.close(resolve));
      for (const socket of sockets) socket.destroy();
      await closed;
    }
  }

  /** Routes app `blog`, host `blog.test`, to these targets and nothing else. */
  async route(...targets: Target[]): Promise<void> {
    const route: Route = { app: 'blog', hosts: ['blog.test'], targets, note: 'Not deployed yet.', https: 'redirect' };
    await this.apply({ routes: [route] });
  }

  async apply(table: Omit<RouteTable, 'version'>): Promise<void> {
    await this.plane.apply({ version: ++this.#version, ...table });
  }

  async client(): Promise<RawClient> {
    const client = await RawClient.connect(this.port);
    this.#clients.add(client);
    return client;
  }

  /** Sends bytes on a connection of its own and returns everything until the edge closes it. */
  async exchange(bytes: string): Promise<string> {
    const client = await this.client();
    client.send(bytes);
    return client.rest();
  }

  async stop(): Promise<void> {
    for (const client of this.#clients) client.socket.destroy();
    await this.plane.stop(200);
    for (const { server, sockets } of this.#servers) {
      for (const socket of sockets) socket.destroy();
      if (server.listening) await new Promise((resolve) => server.close(resolve));
    }
  }

  async #listen(server: Server | HttpServer): Promise<Target> {
    const sockets = new Set<Socket>();
    server.on('connection', (socket: Socket) => {
      sockets.add(socket);
      socket.on('close', () => sockets.delete(socket));
    });
    this.#servers.push({ server, sockets });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return { unit: `u${++this.#units}`, host: '127.0.0.1', port: (server.address() as AddressInfo).port };
  }
}

/** A client that writes and reads bytes as they are (latin1). */
export class RawClient {
  readonly socket: Socket;
  received = '';
  closed = false;
  #changed = (): void => {};

  private constructor(socket: Socket) {
    this.socket = socket;
    socket.on('data', (chunk: Buffer) => {
      this.received += chunk.toString('latin1');
      this.#changed();
    });
    socket.on('end', () => this.#close());
    socket.on('close', () => this.#close());
    socket.on('error', () => {});
  }

  /** On a connection that is made. */
  static over(socket: Socket): RawClient {
    return new RawClient(socket);
  }

  static connect(port: number): Promise<RawClient> {
    return new Promise((resolve, reject) => {
      const socket = connect({ port, host: '127.0.0.1', noDelay: true });
      socket.once('error', reject);
      socket.once('connect', () => {
        socket.off('error', reject);
        resolve(new RawClient(socket));
      });
    });
  }

  send(bytes: string): void {
    this.socket.write(bytes, 'latin1');
  }

  /** Waits until what came so far satisfies the check; returns it. */
  async until(check: RegExp | ((received: string) => boolean)): Promise<string> {
    const holds = (): boolean => (check instanceof RegExp ? check.test(this.received) : check(this.received));
    const deadline = setTimeout(() => this.socket.destroy(), PATIENCE_MS);
    while (!holds()) {
      if (this.closed) throw new Error(`closed before ${String(check)} came: ${JSON.stringify(this.received)}`);
      await new Promise<void>((resolve) => (this.#changed = resolve));
    }
    clearTimeout(deadline);
    return this.received;
  }

  /** Everything until the connection is closed. */
  async rest(): Promise<string> {
    const deadline = setTimeout(() => this.socket.destroy(), PATIENCE_MS);
    while (!this.closed) await new Promise<void>((resolve) => (this.#changed = resolve));
    clearTimeout(deadline);
    return this.received;
  }

  #close(): void {
    this.closed = true;
    this.#changed();
  }
}
