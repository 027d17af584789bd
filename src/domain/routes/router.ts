/**
 * Contract: brings requests to units. Implementations live in backends/router/<name> and pass
 * backends/router/conformance.ts. A router takes whole tables only: each apply() replaces what was there, atomically.
 *
 * A request goes to the route that has its Host, whatever its case, port or trailing dot; an exact name wins over a wildcard. Where none has, it is
 * answered 404, with the name. Several targets share the requests; one that refuses the connection is passed over for the next, and where none is
 * left the answer is 502; until then the request may wait for another table, and go by that, or for a target that takes it after all. What the router answers itself names the app and no address, and 503 comes with Retry-After. Bodies pass both ways as they come.
 *
 * Units get the request as it was sent, with its Host, and with X-Forwarded-For (the client's address), X-Forwarded-Proto, X-Forwarded-Host and
 * X-Forwarded-Port in place of what a client has said of them. X-Request-Id is the client's, or a new one; units and clients get it.
 */
import type { AnswerCounts } from '../../lib/answer-counts.ts';
import type { Address } from '../units/unit.ts';

export interface Target extends Address {
  /** The unit's id. */
  readonly unit: string;
  /** The first of its processes, where it shares the network of the machine: nobody else's listener gets its requests. */
  readonly process?: UnitProcess;
}

export interface UnitProcess {
  readonly pid: number;
  /** Kernel start time, in clock ticks since boot, so a reused pid is recognised. */
  readonly start: string;
  /** The number of the user that all processes of the app run as, and none of another app. Absent: apps have no users of their own. */
  readonly uid?: number;
}

export interface Route {
  /** An app may have several routes. */
  readonly app: string;
  /** Of another of its process types than `web`. */
  readonly process?: string;
  /** Lower-case host names, without port. A `*.` prefix matches one label. */
  readonly hosts: readonly string[];
  /** Empty: the app exists but nothing serves; requests are answered 503 with the reason. */
  readonly targets: readonly Target[];
  /** Shown when targets is empty: why, in one sentence (`This app has not been deployed yet.`). */
  readonly note: string;
  /** Absent: nothing is special about its requests. */
  readonly rules?: RouteRules;
  /** What plain HTTP does once the router has a certificate for the host: sends the client to HTTPS (308), or serves it as well. */
  readonly https: 'redirect' | 'both';
}

/** Settings that are absent are off. */
export interface RouteRules {
  /** Every request is answered 503, with this HTML; '' for the router's own page. */
  readonly maintenance?: { readonly page: string };
  /** Requests wait, so long at most, while there is no target, or in any case; then 503. */
  readonly hold?: { readonly when: 'unserved' | 'always'; readonly seconds: number };
  /** A client that has been to a target comes to it again as long as it is in the table; it is known by a cookie (Path=/; HttpOnly; SameSite=Lax). */
  readonly sticky?: true;
  /** Each request is a line of takeAccessLog(). */
  readonly accessLog?: true;
  /** Longer ones are answered 413. */
  readonly maxBodyBytes?: number;
  /** From the whole request to the head of its answer. */
  readonly answerSeconds?: number;
  /** More at one time are answered 503. */
  readonly maxRequests?: number;
}

export interface RouteTable {
  /** Grows with every change; a router that has seen a newer one ignores an older. */
  readonly version: number;
  readonly routes: readonly Route[];
}

export interface Certificate {
  /** Of the certificate's record. */
  readonly id: string;
  /** Lower-case host names that it is for. A `*.` prefix matches one label. */
  readonly names: readonly string[];
  /** PEM: the certificate, then those that it was issued by. */
  readonly chain: string;
  /** PEM, not encrypted. */
  readonly key: string;
}

/** An answer to a certificate authority that looks whether a name leads here (RFC 8555 section 8.3). */
export interface HttpChallenge {
  readonly token: string;
  readonly answer: string;
  readonly host: string;
}

