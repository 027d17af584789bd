/** Made from the OpenAPI document: UPDATE_GOLDEN=1 vitest run src/client writes it. Not for changes by hand. */
export interface ApiKeyTypes {
  /** Make a new API key; the old one is void at once. */
  'api_key.regenerate': { readonly answer: string };
  /** Show the caller's API key; the first time it is made. */
  'api_key.show': { readonly answer: { readonly token: string; readonly users: string } };
  /** Show the caller's API key as one text, as clients from 1.0 on read it. */
  'api_key.show_text': { readonly answer: string };
}

export const API_KEY_CALLS = {
  'api_key.regenerate': { method: 'POST', path: '/users/api-key', answer: 'json' },
  'api_key.show': { method: 'GET', path: '/users/api-key', answer: 'json' },
  'api_key.show_text': { method: 'GET', path: '/1.0/users/api-key', answer: 'json' },
} as const;
