/**
 * Contract: issues certificates. Implementations live in backends/certificate-authority/<name>. An authority knows nothing of apps or
 * records: what it must remember it is given again, so an order goes on after a crash where it was.
 */
import type { Cause } from './cause.ts';

/** What an authority asks to see before it believes that a name is ours. */
export type Challenge =
  | { readonly kind: 'http-01'; readonly name: string; readonly token: string; readonly answer: string }
  | { readonly kind: 'tls-alpn-01'; readonly name: string; readonly chain: string; readonly key: string }
  /** A TXT record `record` with `value`, until the authority has looked. */
  | { readonly kind: 'dns-01'; readonly name: string; readonly record: string; readonly value: string }
  /** A TXT record that stays; nothing has to be done at this time. */
  | { readonly kind: 'dns-persist-01'; readonly name: string };

export type ChallengeKind = Challenge['kind'];

export interface IssueRequest {
  readonly names: readonly string[];
  /** PKCS #8 as PEM: of the certificate that is to be made. */
  readonly key: string;
  /** URL of an order that was begun for these names and this key; null: a new one is made. */
  readonly order: string | null;
  /** Called with the URL of a new order, before anything is done with it. */
  onOrder(url: string): Promise<void>;
  /** In order of preference. */
  readonly challenges: readonly ChallengeKind[];
  /** Resolves when the challenge can be looked at; what it resolves to takes it away again. */
  present(challenge: Challenge): Promise<() => Promise<void>>;
  /** PEM of the certificate that the new one takes the place of. */
  readonly replaces: string | null;
  readonly signal: AbortSignal;
}

export interface RenewalWindow {
  readonly start: Date;
  readonly end: Date;
  /** When to ask again, at the earliest. */
  readonly askAgainAt: Date;
  /** Where the authority says why; '' when it does not. */
  readonly explanation: string;
}

/** A TXT record that lets an authority issue for a domain as often as it is asked. */
export interface PersistRecord {
  readonly record: string;
  readonly value: string;
}

export interface CertificateAuthority {
  /** Stable and unique: the host of its directory, `local`. */
  readonly name: string;
  /** Whether it looks at names from outside, so that they have to lead here. */
  readonly looksAtNames: boolean;
  /** Whether it issues only for names that the whole world can have. */
  readonly isPublic: boolean;
  /** PEM, the certificate first. Errors: IssueFailure. */
  issue(request: IssueRequest): Promise<string>;
  /** Null: it has none. Errors: IssueFailure. */
  renewalWindow(chain: string, signal: AbortSignal): Promise<RenewalWindow | null>;
  /** Null where it does not know such records. Errors: IssueFailure. */
  persistRecord(domain: string, wildcard: boolean, signal: AbortSignal): Promise<PersistRecord | null>;
  /** Domain names that its CAA record may have (RFC 8659); empty: it does not look at them. */
  caaNames(signal: AbortSignal): Promise<readonly string[]>;
  /** PEM of the root that people have to trust; null for one that everybody trusts. */
  root(): Promise<string | null>;
  close(): Promise<void>;
}

/** Why there is no certificate. `message` is one sentence for people, in the authority's words where it has any. */
export class IssueFailure extends Error {
  override readonly name = 'IssueFailure';
  readonly code: Cause;
  /** Not to be asked again before; null: it does not say. */
  readonly retryAt: Date | null;
  /** The order can go on later: it is not over. */
  readonly goesOn: boolean;

  constructor(code: Cause, message: string, more: { retryAt?: Date | null; goesOn?: boolean; cause?: unknown } = {}) {
    super(message, more.cause === undefined ? undefined : { cause: more.cause });
    this.code = code;
    this.retryAt = more.retryAt ?? null;
    this.goesOn = more.goesOn ?? false;
  }
}
