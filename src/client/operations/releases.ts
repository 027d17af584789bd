/** Made from the OpenAPI document: UPDATE_GOLDEN=1 vitest run src/client writes it. Not for changes by hand. */
export interface ReleasesTypes {
  /** Say what differs between two releases of an app, without private values. */
  'releases.compare': {
    readonly params: { readonly app: string };
    readonly query: {
      readonly from?: string | number | boolean | undefined;
      readonly to?: string | number | boolean | undefined;
    };
    readonly answer: {
      readonly app: string;
      readonly from: {
        readonly release: number;
        readonly reason: string;
        readonly by: string;
        readonly created_at: string;
        readonly commit: string;
        readonly image: string;
        readonly deploy: string;
      };
      readonly to: {
        readonly release: number;
        readonly reason: string;
        readonly by: string;
        readonly created_at: string;
        readonly commit: string;
        readonly image: string;
        readonly deploy: string;
      };
      readonly changes: readonly {
        readonly part: string;
        readonly name: string;
        readonly kind: string;
        readonly before: string;
        readonly after: string;
        readonly private: boolean;
      }[];
    };
  };
  /** List the releases of an app that are kept, newest first, at most 100. */
  'releases.list': {
    readonly params: { readonly app: string };
    readonly answer: readonly {
      readonly release: number;
      readonly reason: string;
      readonly by: string;
      readonly created_at: string;
      readonly commit: string;
      readonly image: string;
      readonly deploy: string;
      readonly current: boolean;
    }[];
  };
}

export const RELEASES_CALLS = {
  'releases.compare': { method: 'GET', path: '/apps/{app}/releases/compare', answer: 'json' },
  'releases.list': { method: 'GET', path: '/apps/{app}/releases', answer: 'list' },
} as const;
