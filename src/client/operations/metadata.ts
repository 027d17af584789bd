/** Made from the OpenAPI document: UPDATE_GOLDEN=1 vitest run src/client writes it. Not for changes by hand. */
export interface MetadataTypes {
  /** Say whether the platform is ready. */
  'metadata.healthcheck': { readonly answer: string };
  /** Show the version of the platform. */
  'metadata.info': { readonly answer: { readonly version: string } };
}

export const METADATA_CALLS = {
  'metadata.healthcheck': { method: 'GET', path: '/healthcheck', answer: 'text' },
  'metadata.info': { method: 'GET', path: '/info', answer: 'json' },
} as const;
