/** Made from the OpenAPI document: UPDATE_GOLDEN=1 vitest run src/client writes it. Not for changes by hand. */
export interface DeploysTypes {
  /** Say whether the caller may deploy to an app. */
  'deploys.available': { readonly params: { readonly app: string }; readonly answer: void };
  /** Cancel a deploy that does not serve yet. */
  'deploys.cancel': {
    readonly params: { readonly app: string };
    readonly query: { readonly deploy?: string | number | boolean | undefined };
    readonly body: Readonly<Record<string, string>>;
    readonly answer: {
      readonly ID: string;
      readonly App: string;
      readonly Timestamp: string;
      readonly Duration: number;
      readonly Commit: string;
      readonly Error: string;
      readonly Image: string;
      readonly Log: string;
      readonly Origin: string;
      readonly CanRollback: boolean;
      readonly RemoveDate: string;
      readonly Id: string;
      readonly Diff: string;
      readonly User: string;
      readonly State: string;
      readonly Cause: string;
      readonly Warning: string;
      readonly Release: number;
      readonly FailedRequests: number;
      readonly WaitsFor: string;
    };
  };
  /** Deploy an archive of the source, or an image. */
  'deploys.create': {
    readonly params: { readonly app: string };
    readonly query: {
      readonly origin?: string | number | boolean | undefined;
      readonly message?: string | number | boolean | undefined;
      readonly user?: string | number | boolean | undefined;
      readonly commit?: string | number | boolean | undefined;
    };
    readonly body: {
      readonly file?: string | undefined;
      readonly message?: string | undefined;
      readonly origin?: string | undefined;
      readonly user?: string | undefined;
      readonly commit?: string | undefined;
      readonly image?: string | undefined;
      readonly 'archive-url'?: string | undefined;
    };
    readonly answer: void;
  };
  /** Show one deploy with its log. */
  'deploys.info': {
    readonly params: { readonly deploy: string };
    readonly answer: {
      readonly ID: string;
      readonly App: string;
      readonly Timestamp: string;
      readonly Duration: number;
      readonly Commit: string;
      readonly Error: string;
      readonly Image: string;
      readonly Log: string;
      readonly Origin: string;
      readonly CanRollback: boolean;
      readonly RemoveDate: string;
      readonly Id: string;
      readonly Diff: string;
      readonly User: string;
      readonly State: string;
      readonly Cause: string;
      readonly Warning: string;
      readonly Release: number;
      readonly FailedRequests: number;
      readonly WaitsFor: string;
    };
  };
  /** List deploys, newest first. */
  'deploys.list': {
    readonly query: {
      readonly app?: string | number | boolean | undefined;
      readonly service?: string | number | boolean | undefined;
      readonly limit?: string | number | boolean | undefined;
      readonly skip?: string | number | boolean | undefined;
    };
    readonly answer: readonly {
      readonly ID: string;
      readonly App: string;
      readonly Timestamp: string;
      readonly Duration: number;
      readonly Commit: string;
      readonly Error: string;
      readonly User: string;
      readonly Origin: string;
      readonly Image: string;
      readonly State: string;
      readonly Cause: string;
      readonly Warning: string;
      readonly Release: number;
      readonly FailedRequests: number;
      readonly WaitsFor: string;
      readonly CanRollback: boolean;
      readonly RemoveDate: string;
    }[];
  };
  /** Go back: a new release equal to an older one, in code, environment and processes. */
  'deploys.rollback': {
    readonly params: { readonly app: string };
    readonly query: {
      readonly image?: string | number | boolean | undefined;
      readonly origin?: string | number | boolean | undefined;
    };
    readonly body: Readonly<Record<string, string>>;
    readonly answer: void;
  };
}

export const DEPLOYS_CALLS = {
  'deploys.available': { method: 'GET', path: '/apps/{app}/available', answer: 'none' },
  'deploys.cancel': { method: 'POST', path: '/apps/{app}/deploy/cancel', body: 'application/json', answer: 'json' },
  'deploys.create': { method: 'POST', path: '/apps/{app}/deploy', body: 'multipart/form-data', answer: 'lines' },
  'deploys.info': { method: 'GET', path: '/deploys/{deploy}', answer: 'json' },
  'deploys.list': { method: 'GET', path: '/deploys', answer: 'list' },
  'deploys.rollback': {
    method: 'POST',
    path: '/apps/{app}/deploy/rollback',
    body: 'application/json',
    answer: 'lines',
  },
} as const;
