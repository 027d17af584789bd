/** Made from the OpenAPI document: UPDATE_GOLDEN=1 vitest run src/client writes it. Not for changes by hand. */
export interface InstancesTypes {
  /** Bind an instance to an app; answers the variables once the app runs with them. */
  'instances.bind': {
    readonly params: { readonly instance: string; readonly app: string };
    readonly query: {
      readonly noRestart?: string | number | boolean | undefined;
      readonly as?: string | number | boolean | readonly string[] | undefined;
    };
    readonly body: Readonly<Record<string, string>>;
    readonly answer: Readonly<Record<string, string>>;
  };
  /** Bind an instance of a service to an app; says what is done, and in the end the names of the variables. */
  'instances.bind_of_service': {
    readonly params: { readonly instance: string; readonly app: string; readonly service: string };
    readonly query: {
      readonly noRestart?: string | number | boolean | undefined;
      readonly as?: string | number | boolean | readonly string[] | undefined;
    };
    readonly body: Readonly<Record<string, string>>;
    readonly answer: void;
  };
  /** Have the provider of a service make an instance. */
  'instances.create': { readonly body: Readonly<Record<string, unknown>>; readonly answer: void };
  /** Give a team access to an instance. */
  'instances.grant': { readonly params: { readonly instance: string; readonly team: string }; readonly answer: void };
  /** Show an instance. */
  'instances.info': {
    readonly params: { readonly instance: string };
    readonly answer: {
      readonly name: string;
      readonly servicename: string;
      readonly teams: readonly string[];
      readonly apps: readonly string[];
      readonly Id: string;
      readonly Info: Readonly<Record<string, string>>;
      readonly TeamOwner: string;
      readonly PlanName: string;
      readonly PlanDescription: string;
      readonly Description: string;
      readonly Tags: readonly string[];
      readonly Status: string;
      readonly CustomInfo: Readonly<Record<string, string>>;
    };
  };
  /** List services with the instances that the caller has access to: all, or those bound to an app. */
  'instances.list': {
    readonly query: { readonly app?: string | number | boolean | undefined };
    readonly answer: readonly {
      readonly service: string;
      readonly instances: readonly string[];
      readonly plans: readonly string[];
    }[];
  };
  /** Ask the provider for a path of an instance's own. */
  'instances.proxy': {
    readonly params: { readonly instance: string };
    readonly query: { readonly callback?: string | number | boolean | undefined };
    readonly answer: string;
  };
  /** Ask the provider for a path of an instance's own. */
  'instances.proxy-delete': {
    readonly params: { readonly instance: string };
    readonly query: { readonly callback?: string | number | boolean | undefined };
    readonly answer: string;
  };
  /** Ask the provider for a path of an instance's own. */
  'instances.proxy-post': {
    readonly params: { readonly instance: string };
    readonly query: { readonly callback?: string | number | boolean | undefined };
    readonly answer: string;
  };
  /** Ask the provider for a path of an instance's own. */
  'instances.proxy-put': {
    readonly params: { readonly instance: string };
    readonly query: { readonly callback?: string | number | boolean | undefined };
    readonly answer: string;
  };
  /** Remove an instance that no app is bound to, or with unbindall unbind it first. */
  'instances.remove': {
    readonly params: { readonly instance: string };
    readonly query: {
      readonly unbindall?: string | number | boolean | undefined;
      readonly force?: string | number | boolean | undefined;
      readonly ignoreerrors?: string | number | boolean | undefined;
    };
    readonly answer: void;
  };
  /** Remove an instance of a service; without unbindall an instance that is bound is answered as a line with its apps. */
  'instances.remove_of_service': {
    readonly params: { readonly instance: string; readonly service: string };
    readonly query: {
      readonly unbindall?: string | number | boolean | undefined;
      readonly force?: string | number | boolean | undefined;
      readonly ignoreerrors?: string | number | boolean | undefined;
    };
    readonly answer: void;
  };
  /** Take a team's access to an instance away. */
  'instances.revoke': { readonly params: { readonly instance: string; readonly team: string }; readonly answer: void };
  /** Whether an instance can be used, asked of its provider. */
  'instances.status': { readonly params: { readonly instance: string }; readonly answer: string };
  /** Take the binding of an app to an instance away. */
  'instances.unbind': {
    readonly params: { readonly instance: string; readonly app: string };
    readonly query: {
      readonly noRestart?: string | number | boolean | undefined;
      readonly force?: string | number | boolean | undefined;
    };
    readonly body: Readonly<Record<string, string>>;
    readonly answer: void;
  };
  /** Change description, tags or the owning team of an instance. */
  'instances.update': {
    readonly params: { readonly instance: string; readonly service: string };
    readonly body: Readonly<Record<string, unknown>>;
    readonly answer: void;
  };
}

export const INSTANCES_CALLS = {
  'instances.bind': {
    method: 'PUT',
    path: '/services/instances/{instance}/{app}',
    body: 'application/json',
    answer: 'json',
  },
  'instances.bind_of_service': {
    method: 'PUT',
    path: '/services/{service}/instances/{instance}/{app}',
    body: 'application/json',
    answer: 'lines',
  },
  'instances.create': { method: 'POST', path: '/services/instances', body: 'application/json', answer: 'none' },
  'instances.grant': { method: 'PUT', path: '/services/instances/permission/{instance}/{team}', answer: 'none' },
  'instances.info': { method: 'GET', path: '/services/instances/{instance}', answer: 'json' },
  'instances.list': { method: 'GET', path: '/services/instances', answer: 'list' },
  'instances.proxy': { method: 'GET', path: '/services/proxy/{instance}', answer: 'text' },
  'instances.proxy-delete': { method: 'DELETE', path: '/services/proxy/{instance}', answer: 'text' },
  'instances.proxy-post': { method: 'POST', path: '/services/proxy/{instance}', answer: 'text' },
  'instances.proxy-put': { method: 'PUT', path: '/services/proxy/{instance}', answer: 'text' },
  'instances.remove': { method: 'DELETE', path: '/services/instances/{instance}', answer: 'none' },
  'instances.remove_of_service': {
    method: 'DELETE',
    path: '/services/{service}/instances/{instance}',
    answer: 'lines',
  },
  'instances.revoke': { method: 'DELETE', path: '/services/instances/permission/{instance}/{team}', answer: 'none' },
  'instances.status': { method: 'GET', path: '/services/instances/{instance}/status', answer: 'text' },
  'instances.unbind': {
    method: 'DELETE',
    path: '/services/instances/{instance}/{app}',
    body: 'application/json',
    answer: 'lines',
  },
  'instances.update': {
    method: 'PUT',
    path: '/services/{service}/instances/{instance}',
    body: 'application/json',
    answer: 'none',
  },
} as const;
