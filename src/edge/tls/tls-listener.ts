import { createServer, type ListenOptions, type Server, type Socket } from 'node:net';
import type { Server as TlsServer, TLSSocket } from 'node:tls';
import { type ClientHello, fatalAlert, UNRECOGNIZED_NAME } from '../../lib/client-hello.ts';
import type { ConnectionGate, GatedConnection } from '../../lib/connection-gate.ts';
import { speedUp } from '../../lib/small-start.ts';
import { listening } from '../../lib/listening.ts';
import { refusalPage } from '../rewrite/refusal-page.ts';
import { requestIdFor } from '../rewrite/request-id.ts';
import { ClientConnection } from '../proxy/client-connection.ts';
import { ClientPeer } from '../proxy/client-peer.ts';
import type { EdgeClientConnection } from '../proxy/client.ts';
import type { Plane } from '../proxy/plane.ts';
import { Greeting } from './greeting.ts';
import type { Identity } from './live-certificates.ts';
import { TlsServers } from './tls-servers.ts';

const ACME_PROTOCOL = 'acme-tls/1';
const INTERNAL_ERROR = 80;

export interface TlsListenerParts {
  readonly plane: Plane;
  readonly gate: ConnectionGate;
  readonly onClient: (client: EdgeClientConnection, socket: Socket) => void;
  readonly onFault: (error: Error) => void;
}

/** The public listener for TLS: what comes of it are clients as on the plain one. */
export class TlsListener {
  readonly #plane: Plane;
  readonly #gate: ConnectionGate;
  readonly #onClient: TlsListenerParts['onClient'];
  readonly #onFault: (error: Error) => void;
  readonly #listener: Server;
  readonly #apps: TlsServers;
  readonly #challenges: TlsServers;
  /** By the addresses and ports of the connection, which no two that live share. */
  readonly #greetings = new Map<string, Greeting>();

  constructor({ plane, gate, onClient, onFault }: TlsListenerParts) {
    this.#plane = plane;
    this.#gate = gate;
    this.#onClient = onClient;
    this.#onFault = onFault;
    this.#apps = new TlsServers({
      protocols: plane.settings.http2 ? ['h2', 'http/1.1'] : ['http/1.1'],
      onSecure: (socket) => this.#secured(socket),
    });
    // The certificate has been shown: that was all that the authority wanted.
    this.#challenges = new TlsServers({ protocols: [ACME_PROTOCOL], onSecure: (socket) => void socket.end() });
    this.#listener = createServer({ allowHalfOpen: true, noDelay: true }, (socket) => this.#accept(socket));
    this.#listener.on('error', onFault);
  }

  /** Resolves with the port. */
  async listen(at: ListenOptions): Promise<number> {
    await listening(this.#listener, at);
    const address = this.#listener.address();
    return typeof address === 'object' && address !== null ? address.port : 0;
  }

  /** Base64. */
  set ticketKeys(keys: string) {
    this.#apps.ticketKeys = keys;
  }

  /** Handshakes that are not done yet. */
  get greeting(): number {
    return this.#greetings.size;
  }

  /** Takes no new connection; resolves when all that there were are gone. */
  close(): Promise<void> {
    return new Promise((resolve) => this.#listener.close(() => resolve()));
  }

  /** Ends the handshakes that are not done yet. */
  cut(): void {
    for (const greeting of this.#greetings.values()) greeting.close();
  }

  #accept(socket: Socket): void {
    speedUp();
    const peer = new ClientPeer(this.#plane, socket, true);
    const greeting = new Greeting(this.#plane, socket, peer, {
      serverFor: (hello) => this.#serverFor(hello),
      notTls: (plain, bytes) => this.#refusePlain(plain, bytes),
    });
    const leave = this.#gate.enter(peer.isTrusted ? null : peer.address, greeting);
    if (leave === null) {
      socket.destroy();
      return;
    }
    const key = keyOf(socket);
    this.#greetings.set(key, greeting);
    socket.once('close', () => {
      leave();
      if (this.#greetings.get(key) === greeting) this.#greetings.delete(key);
    });
  }

  #serverFor({ serverName, protocols }: ClientHello): TlsServer | Buffer {
    const name = serverName ?? '';
    const { certificates } = this.#plane;
    const isChallenge = protocols.length === 1 && protocols[0] === ACME_PROTOCOL;
    const identity = isChallenge ? certificates.matchChallenge(name) : certificates.match(name);
    if (identity === null) return fatalAlert(UNRECOGNIZED_NAME);
    return this.#server(isChallenge ? this.#challenges : this.#apps, identity, name);
  }

  #server(servers: TlsServers, identity: Identity, name: string): TlsServer | Buffer {
    try {
      return servers.of(identity);
    } catch (error) {
      this.#onFault(new Error(`the certificate for ${name} cannot be used: ${String(error)}`));
      return fatalAlert(INTERNAL_ERROR);
    }
  }

  #secured(socket: TLSSocket): void {
    const greeting = this.#greetings.get(keyOf(socket));
    if (greeting === undefined) {
      socket.destroy();
      return;
    }
    if (socket.alpnProtocol === 'h2') void this.#beginHttp2(socket, greeting);
    else this.#begin(socket, greeting, new ClientConnection(this.#plane, socket, greeting.peer));
  }

  /** What HTTP/2 needs is loaded when somebody speaks it; until then the connection is one that greets. */
  async #beginHttp2(socket: TLSSocket, greeting: Greeting): Promise<void> {
    const { Http2Client } = await import('../http2/http2-client.ts');
    if (!socket.destroyed) this.#begin(socket, greeting, new Http2Client(this.#plane, socket, greeting.peer));
  }

  #begin(socket: TLSSocket, greeting: Greeting, client: EdgeClientConnection & GatedConnection): void {
    greeting.becomes(client);
    this.#onClient(client, socket);
    this.#greetings.delete(keyOf(socket));
  }

  /** Most likely somebody has written `http:` before an address with this port. */
  #refusePlain(socket: Socket, bytes: Buffer): void {
    if (!/^[A-Z]+ /.test(bytes.toString('latin1', 0, 24))) {
      socket.destroy();
      return;
    }
    const page = {
      ...{ status: 400, detail: 'Only HTTPS is spoken at this port.', app: null, requestId: requestIdFor(null) },
      ...{ retryAfter: null, accept: '', method: 'GET', keepAlive: false },
    };
    socket.end(refusalPage(page));
    socket.resume();
  }
}

function keyOf({ remoteAddress, remotePort, localAddress }: Socket): string {
  return `${remoteAddress ?? ''} ${remotePort ?? 0} ${localAddress ?? ''}`;
}
