/** Who we are at an authority: a key, and what the authority knows it by. */
export interface AuthorityIdentity {
  /** Name of the authority. */
  readonly authority: string;
  /** PKCS #8 as PEM; sealed in the store. */
  readonly key: string;
  /** URL of the account; for an authority of our own its certificate. '' while there is none yet. */
  readonly account: string;
}

/** Where identities are kept; sealed there. */
export interface Identities {
  identity(authority: string): Promise<AuthorityIdentity | null>;
  /** Of two at the same time the first one stays; answers what is kept. */
  keepIdentity(identity: AuthorityIdentity): Promise<AuthorityIdentity>;
  /** The account that the key has got. Missing: nothing to do. */
  setAccount(authority: string, account: string): Promise<void>;
}
