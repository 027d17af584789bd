/** Made from the OpenAPI document: UPDATE_GOLDEN=1 vitest run src/client writes it. Not for changes by hand. */
export interface PoolsTypes {
  /** Create a pool, and say which engine runs its apps; unless it is public only teams with access may use it. */
  'pools.create': {
    readonly body: {
      readonly name?: string | null | undefined;
      readonly pool?: string | null | undefined;
      readonly public?: string | boolean | null | undefined;
      readonly default?: string | boolean | null | undefined;
      readonly engine?: string | null | undefined;
      readonly options?: Readonly<Record<string, unknown>> | null | undefined;
      readonly option?: string | readonly string[] | undefined;
    };
    readonly answer: void;
  };
  /** List the pools that the apps of the caller's teams may be in. */
  'pools.list': { readonly answer: readonly { readonly Team: string; readonly Pools: readonly string[] }[] };
  /** List the pools that the caller may use, as clients from 1.0 on read them. */
  'pools.list_all': {
    readonly answer: readonly {
      readonly Name: string;
      readonly Teams: readonly string[];
      readonly Public: boolean;
      readonly Default: boolean;
      readonly Engine: string;
      readonly Options: Readonly<Record<string, string>>;
    }[];
  };
  /** Remove a pool without apps. */
  'pools.remove': {
    readonly params: { readonly pool: string };
    readonly body: Readonly<Record<string, string>>;
    readonly answer: void;
  };
  /** Give teams access to a pool. */
  'pools.team_add': {
    readonly params: { readonly pool: string };
    readonly query: { readonly team?: string | number | boolean | readonly string[] | undefined };
    readonly body: Readonly<Record<string, string>>;
    readonly answer: void;
  };
  /** Take teams' access to a pool away. */
  'pools.team_remove': {
    readonly params: { readonly pool: string };
    readonly query: { readonly team?: string | number | boolean | readonly string[] | undefined };
    readonly body: Readonly<Record<string, string>>;
    readonly answer: void;
  };
  /** Open a pool to all teams, or close it to all but those with access; put one without apps elsewhere. */
  'pools.update': {
    readonly params: { readonly pool: string };
    readonly body: {
      readonly public?: string | boolean | null | undefined;
      readonly default?: string | boolean | null | undefined;
      readonly engine?: string | null | undefined;
      readonly options?: Readonly<Record<string, unknown>> | null | undefined;
      readonly option?: string | readonly string[] | undefined;
    };
    readonly answer: void;
  };
}

export const POOLS_CALLS = {
  'pools.create': { method: 'POST', path: '/pools', body: 'application/json', answer: 'none' },
  'pools.list': { method: 'GET', path: '/pools', answer: 'list' },
  'pools.list_all': { method: 'GET', path: '/1.0/pools', answer: 'list' },
  'pools.remove': { method: 'DELETE', path: '/pools/{pool}', body: 'application/json', answer: 'none' },
  'pools.team_add': { method: 'POST', path: '/pools/{pool}/team', body: 'application/json', answer: 'none' },
  'pools.team_remove': { method: 'DELETE', path: '/pools/{pool}/team', body: 'application/json', answer: 'none' },
  'pools.update': { method: 'PUT', path: '/pools/{pool}', body: 'application/json', answer: 'none' },
} as const;
