/** Made from the OpenAPI document: UPDATE_GOLDEN=1 vitest run src/client writes it. Not for changes by hand. */
export interface UsersTypes {
  /** Change the caller's password; every session but this one ends. */
  'users.change_password': {
    readonly body: {
      readonly old?: string | null | undefined;
      readonly new?: string | null | undefined;
      readonly confirm?: string | null | undefined;
    };
    readonly answer: void;
  };
  /** Create an account. */
  'users.create': {
    readonly body: { readonly email?: string | null | undefined; readonly password?: string | null | undefined };
    readonly answer: void;
  };
  /** Show who the caller is. */
  'users.info': { readonly answer: { readonly Email: string; readonly Teams: readonly string[] } };
  /** List the users: all for an admin, otherwise the caller alone. */
  'users.list': {
    readonly query: {
      readonly userEmail?: string | number | boolean | undefined;
      readonly role?: string | number | boolean | undefined;
      readonly context?: string | number | boolean | undefined;
    };
    readonly answer: readonly { readonly Email: string; readonly Teams: readonly string[]; readonly Admin: boolean }[];
  };
  /** Log in: a token for the password. */
  'users.login': {
    readonly params: { readonly email: string };
    readonly body: { readonly password?: string | null | undefined };
    readonly answer: { readonly token: string };
  };
  /** Log out: the presented token ends. */
  'users.logout': { readonly answer: void };
  /** Log out everywhere: every session of the caller ends, this one included. */
  'users.logout_everywhere': { readonly answer: void };
  /** Make a user an admin. */
  'users.make_admin': { readonly params: { readonly email: string }; readonly answer: void };
  /** Make a user an admin. */
  'users.make_admin-post': { readonly params: { readonly email: string }; readonly answer: void };
  /** Remove the account of the caller, or, for admins, the one that is named. */
  'users.remove': { readonly query: { readonly user?: string | number | boolean | undefined }; readonly answer: void };
  /** Mail a token for a new password; with the token, set the one given, or mail a random one. */
  'users.reset_password': {
    readonly params: { readonly email: string };
    readonly query: { readonly token?: string | number | boolean | undefined };
    readonly body: {
      readonly token?: string | null | undefined;
      readonly password?: string | null | undefined;
      readonly new?: string | null | undefined;
    };
    readonly answer: void;
  };
  /** Make an admin a user like others; the last one stays. */
  'users.unmake_admin': { readonly params: { readonly email: string }; readonly answer: void };
}

export const USERS_CALLS = {
  'users.change_password': { method: 'PUT', path: '/users/password', body: 'application/json', answer: 'none' },
  'users.create': { method: 'POST', path: '/users', body: 'application/json', answer: 'none' },
  'users.info': { method: 'GET', path: '/users/info', answer: 'json' },
  'users.list': { method: 'GET', path: '/users', answer: 'list' },
  'users.login': { method: 'POST', path: '/users/{email}/tokens', body: 'application/json', answer: 'json' },
  'users.logout': { method: 'DELETE', path: '/users/tokens', answer: 'none' },
  'users.logout_everywhere': { method: 'DELETE', path: '/users/sessions', answer: 'none' },
  'users.make_admin': { method: 'PUT', path: '/users/{email}/admin', answer: 'none' },
  'users.make_admin-post': { method: 'POST', path: '/users/{email}/admin', answer: 'none' },
  'users.remove': { method: 'DELETE', path: '/users', answer: 'none' },
  'users.reset_password': { method: 'POST', path: '/users/{email}/password', body: 'application/json', answer: 'none' },
  'users.unmake_admin': { method: 'DELETE', path: '/users/{email}/admin', answer: 'none' },
} as const;
