/** Made from the OpenAPI document: UPDATE_GOLDEN=1 vitest run src/client writes it. Not for changes by hand. */
export interface QuotasTypes {
  /** How many units an app has and may have; -1 is without limit. */
  'quotas.app_limit': {
    readonly params: { readonly app: string };
    readonly answer: { readonly limit: number; readonly inuse: number };
  };
  /** Set how many units an app may have; for admins. */
  'quotas.set_app_limit': {
    readonly params: { readonly app: string };
    readonly body: { readonly limit?: number | string | null | undefined };
    readonly answer: void;
  };
  /** Set how many units an app may have; for admins. */
  'quotas.set_app_limit-post': {
    readonly params: { readonly app: string };
    readonly body: { readonly limit?: number | string | null | undefined };
    readonly answer: void;
  };
  /** Set how many apps a user may own; for admins. */
  'quotas.set_user_limit': {
    readonly params: { readonly email: string };
    readonly body: { readonly limit?: number | string | null | undefined };
    readonly answer: void;
  };
  /** Set how many apps a user may own; for admins. */
  'quotas.set_user_limit-post': {
    readonly params: { readonly email: string };
    readonly body: { readonly limit?: number | string | null | undefined };
    readonly answer: void;
  };
  /** How many apps a user owns, and how many more may come. */
  'quotas.user': {
    readonly params: { readonly user: string };
    readonly answer: { readonly items: number; readonly available: number };
  };
  /** How many apps a user owns and may own; -1 is without limit. */
  'quotas.user_limit': {
    readonly params: { readonly email: string };
    readonly answer: { readonly limit: number; readonly inuse: number };
  };
}

export const QUOTAS_CALLS = {
  'quotas.app_limit': { method: 'GET', path: '/apps/{app}/quota', answer: 'json' },
  'quotas.set_app_limit': { method: 'PUT', path: '/apps/{app}/quota', body: 'application/json', answer: 'none' },
  'quotas.set_app_limit-post': { method: 'POST', path: '/apps/{app}/quota', body: 'application/json', answer: 'none' },
  'quotas.set_user_limit': { method: 'PUT', path: '/users/{email}/quota', body: 'application/json', answer: 'none' },
  'quotas.set_user_limit-post': {
    method: 'POST',
    path: '/users/{email}/quota',
    body: 'application/json',
    answer: 'none',
  },
  'quotas.user': { method: 'GET', path: '/quota/{user}', answer: 'json' },
  'quotas.user_limit': { method: 'GET', path: '/users/{email}/quota', answer: 'json' },
} as const;
