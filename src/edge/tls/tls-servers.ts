import { createHash, constants } from 'node:crypto';
import { createServer, type Server, type TLSSocket } from 'node:tls';
import type { Identity } from './live-certificates.ts';

/** Each takes about 30 kB outside of the heap, and is made again within a millisecond. */
const MOST_SERVERS = 1_024;

/** What every current client speaks, forward secret and authenticated; the order is theirs. */
const CIPHERS = [
  ...['TLS_AES_128_GCM_SHA256', 'TLS_AES_256_GCM_SHA384', 'TLS_CHACHA20_POLY1305_SHA256'],
  ...['ECDHE-ECDSA-AES128-GCM-SHA256', 'ECDHE-RSA-AES128-GCM-SHA256'],
  ...['ECDHE-ECDSA-AES256-GCM-SHA384', 'ECDHE-RSA-AES256-GCM-SHA384'],
  ...['ECDHE-ECDSA-CHACHA20-POLY1305', 'ECDHE-RSA-CHACHA20-POLY1305'],
].join(':');

interface TlsServersOptions {
  /** By ALPN, in order of preference. */
  readonly protocols: readonly string[];
  readonly onSecure: (socket: TLSSocket) => void;
}

/**
 * A TLS server of Node's for each certificate, which never listens: connections are given to it once it is known that they are for its
 * names. So a handshake needs no callback that could fail for all.
 */
export class TlsServers {
  readonly #options: TlsServersOptions;
  /** The one used last is the last one. */
  readonly #servers = new Map<Identity, Server>();
  #ticketKeys: Buffer;

  constructor(options: TlsServersOptions) {
    this.#options = options;
    this.#ticketKeys = Buffer.alloc(0);
  }

  /** Base64. */
  set ticketKeys(keys: string) {
    const next = Buffer.from(keys, 'base64');
    if (next.equals(this.#ticketKeys)) return;
    this.#ticketKeys = next;
    for (const server of this.#servers.values()) server.setTicketKeys(next);
  }

  /** Throws what is wrong with the certificate. */
  of(identity: Identity): Server {
    const server = this.#servers.get(identity) ?? this.#made(identity);
    this.#servers.delete(identity);
    this.#servers.set(identity, server);
    const [oldest] = this.#servers.keys();
    if (this.#servers.size > MOST_SERVERS && oldest !== undefined) this.#servers.delete(oldest);
    return server;
  }

  #made({ chain, key }: Identity): Server {
    const server = createServer(
      {
        cert: chain,
        key,
        // No certificates of clients are looked at, so none of those who issue them are needed.
        ca: [],
        minVersion: 'TLSv1.2',
        ciphers: CIPHERS,
        secureOptions: constants.SSL_OP_NO_RENEGOTIATION,
        ALPNProtocols: [...this.#options.protocols],
        // A session of one certificate is none of another's.
        sessionIdContext: createHash('sha256').update(chain).digest('hex').slice(0, 32),
        ...(this.#ticketKeys.length > 0 ? { ticketKeys: this.#ticketKeys } : {}),
        // The greeting has a deadline of its own.
        handshakeTimeout: 0,
      },
      this.#options.onSecure,
    );
    // The client is gone, or wants what cannot be had; nobody else is concerned.
    server.on('tlsClientError', (_error, socket) => socket.destroy());
    return server;
  }
}
