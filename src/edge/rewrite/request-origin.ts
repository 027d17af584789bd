import { forwardedNode } from '../../lib/forwarded-header.ts';
import type { Origin } from '../../lib/trusted-proxies.ts';
import { parseAuthority } from '../http/host.ts';
import type { RequestHead } from '../http/request-head.ts';

const DEFAULT_PORTS = { http: 80, https: 443 } as const;

/**
 * Where requests come from, as units read it: `X-Forwarded-*` and `Forwarded`. One for all requests of a connection, or one
 * for each where a trusted proxy speaks for many clients.
 */
export class RequestOrigin {
  /** The client's address. */
  readonly client: string;
  /** The client speaks TLS, with this edge or with a proxy before it. */
  readonly isSecure: boolean;
  /** A line for the platform's own API: the ports of the client's connection; '' where a proxy is between. */
  readonly ports: string;
  readonly #port: number;
  readonly #host: string | null;
  readonly #before: string;
  readonly #after: string;

  /** `port` is passed on when no Host names one. `clientPort`: of the client's own end of its connection to this edge; absent where a proxy speaks for it. */
  constructor({ path, proto, host }: Origin, port: number, clientPort?: number) {
    this.ports = clientPort === undefined ? '' : `X-Forwarded-Client-Ports: ${clientPort}, ${port}\r\n`;
    this.client = path[0] ?? 'unknown';
    const authority = host === null ? null : parseAuthority(host);
    this.#host = authority === null ? null : host;
    this.#port = authority?.port ?? port;
    const said = proto ?? 'http';
    this.isSecure = said === 'https';
    this.#before =
      `X-Forwarded-For: ${path.join(', ')}\r\nX-Forwarded-Proto: ${said}\r\n` +
      `Forwarded: for=${forwardedNode(this.client)};proto=${said};host="`;
    const proxies = path.slice(1).map((address) => `, for=${forwardedNode(address)}`);
    this.#after = `"${proxies.join('')}\r\nX-Forwarded-Host: `;
  }

  /** The field lines for one request. */
  lines(head: RequestHead): string {
    const host = this.#host ?? head.authority;
    const port = this.#host === null ? (head.host.port ?? this.#port) : this.#port;
    return `${this.#before}${host}${this.#after}${host}\r\nX-Forwarded-Port: ${port}\r\n`;
  }
}

/** The origin of one request that a trusted proxy passes on; `port` is the listener's. */
export function continuedOrigin(origin: Origin, forwardedPort: string, port: number): RequestOrigin {
  const given = /^[0-9]{1,5}$/.test(forwardedPort) ? Number(forwardedPort) : 0;
  const usual = origin.proto === null ? port : DEFAULT_PORTS[origin.proto];
  return new RequestOrigin(origin, given > 0 && given <= 65_535 ? given : usual);
}

/** Value of a field of this request, lines of the same name joined with commas; '' when it has none. */
export function fieldValue(head: RequestHead, name: string): string {
  let value = '';
  for (const field of head.fields) {
    if (field.name === name) value = value === '' ? field.value : `${value},${field.value}`;
  }
  return value;
}