/** A certificate for authorities that look at the TLS listener itself (RFC 8737), made for the purpose. */
export interface AlpnChallenge {
  readonly name: string;
  readonly chain: string;
  readonly key: string;
}

/**
 * What the router presents to TLS clients. Whole sets only, as with route tables, and kept apart from them, so that a renewal touches
 * no route. A name that several certificates have is that of the first; exact names win over wildcards. One that cannot be used (its
 * key is another's, it is no PEM) is passed over, and reported by certificates(); its names are then served by the next that has them.
 */
export interface CertificateSet {
  /** Grows with every change; a router that has seen a newer one ignores an older. */
  readonly version: number;
  readonly certificates: readonly Certificate[];
  /** Answered on plain HTTP at `/.well-known/acme-challenge/<token>`, before any route and any redirect. */
  readonly httpChallenges: readonly HttpChallenge[];
  /** Presented for their names to clients that offer the protocol `acme-tls/1` and no other. */
  readonly alpnChallenges: readonly AlpnChallenge[];
}

/** A certificate set in force, without its secrets. */
export interface CertificatesInForce {
  readonly version: number;
  /** Of the certificates that are presented. */
  readonly ids: readonly string[];
  /** Those that cannot be presented, and why in one sentence. */
  readonly unusable: readonly { readonly id: string; readonly problem: string }[];
}

/** One request, or a gap, as people read it. */
export interface AccessEntry {
  readonly app: string;
  /** Milliseconds since 1970. */
  readonly atMs: number;
  /** `name=value` pairs, of a request with `method`, `path` (in quotes) and `status` among them. */
  readonly line: string;
}

export interface AppTraffic {
  /** Requests answered since the router started. */
  readonly requests: number;
  /** Requests the router itself had to fail (no target, connection refused or lost before an answer, time-out). */
  readonly failures: number;
  /** Of the requests answered, by status and by the time from their head to the head of the answer. */
  readonly answers: AnswerCounts;
}

export interface Router {
  readonly name: string;
  /** `host:port` where apps are reached, as bound (so `:0` is resolved). */
  readonly listen: string;
  /** `host:port` where apps are reached by TLS, as bound; null when there is no such listener. */
  readonly tlsListen: string | null;
  /** Resolves when every worker routes by the new table. Idempotent. */
  apply(table: RouteTable): Promise<void>;
  /** The table that is in force; version 0 before the first. */
  table(): Promise<RouteTable>;
  /** Resolves when every worker presents the new set, and answers its challenges. Idempotent. Connections that there are stay. */
  applyCertificates(set: CertificateSet): Promise<void>;
  /** The set that is in force; version 0 before the first. */
  certificates(): Promise<CertificatesInForce>;
  /**
   * Resolves when no request is in flight to these units, or after `timeoutMs`: then with the number still open. Upgraded connections
   * (websockets) are not waited for, and stay until the unit ends them: that is what it has its grace for.
   */
  drained(units: readonly string[], timeoutMs: number): Promise<number>;
  traffic(app: string): Promise<AppTraffic>;
  /** The same of many, by one question; has each of them. */
  trafficOf(apps: readonly string[]): Promise<ReadonlyMap<string, AppTraffic>>;
  /**
   * The requests since the last call to apps whose rules ask for it, each once; a bounded number of them, with a line that says how many
   * are left out. What is taken and not kept is lost.
   */
  takeAccessLog(): Promise<readonly AccessEntry[]>;
  /**
   * Before stop(), where clients are to notice nothing: those that are open are closed with their next answer, and from half of `timeoutMs` on no connection is
   * taken any more. Resolves when none is left then, or after `timeoutMs`. Tables are taken meanwhile.
   */
  leave(timeoutMs: number): Promise<void>;
  /** Lets go of the router; it goes on serving (see stop). */
  close(): Promise<void>;
  /** Ends the router itself, for a full stop of the platform. */
  stop(): Promise<void>;
}
