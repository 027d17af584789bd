/** Made from the OpenAPI document: UPDATE_GOLDEN=1 vitest run src/client writes it. Not for changes by hand. */
export interface CnamesTypes {
  /** Add host names that the app answers at. */
  'cnames.add': {
    readonly params: { readonly app: string };
    readonly query: { readonly cname?: string | number | boolean | readonly string[] | undefined };
    readonly body: { readonly cname: string | readonly string[] };
    readonly answer: void;
  };
  /** Remove host names; without a name, the only one there is. */
  'cnames.remove': {
    readonly params: { readonly app: string };
    readonly query: { readonly cname?: string | number | boolean | readonly string[] | undefined };
    readonly body: { readonly cname: string | readonly string[] };
    readonly answer: void;
  };
}

export const CNAMES_CALLS = {
  'cnames.add': { method: 'POST', path: '/apps/{app}/cname', body: 'application/json', answer: 'none' },
  'cnames.remove': { method: 'DELETE', path: '/apps/{app}/cname', body: 'application/json', answer: 'none' },
} as const;
