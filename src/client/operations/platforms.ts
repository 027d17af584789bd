/** Made from the OpenAPI document: UPDATE_GOLDEN=1 vitest run src/client writes it. Not for changes by hand. */
export interface PlatformsTypes {
  /** Add a platform: its name and its definition. */
  'platforms.add': {
    readonly query: { readonly name?: string | number | boolean | undefined };
    readonly body: string;
    readonly answer: void;
  };
  /** List the platforms apps can be made for. */
  'platforms.list': {
    readonly answer: readonly {
      readonly Name: string;
      readonly Description: string;
      readonly Ready: boolean;
      readonly Tools: readonly string[];
      readonly Missing: readonly string[];
      readonly Disabled: boolean;
      readonly Added: boolean;
    }[];
  };
  /** Remove a platform that was added and has no apps. */
  'platforms.remove': { readonly params: { readonly platform: string }; readonly answer: void };
  /** Change the definition of a platform, for the next deploys, or whether new apps may be made for it. */
  'platforms.update': {
    readonly params: { readonly platform: string };
    readonly query: { readonly disabled?: string | number | boolean | undefined };
    readonly body: string;
    readonly answer: void;
  };
}

export const PLATFORMS_CALLS = {
  'platforms.add': { method: 'POST', path: '/platforms', body: 'application/yaml', answer: 'lines' },
  'platforms.list': { method: 'GET', path: '/platforms', answer: 'list' },
  'platforms.remove': { method: 'DELETE', path: '/platforms/{platform}', answer: 'none' },
  'platforms.update': { method: 'PUT', path: '/platforms/{platform}', body: 'application/yaml', answer: 'lines' },
} as const;
