/** App tokens (specification 4.9), as they are remembered. */
export interface AppToken {
  /** SHA-256 of the token, hexadecimal. */
  readonly tokenHash: string;
  /** The only app it acts on. */
  readonly app: string;
  /** Who asked for it. */
  readonly by: string;
  /** ISO 8601 UTC. */
  readonly createdAt: string;
  readonly expiresAt: string;
}

/** How a token is called where it must not be shown: the beginning of its hash, unique for ever. */
export function tokenId({ tokenHash }: Pick<AppToken, 'tokenHash'>): string {
  return tokenHash.slice(0, 16);
}

/** How long a token lives: a year of 365 days. */
export const APP_TOKEN_DAYS = 365;
/** The private variable that an exported token is put into. */
export const APP_TOKEN_VARIABLE = 'TANCHO_APP_TOKEN';
