import type { Logger } from '../../../lib/logger.ts';

export interface EdgeProcessOptions {
  /** Absolute; holds the edge's table and log. */
  readonly stateDir: string;
  /** Absolute and short; holds edge.sock and edge.pid. */
  readonly runDir: string;
  /** Port 0: any free one, kept for as long as the router lives. */
  readonly listen: { readonly host: string; readonly port: number };
  /** Where TLS is spoken; absent or null: nowhere. */
  readonly tls?: { readonly host: string; readonly port: number } | null;
  /** The user that the edge becomes once it has its listeners, and the group; null and absent: it stays who has started it. */
  readonly user?: number | null;
  readonly workers: number;
  /** Absolute path of the built program, in which edge/main.js is the edge. It is copied, so later builds leave a running edge alone. */
  readonly programDir: string;
  /** The Node to run it with; this process's own by default. */
  readonly execPath?: string;
  /** Milliseconds for requests in flight when the edge is stopped. Default 10 000. */
  readonly stopGraceMs?: number;
  /** Of one that follows servers elsewhere: milliseconds before that in which it does what leave() has others do. Default 0. */
  readonly drainMs?: number;
  /** Addresses and networks of proxies in front of the edge. */
  readonly trustedProxies?: readonly string[];
  /** Connections of trusted proxies begin with a header of the PROXY protocol. */
  readonly proxyProtocol?: boolean;
  /** Sent to browsers with every answer by HTTPS (Strict-Transport-Security); absent or 0: not sent. */
  readonly hstsSeconds?: number;
  /** Offered to clients over TLS; by default it is. */
  readonly http2?: boolean;
  /** The platform's API: names that lead to it, and the absolute path of its socket. Absent: it is not behind the edge. */
  readonly platform?: { readonly hosts: readonly string[]; readonly socket: string };
  /** Milliseconds for connections of an edge that another one has taken over from. Default 600 000. */
  readonly handoverMs?: number;
  /** Argument of keeper/main.js, which runs while control is away; absent: units that die meanwhile stay dead. */
  readonly keeper?: string;
  /** Overrides of edge/proxy/settings.ts, by the names used there. */
  readonly limits?: Readonly<Record<string, number>>;
  readonly timeouts?: Readonly<Record<string, number>>;
  /** Servers elsewhere, as src/edge/follow has it; absent: that of this machine. */
  readonly follow?: { readonly name: string; readonly program: string; readonly servers: readonly string[] };
}

export interface EdgeRouterOptions extends Omit<EdgeProcessOptions, 'follow'> {
  readonly logger: Logger;
  /** Called with each process of the edge that begins to serve. */
  readonly onServing?: (pid: number) => void;
}
