/** Made from the OpenAPI document: UPDATE_GOLDEN=1 vitest run src/client writes it. Not for changes by hand. */
export interface LinksTypes {
  /** Let an app reach the units of another by the name <app>.internal; it is restarted. */
  'links.add': { readonly params: { readonly app: string; readonly to: string }; readonly answer: void };
  /** Let an app no longer reach the units of another; it is restarted. */
  'links.remove': { readonly params: { readonly app: string; readonly to: string }; readonly answer: void };
}

export const LINKS_CALLS = {
  'links.add': { method: 'PUT', path: '/apps/{app}/links/{to}', answer: 'lines' },
  'links.remove': { method: 'DELETE', path: '/apps/{app}/links/{to}', answer: 'lines' },
} as const;
