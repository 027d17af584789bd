/** Made from the OpenAPI document: UPDATE_GOLDEN=1 vitest run src/client writes it. Not for changes by hand. */
export interface KeysTypes {
  /** Add an SSH public key. */
  'keys.add': {
    readonly body: {
      readonly key?: string | null | undefined;
      readonly name?: string | null | undefined;
      readonly force?: boolean | undefined;
    };
    readonly answer: void;
  };
  /** List the caller's SSH keys by name. */
  'keys.list': { readonly answer: Readonly<Record<string, string>> };
  /** Remove an SSH public key, by its text or its name. */
  'keys.remove': {
    readonly body: { readonly key?: string | null | undefined; readonly name?: string | null | undefined };
    readonly answer: void;
  };
  /** Remove an SSH public key by its name. */
  'keys.remove_by_name': { readonly params: { readonly name: string }; readonly answer: void };
}

export const KEYS_CALLS = {
  'keys.add': { method: 'POST', path: '/users/keys', body: 'application/json', answer: 'none' },
  'keys.list': { method: 'GET', path: '/users/keys', answer: 'json' },
  'keys.remove': { method: 'DELETE', path: '/users/keys', body: 'application/json', answer: 'none' },
  'keys.remove_by_name': { method: 'DELETE', path: '/users/keys/{name}', answer: 'none' },
} as const;
