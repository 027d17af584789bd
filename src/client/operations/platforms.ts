/** Made from the OpenAPI document: UPDATE_GOLDEN=1 vitest run src/client writes it. Not for changes by hand. */
export interface PlatformsTypes {
  /** List the platforms apps can be made for. */
  'platforms.list': {
    readonly answer: readonly {
      readonly Name: string;
      readonly Description: string;
      readonly Ready: boolean;
      readonly Tools: readonly string[];
      readonly Missing: readonly string[];
    }[];
  };
}

export const PLATFORMS_CALLS = {
  'platforms.list': { method: 'GET', path: '/platforms', answer: 'list' },
} as const;
