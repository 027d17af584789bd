/** Made from the OpenAPI document: UPDATE_GOLDEN=1 vitest run src/client writes it. Not for changes by hand. */
export interface ServicesTypes {
  /** Add a service to the catalog, from a YAML manifest. */
  'services.create': { readonly body: string; readonly answer: string };
  /** The documentation of a service, as it was stored. */
  'services.doc': { readonly params: { readonly service: string }; readonly answer: string };
  /** Store the documentation of a service. */
  'services.doc_set': { readonly params: { readonly service: string }; readonly body: string; readonly answer: void };
  /** Give a team access to a restricted service. */
  'services.grant': { readonly params: { readonly service: string; readonly team: string }; readonly answer: void };
  /** List the instances of a service that the caller has access to. */
  'services.info': {
    readonly params: { readonly service: string };
    readonly answer: readonly {
      readonly Name: string;
      readonly Teams: readonly string[];
      readonly Apps: readonly string[];
      readonly ServiceName: string;
      readonly Id: string;
      readonly Info: Readonly<Record<string, string>>;
      readonly TeamOwner: string;
      readonly PlanName: string;
      readonly PlanDescription: string;
      readonly Description: string;
      readonly Tags: readonly string[];
      readonly Status: string;
    }[];
  };
  /** List the services that the caller's teams own, with all their instances. */
  'services.list': { readonly answer: readonly { readonly service: string; readonly instances: readonly string[] }[] };
  /** The plans of a service, asked of its provider. */
  'services.plans': {
    readonly params: { readonly service: string };
    readonly answer: readonly { readonly Name: string; readonly Description: string }[];
  };
  /** Ask the provider of a service for any path; for its owners. */
  'services.proxy': {
    readonly params: { readonly service: string };
    readonly query: { readonly callback?: string | number | boolean | undefined };
    readonly answer: string;
  };
  /** Ask the provider of a service for any path; for its owners. */
  'services.proxy-delete': {
    readonly params: { readonly service: string };
    readonly query: { readonly callback?: string | number | boolean | undefined };
    readonly answer: string;
  };
  /** Ask the provider of a service for any path; for its owners. */
  'services.proxy-post': {
    readonly params: { readonly service: string };
    readonly query: { readonly callback?: string | number | boolean | undefined };
    readonly answer: string;
  };
  /** Ask the provider of a service for any path; for its owners. */
  'services.proxy-put': {
    readonly params: { readonly service: string };
    readonly query: { readonly callback?: string | number | boolean | undefined };
    readonly answer: string;
  };
  /** Remove a service that has no instances. */
  'services.remove': { readonly params: { readonly service: string }; readonly answer: void };
  /** Take a team's access to a service away. */
  'services.revoke': { readonly params: { readonly service: string; readonly team: string }; readonly answer: void };
  /** Replace what the manifest of a service says. */
  'services.update': { readonly body: string; readonly answer: void };
}

export const SERVICES_CALLS = {
  'services.create': { method: 'POST', path: '/services', body: 'application/x-yaml', answer: 'text' },
  'services.doc': { method: 'GET', path: '/services/{service}/doc', answer: 'text' },
  'services.doc_set': { method: 'PUT', path: '/services/{service}/doc', body: 'text/plain', answer: 'none' },
  'services.grant': { method: 'PUT', path: '/services/{service}/{team}', answer: 'none' },
  'services.info': { method: 'GET', path: '/services/{service}', answer: 'list' },
  'services.list': { method: 'GET', path: '/services', answer: 'list' },
  'services.plans': { method: 'GET', path: '/services/{service}/plans', answer: 'list' },
  'services.proxy': { method: 'GET', path: '/services/proxy/service/{service}', answer: 'text' },
  'services.proxy-delete': { method: 'DELETE', path: '/services/proxy/service/{service}', answer: 'text' },
  'services.proxy-post': { method: 'POST', path: '/services/proxy/service/{service}', answer: 'text' },
  'services.proxy-put': { method: 'PUT', path: '/services/proxy/service/{service}', answer: 'text' },
  'services.remove': { method: 'DELETE', path: '/services/{service}', answer: 'none' },
  'services.revoke': { method: 'DELETE', path: '/services/{service}/{team}', answer: 'none' },
  'services.update': { method: 'PUT', path: '/services', body: 'application/x-yaml', answer: 'none' },
} as const;
