/** Quotas (specification 4.4, as later clients ask for them) and app tokens (4.9). */
import { type Calls, path } from './calls.ts';
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
  /** Newest first; the tokens themselves are not shown again. */
  list(app: string): Promise<readonly shapes.AppTokenInfo[]>;
  /** Ends one, by its Id. */
  revokeOne(app: string, id: string): Promise<void>;
  /** Ends all of the app. */
  revoke(app: string): Promise<void>;
}

export function quotasClient(calls: Calls): QuotasClient {
  return {
    ofUser: (email) => calls.json('GET', path`/users/${email}/quota`),
    async setUser(email, limit) {
      await calls.done('PUT', path`/users/${email}/quota`, { json: { limit } });
    },
    ofApp: (app) => calls.json('GET', path`/apps/${app}/quota`),
    async setApp(app, limit) {
      await calls.done('PUT', path`/apps/${app}/quota`, { json: { limit } });
    },
  };
}

export function appTokensClient(calls: Calls): AppTokensClient {
  return {
    create: (app, isExported = false) => calls.json('POST', '/tokens', { json: { client: app, export: isExported } }),
    list: (app) => calls.json<readonly shapes.AppTokenInfo[]>('GET', '/tokens', { query: { client: app } }, []),
    async revokeOne(app, id) {
      await calls.done('DELETE', path`/tokens/${id}`, { query: { client: app } });
    },
    async revoke(app) {
      await calls.done('DELETE', '/tokens', { query: { client: app } });
    },
  };
}
