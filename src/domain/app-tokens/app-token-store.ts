import type { AppToken } from './app-token.ts';

/** What must be remembered about app tokens. Readers answer null for what is missing. */
export interface AppTokenReader {
  /** Null also when expired at `now` (ISO 8601 UTC). */
  appToken(tokenHash: string, now: string): Promise<AppToken | null>;
  /** Newest first, also the expired. */
  appTokens(app: string): Promise<AppToken[]>;
}

export interface AppTokenWriter {
  /** Throws PlatformError `app.not_found`. A token goes with its app. */
  insertAppToken(token: AppToken): Promise<void>;
  /** How many there were. */
  deleteAppTokens(app: string): Promise<number>;
  /** True when there was one. */
  deleteAppToken(tokenHash: string): Promise<boolean>;
  deleteExpiredAppTokens(now: string): Promise<number>;
}
