/** Quotas (specification 4.4, as later clients ask for them) and app tokens (4.9). */
import type { Requests } from './requests.ts';
import type * as shapes from './shapes.ts';

export interface QuotasClient {
  /** Apps that the user owns. */
  ofUser(email: string): Promise<shapes.Limit>;
  /** -1: no limit. For admins. */
  setUser(email: string, limit: number): Promise<void>;
  /** Units of the app. */
  ofApp(app: string): Promise<shapes.Limit>;
  /** -1: no limit. For admins. */
  setApp(app: string, limit: number): Promise<void>;
}

export interface AppTokensClient {
  /** With `isExported` it is also set as the app's private variable TANCHO_APP_TOKEN. */
  create(app: string, isExported?: boolean): Promise<shapes.AppToken>;
  /** Ends all of the app. */
  revoke(app: string): Promise<void>;
}

export function quotasClient({ request }: Requests): QuotasClient {
  return {
    ofUser: (email) => request('quotas.user_limit', { params: { email } }),
    setUser: (email, limit) => request('quotas.set_user_limit', { params: { email }, body: { limit } }),
    ofApp: (app) => request('quotas.app_limit', { params: { app } }),
    setApp: (app, limit) => request('quotas.set_app_limit', { params: { app }, body: { limit } }),
  };
}

export function appTokensClient({ request }: Requests): AppTokensClient {
  return {
    create: (app, isExported = false) => request('app_tokens.create', { body: { client: app, export: isExported } }),
    revoke: (app) => request('app_tokens.revoke', { query: { client: app } }),
  };
}
