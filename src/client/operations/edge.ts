/** Made from the OpenAPI document: UPDATE_GOLDEN=1 vitest run src/client writes it. Not for changes by hand. */
export interface EdgeTypes {
  /** Change how the edge treats the requests to an app, at once and without touching its units; what is absent stays as it is, null is as without a setting. */
  'edge.set': {
    readonly params: { readonly app: string };
    readonly body: {
      readonly maintenance?: boolean | string | null | undefined;
      readonly maintenancePage?: string | null | undefined;
      readonly hold?: string | null | undefined;
      readonly holdSeconds?: number | string | null | undefined;
      readonly accessLog?: boolean | string | null | undefined;
      readonly sticky?: boolean | string | null | undefined;
      readonly redirectHttps?: boolean | string | null | undefined;
      readonly maxBodyBytes?: number | string | null | undefined;
      readonly responseTimeoutSeconds?: number | string | null | undefined;
      readonly maxRequests?: number | string | null | undefined;
    };
    readonly answer: {
      readonly maintenance: boolean;
      readonly maintenancePage: string;
      readonly hold: string;
      readonly holdSeconds: number;
      readonly accessLog: boolean;
      readonly sticky: boolean;
      readonly redirectHttps: boolean;
      readonly maxBodyBytes: number;
      readonly responseTimeoutSeconds: number;
      readonly maxRequests: number;
    };
  };
  /** Show how the edge treats the requests to an app: maintenance, holding, limits. */
  'edge.show': {
    readonly params: { readonly app: string };
    readonly answer: {
      readonly maintenance: boolean;
      readonly maintenancePage: string;
      readonly hold: string;
      readonly holdSeconds: number;
      readonly accessLog: boolean;
      readonly sticky: boolean;
      readonly redirectHttps: boolean;
      readonly maxBodyBytes: number;
      readonly responseTimeoutSeconds: number;
      readonly maxRequests: number;
    };
  };
}

export const EDGE_CALLS = {
  'edge.set': { method: 'PUT', path: '/apps/{app}/edge', body: 'application/json', answer: 'json' },
  'edge.show': { method: 'GET', path: '/apps/{app}/edge', answer: 'json' },
} as const;
