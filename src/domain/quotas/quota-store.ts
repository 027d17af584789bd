import type { Limit } from './limit.ts';

/** What must be remembered about quotas. */
export interface QuotaReader {
  /** Undefined when none was set for this user (or there is no such user): the default of the platform holds. */
  userLimit(email: string): Promise<Limit | undefined>;
  /** Undefined when none was set for this app. */
  appLimit(app: string): Promise<Limit | undefined>;
  /** How many apps have this owner, those that are being removed included. */
  appsOwned(email: string): Promise<number>;
}

export interface QuotaWriter {
  /** Throws PlatformError `user.not_found`. Goes with the user. */
  setUserLimit(email: string, limit: Limit): Promise<void>;
  /** Throws PlatformError `app.not_found`. Goes with the app. */
  setAppLimit(app: string, limit: Limit): Promise<void>;
}
