/** Made from the OpenAPI document: UPDATE_GOLDEN=1 vitest run src/client writes it. Not for changes by hand. */
export interface EnvTypes {
  /** List environment variables: all, or those named. */
  'env.get': {
    readonly params: { readonly app: string };
    readonly query: { readonly env?: string | number | boolean | readonly string[] | undefined };
    readonly answer: readonly {
      readonly name: string;
      readonly value: string;
      readonly public: boolean;
      readonly managedBy?: string;
    }[];
  };
  /** Set environment variables and restart, all or nothing. */
  'env.set': {
    readonly params: { readonly app: string };
    readonly query: {
      readonly private?: string | number | boolean | undefined;
      readonly noRestart?: string | number | boolean | undefined;
    };
    readonly body: Readonly<Record<string, string>>;
    readonly answer: void;
  };
  /** Remove environment variables and restart, all or nothing. */
  'env.unset': {
    readonly params: { readonly app: string };
    readonly query: {
      readonly env?: string | number | boolean | readonly string[] | undefined;
      readonly noRestart?: string | number | boolean | undefined;
    };
    readonly body: readonly string[];
    readonly answer: void;
  };
}

export const ENV_CALLS = {
  'env.get': { method: 'GET', path: '/apps/{app}/env', answer: 'list' },
  'env.set': { method: 'POST', path: '/apps/{app}/env', body: 'application/json', answer: 'lines' },
  'env.unset': { method: 'DELETE', path: '/apps/{app}/env', body: 'application/json', answer: 'lines' },
} as const;
