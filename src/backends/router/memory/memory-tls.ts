import { createServer as createListener, type AddressInfo, type Server, type Socket } from 'node:net';
import {
  createSecureContext,
  createServer as createTlsServer,
  type Server as TlsServer,
  type TLSSocket,
} from 'node:tls';
import type { CertificateSet, CertificatesInForce } from '../../../domain/routes/router.ts';
import { fatalAlert, HELLO_BAD, HELLO_MORE, parseClientHello, UNRECOGNIZED_NAME } from '../../../lib/client-hello.ts';
import { HostMap } from '../../../lib/host-map.ts';
import { hostPort } from '../../../lib/host-port.ts';
import { listening } from '../../../lib/listening.ts';

const HELLO_MS = 15_000;
const ACME_PROTOCOL = 'acme-tls/1';

/** The TLS side of the memory router: one server of Node's per certificate, which the greeting of a client chooses. */
export class MemoryTls {
  #set: CertificateSet = { version: 0, certificates: [], httpChallenges: [], alpnChallenges: [] };
  #unusable: CertificatesInForce['unusable'] = [];
  #byName = new HostMap<TlsServer>();
  #challenges = new Map<string, TlsServer>();
  readonly #sockets = new Set<Socket>();
  readonly #onSecure: (socket: TLSSocket) => void;
  readonly #listener: Server = createListener((socket) => this.#greet(socket));

  constructor(onSecure: (socket: TLSSocket) => void) {
    this.#onSecure = onSecure;
  }

  /** Resolves with the address as bound. */
  async start(host: string, port: number): Promise<string> {
    await listening(this.#listener, { host, port });
    return hostPort({ host, port: (this.#listener.address() as AddressInfo).port });
  }

  async stop(): Promise<void> {
    if (!this.#listener.listening) return;
    const closed = new Promise((resolve) => this.#listener.close(resolve));
    for (const socket of this.#sockets) socket.destroy();
    await closed;
  }

  apply(set: CertificateSet): void {
    if (set.version <= this.#set.version) return;
    const unusable: { id: string; problem: string }[] = [];
    const byName = new HostMap<TlsServer>();
    for (const { id, names, chain, key } of set.certificates) {
      try {
        const server = this.#server(chain, key, ['http/1.1']);
        for (const name of names) byName.add(name, server);
      } catch (error) {
        unusable.push({ id, problem: error instanceof Error ? error.message : String(error) });
      }
    }
    const challenges = set.alpnChallenges.map(
      ({ name, chain, key }) => [name, this.#server(chain, key, [ACME_PROTOCOL])] as const,
    );
    this.#set = set;
    this.#unusable = unusable;
    this.#byName = byName;
    this.#challenges = new Map(challenges);
  }

  state(): CertificatesInForce {
    const ids = this.#set.certificates.map(({ id }) => id);
    const unusable = this.#unusable;
    return {
      version: this.#set.version,
      ids: ids.filter((id) => !unusable.some((other) => other.id === id)),
      unusable,
    };
  }

  has(host: string): boolean {
    return this.#byName.get(host) !== null;
  }

  /** The answer to an authority that asks at this path; null when nothing is known of it. */
  challengeAnswer(host: string, path: string): string | null {
    const asked = this.#set.httpChallenges.find(
      (challenge) => challenge.host === host && path === `/.well-known/acme-challenge/${challenge.token}`,
    );
    return asked?.answer ?? null;
  }

  /** Throws what is wrong with the pair. */
  #server(chain: string, key: string, protocols: string[]): TlsServer {
    createSecureContext({ cert: chain, key });
    const server = createTlsServer({ cert: chain, key, ALPNProtocols: protocols }, (socket) => {
      if (socket.alpnProtocol === ACME_PROTOCOL) socket.destroy();
      else this.#onSecure(socket);
    });
    // The client is gone, or wants what cannot be had; nobody else is concerned.
    server.on('tlsClientError', (_error, socket) => socket.destroy());
    return server;
  }

  #greet(socket: Socket): void {
    this.#sockets.add(socket);
    socket.on('close', () => this.#sockets.delete(socket));
    socket.on('error', () => {});
    socket.setTimeout(HELLO_MS, () => socket.destroy());
    let bytes = Buffer.alloc(0);
    const read = (chunk: Buffer): void => {
      bytes = Buffer.concat([bytes, chunk]);
      const hello = parseClientHello(bytes);
      if (hello === HELLO_MORE) return;
      socket.setTimeout(0);
      socket.off('data', read);
      socket.pause();
      if (hello === HELLO_BAD) {
        socket.destroy();
        return;
      }
      const { serverName, protocols } = hello;
      const isChallenge = protocols.length === 1 && protocols[0] === ACME_PROTOCOL;
      const name = serverName ?? '';
      const server = isChallenge ? this.#challenges.get(name) : this.#byName.get(name);
      if (server === undefined || server === null) {
        socket.end(fatalAlert(UNRECOGNIZED_NAME));
        return;
      }
      socket.unshift(bytes);
      server.emit('connection', socket);
    };
    socket.on('data', read);
  }
}
