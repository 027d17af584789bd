/** Made from the OpenAPI document: UPDATE_GOLDEN=1 vitest run src/client writes it. Not for changes by hand. */
export interface AuthTypes {
  /** Log in, with the e-mail in the body. */
  'auth.login': {
    readonly body: { readonly email?: string | null | undefined; readonly password?: string | null | undefined };
    readonly answer: { readonly token: string };
  };
  /** How one logs in here: with a password. */
  'auth.scheme': { readonly answer: { readonly name: string; readonly data: null } };
}

export const AUTH_CALLS = {
  'auth.login': { method: 'POST', path: '/auth/login', body: 'application/json', answer: 'json' },
  'auth.scheme': { method: 'GET', path: '/auth/scheme', answer: 'json' },
} as const;
