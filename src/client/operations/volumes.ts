/** Made from the OpenAPI document: UPDATE_GOLDEN=1 vitest run src/client writes it. Not for changes by hand. */
export interface VolumesTypes {
  /** Make a volume for an app; units see it once it is mounted. */
  'volumes.create': {
    readonly params: { readonly app: string };
    readonly body: {
      readonly name?: string | null | undefined;
      readonly size?: string | number | null | undefined;
      readonly single?: boolean | undefined;
    };
    readonly answer: {
      readonly name: string;
      readonly app: string;
      readonly path: string;
      readonly processes: readonly string[];
      readonly mounted_by: string;
      readonly bytes: number;
      readonly max_bytes: number;
      readonly single: boolean;
      readonly state: string;
      readonly created_by: string;
      readonly created_at: string;
    };
  };
  /** Show one volume, with what it holds. */
  'volumes.info': {
    readonly params: { readonly app: string; readonly volume: string };
    readonly answer: {
      readonly name: string;
      readonly app: string;
      readonly path: string;
      readonly processes: readonly string[];
      readonly mounted_by: string;
      readonly bytes: number;
      readonly max_bytes: number;
      readonly single: boolean;
      readonly state: string;
      readonly created_by: string;
      readonly created_at: string;
    };
  };
  /** List the volumes of an app, with what they hold. */
  'volumes.list': {
    readonly params: { readonly app: string };
    readonly answer: readonly {
      readonly name: string;
      readonly app: string;
      readonly path: string;
      readonly processes: readonly string[];
      readonly mounted_by: string;
      readonly bytes: number;
      readonly max_bytes: number;
      readonly single: boolean;
      readonly state: string;
      readonly created_by: string;
      readonly created_at: string;
    }[];
  };
  /** Let the units of an app see a volume at a path; those that run are replaced. */
  'volumes.mount': {
    readonly params: { readonly app: string; readonly volume: string };
    readonly body: { readonly path?: string | null | undefined; readonly processes?: readonly string[] | undefined };
    readonly answer: void;
  };
  /** Remove a volume that is not mounted, with everything in it. */
  'volumes.remove': { readonly params: { readonly app: string; readonly volume: string }; readonly answer: void };
  /** Hide a volume from the units of its app; what it holds stays. */
  'volumes.unmount': { readonly params: { readonly app: string; readonly volume: string }; readonly answer: void };
  /** Change how much a volume is to hold, and whether several units may have it. */
  'volumes.update': {
    readonly params: { readonly app: string; readonly volume: string };
    readonly body: { readonly size?: string | number | null | undefined; readonly single?: boolean | undefined };
    readonly answer: {
      readonly name: string;
      readonly app: string;
      readonly path: string;
      readonly processes: readonly string[];
      readonly mounted_by: string;
      readonly bytes: number;
      readonly max_bytes: number;
      readonly single: boolean;
      readonly state: string;
      readonly created_by: string;
      readonly created_at: string;
    };
  };
}

export const VOLUMES_CALLS = {
  'volumes.create': { method: 'POST', path: '/apps/{app}/volumes', body: 'application/json', answer: 'json' },
  'volumes.info': { method: 'GET', path: '/apps/{app}/volumes/{volume}', answer: 'json' },
  'volumes.list': { method: 'GET', path: '/apps/{app}/volumes', answer: 'list' },
  'volumes.mount': {
    method: 'PUT',
    path: '/apps/{app}/volumes/{volume}/mount',
    body: 'application/json',
    answer: 'lines',
  },
  'volumes.remove': { method: 'DELETE', path: '/apps/{app}/volumes/{volume}', answer: 'none' },
  'volumes.unmount': { method: 'DELETE', path: '/apps/{app}/volumes/{volume}/mount', answer: 'lines' },
  'volumes.update': { method: 'PUT', path: '/apps/{app}/volumes/{volume}', body: 'application/json', answer: 'json' },
} as const;
