/** Contract: looks at names as the world sees them. Implementation: backends/name-lookup. Never throws; bounded in time. */

export type LookupResult<T> =
  | { readonly kind: 'found'; readonly value: T }
  /** The name servers say that there is none. */
  | { readonly kind: 'none' }
  /** They do not answer, or not so that it can be understood; `why` is one word or two. */
  | { readonly kind: 'failed'; readonly why: string };

export interface Addresses {
  readonly ipv4: readonly string[];
  readonly ipv6: readonly string[];
}

export interface CaaRecord {
  /** `issue`, `issuewild` and others. */
  readonly tag: string;
  /** Domain of the authority; '' forbids everybody. */
  readonly issuer: string;
}

export type HttpLook =
  /** `server`: as it calls itself. */
  | { readonly kind: 'answered'; readonly status: number; readonly body: string; readonly server: string }
  /** `why` completes "it ...". */
  | { readonly kind: 'unreachable'; readonly why: string };

export interface NameLookup {
  addresses(name: string): Promise<LookupResult<Addresses>>;
  caa(name: string): Promise<LookupResult<readonly CaaRecord[]>>;
  txt(name: string): Promise<LookupResult<readonly string[]>>;
  /** A GET on port 80 of this address. */
  ask(address: string, host: string, path: string): Promise<HttpLook>;
  /** Whether port 443 of this address takes a connection. */
  takesTls(address: string): Promise<boolean>;
  /** Of this machine, without loopback. */
  ownAddresses(): readonly string[];
}
