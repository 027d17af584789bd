/** Made from the OpenAPI document: UPDATE_GOLDEN=1 vitest run src/client writes it. Not for changes by hand. */
export interface RegistriesTypes {
  /** List the logins at registries of images, without their passwords. */
  'registries.list': {
    readonly answer: readonly {
      readonly host: string;
      readonly team: string;
      readonly user: string;
      readonly created_by: string;
      readonly created_at: string;
    }[];
  };
  /** Keep a user and password for a registry, for the apps of a team or, by an admin, of all. */
  'registries.login': {
    readonly params: { readonly host: string };
    readonly body: {
      readonly team?: string | null | undefined;
      readonly user?: string | null | undefined;
      readonly password?: string | null | undefined;
    };
    readonly answer: void;
  };
  /** Forget the login at a registry. */
  'registries.logout': {
    readonly params: { readonly host: string };
    readonly query: { readonly team?: string | number | boolean | undefined };
    readonly answer: void;
  };
}

export const REGISTRIES_CALLS = {
  'registries.list': { method: 'GET', path: '/registries', answer: 'list' },
  'registries.login': { method: 'PUT', path: '/registries/{host}', body: 'application/json', answer: 'none' },
  'registries.logout': { method: 'DELETE', path: '/registries/{host}', answer: 'none' },
} as const;
