/** Made from the OpenAPI document: UPDATE_GOLDEN=1 vitest run src/client writes it. Not for changes by hand. */
export interface BrowserSessionTypes {
  /** Log out a page of the dashboard: the session ends and its cookie goes. */
  'browser_session.end': { readonly answer: void };
  /** Log in a page of the dashboard: the token comes as a cookie, for /dashboard/api alone. */
  'browser_session.open': {
    readonly body: { readonly email?: string | null | undefined; readonly password?: string | null | undefined };
    readonly answer: void;
  };
}

export const BROWSER_SESSION_CALLS = {
  'browser_session.end': { method: 'DELETE', path: '/auth/session', answer: 'none' },
  'browser_session.open': { method: 'POST', path: '/auth/session', body: 'application/json', answer: 'none' },
} as const;
