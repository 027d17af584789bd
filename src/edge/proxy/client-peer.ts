import type { Socket } from 'node:net';
import { plainAddress } from '../../lib/forwarded-header.ts';
import { HEAD_MORE } from '../http/head-reader.ts';
import { ProxyHeaderReader } from '../http/proxy-protocol.ts';
import type { RequestHead } from '../http/request-head.ts';
import { continuedOrigin, fieldValue, RequestOrigin } from '../rewrite/request-origin.ts';
import type { Plane } from './plane.ts';

/** Who is at the other end of a client connection: a client, or a proxy and those it speaks for. */
export class ClientPeer {
  readonly isSecure: boolean;
  readonly #plane: Plane;
  #address: string;
  /** Of the other end of the connection; absent where that is a proxy that speaks for others. */
  #clientPort: number | undefined;
  #port: number;
  /** Of every request of the connection; null where a trusted proxy says it with each. */
  #origin: RequestOrigin | null = null;
  /** While the header of the PROXY protocol has not come yet. */
  #header: ProxyHeaderReader | null = null;

  /** `isSecure`: the connection itself is TLS. */
  constructor(
    plane: Plane,
    { remoteAddress, remotePort }: Pick<Socket, 'remoteAddress' | 'remotePort'>,
    isSecure: boolean,
  ) {
    this.#plane = plane;
    this.#address = plainAddress(remoteAddress ?? 'unknown');
    this.#clientPort = remotePort;
    this.isSecure = isSecure;
    this.#port = isSecure ? plane.tlsPort : plane.port;
    if (!this.isTrusted) this.#origin = this.#ownOrigin(null);
    else if (plane.settings.proxyProtocol) this.#header = new ProxyHeaderReader();
  }

  /** As far as is known by now. */
  get address(): string {
    return this.#address;
  }

  get isTrusted(): boolean {
    return this.#plane.proxies.trusts(this.#address);
  }

  /** The connection has to begin with a header of the PROXY protocol, which has not come yet. */
  get owesHeader(): boolean {
    return this.#header !== null;
  }

  /** Takes the header, and what comes of it, from bytes[from, end). Returns the index just past it, HEAD_MORE or HEAD_BAD. */
  readHeader(bytes: Buffer, from: number, end: number): number {
    if (this.#header === null) return from;
    const stop = this.#header.read(bytes, from, end);
    if (stop === HEAD_MORE) return HEAD_MORE;
    const { address, port, tls } = this.#header.source;
    this.#header = null;
    if (address !== null) [this.#address, this.#clientPort] = [plainAddress(address), undefined];
    this.#port = port ?? this.#port;
    const isClient = address === null || !this.isTrusted;
    if (isClient) this.#origin = this.#ownOrigin(tls ? 'https' : null);
    return stop;
  }

  originOf(head: RequestHead): RequestOrigin {
    if (this.#origin !== null) return this.#origin;
    const field = (name: string): string => fieldValue(head, name);
    const said = this.#plane.proxies.origin(this.#address, field);
    const origin = this.isSecure && said.proto === null ? { ...said, proto: 'https' as const } : said;
    return continuedOrigin(origin, field('x-forwarded-port'), this.#port);
  }

  #ownOrigin(proto: 'https' | null): RequestOrigin {
    const own = this.isSecure ? 'https' : proto;
    return new RequestOrigin({ path: [this.#address], proto: own, host: null }, this.#port, this.#clientPort);
  }
}
