/** Made from the OpenAPI document: UPDATE_GOLDEN=1 vitest run src/client writes it. Not for changes by hand. */
export interface AppsTypes {
  /** Create an app, with its repository; nothing runs before the first deploy. */
  'apps.create': {
    readonly body: {
      readonly name?: string | null | undefined;
      readonly platform?: string | null | undefined;
      readonly framework?: string | null | undefined;
      readonly teamOwner?: string | null | undefined;
      readonly description?: string | null | undefined;
      readonly pool?: string | null | undefined;
      readonly plan?: string | Readonly<Record<string, unknown>> | null | undefined;
    };
    readonly answer: {
      readonly status: string;
      readonly repository_url: string;
      readonly ip: string;
      readonly url?: string;
    };
  };
  /** Leave data with an app, for programs. */
  'apps.custom_data': {
    readonly params: { readonly app: string };
    readonly body: Readonly<Record<string, unknown>>;
    readonly answer: void;
  };
  /** Say why an app is not answering: the first link that is broken between a visitor and the app, and what mends it. */
  'apps.diagnosis': {
    readonly params: { readonly app: string };
    readonly answer: {
      readonly app: string;
      readonly host: string;
      readonly url: string;
      readonly well: boolean;
      readonly answers: boolean;
      readonly broken: {
        readonly link: string;
        readonly cause: string;
        readonly command: string;
        readonly lines: readonly string[];
      };
      readonly links: readonly { readonly link: string; readonly asks: string; readonly state: string }[];
      readonly notes: readonly string[];
    };
  };
  /** Give a team access to an app. */
  'apps.grant': { readonly params: { readonly app: string; readonly team: string }; readonly answer: void };
  /** Show one app. */
  'apps.info': {
    readonly params: { readonly app: string };
    readonly answer: {
      readonly Name: string;
      readonly Framework: string;
      readonly Repository: string;
      readonly State: string;
      readonly Units: readonly {
        readonly Ip: string;
        readonly Name: string;
        readonly State: string;
        readonly ID: string;
        readonly AppName: string;
        readonly ProcessName: string;
        readonly Status: string;
        readonly Address?: { readonly Scheme: string; readonly Host: string };
      }[];
      readonly Teams: readonly string[];
      readonly Pool: string;
      readonly Ip: string;
      readonly Platform: string;
      readonly owner: string;
      readonly teamowner: string;
      readonly ready: boolean;
      readonly url?: string;
      readonly cname?: readonly string[];
      readonly lock?: {
        readonly Locked: boolean;
        readonly Owner: string;
        readonly Reason: string;
        readonly AcquireDate: string;
      };
      readonly swappedWith?: string;
      readonly description: string;
      readonly deploys: number;
      readonly plan?: {
        readonly name: string;
        readonly memory: number;
        readonly swap: number;
        readonly cpushare: number;
        readonly cpumilli: number;
        readonly disk: number;
        readonly default: boolean;
      };
      readonly problems?: readonly string[];
      readonly settings?: {
        readonly startCommands: Readonly<Record<string, string>>;
        readonly buildCommand: string;
        readonly root: string;
        readonly keepDevPackages: boolean;
        readonly counts: Readonly<Record<string, number>>;
      };
      readonly processUrls?: Readonly<Record<string, string>>;
      readonly links?: readonly string[];
      readonly linkedFrom?: readonly string[];
      readonly customdata?: Readonly<Record<string, unknown>>;
    };
  };
  /** List the apps the caller may see. */
  'apps.list': {
    readonly query: {
      readonly name?: string | number | boolean | undefined;
      readonly platform?: string | number | boolean | undefined;
      readonly owner?: string | number | boolean | undefined;
      readonly teamOwner?: string | number | boolean | undefined;
      readonly teamowner?: string | number | boolean | undefined;
      readonly pool?: string | number | boolean | undefined;
      readonly status?: string | number | boolean | readonly string[] | undefined;
      readonly locked?: string | number | boolean | undefined;
    };
    readonly answer: readonly {
      readonly Ip: string;
      readonly Name: string;
      readonly Units: readonly {
        readonly Name: string;
        readonly State: string;
        readonly ID: string;
        readonly AppName: string;
        readonly ProcessName: string;
        readonly Status: string;
      }[];
      readonly State: string;
      readonly Pool: string;
      readonly Teams: readonly string[];
      readonly Platform: string;
      readonly owner: string;
      readonly teamowner: string;
      readonly ready: boolean;
      readonly url?: string;
      readonly cname?: readonly string[];
      readonly lock?: {
        readonly Locked: boolean;
        readonly Owner: string;
        readonly Reason: string;
        readonly AcquireDate: string;
      };
      readonly swappedWith?: string;
    }[];
  };
  /** Show the last entries of the log, and with follow=1 every new one as it comes. */
  'apps.log': {
    readonly params: { readonly app: string };
    readonly query: {
      readonly lines: string | number | boolean | undefined;
      readonly source?: string | number | boolean | undefined;
      readonly unit?: string | number | boolean | undefined;
      readonly process?: string | number | boolean | undefined;
      readonly since?: string | number | boolean | undefined;
      readonly until?: string | number | boolean | undefined;
      readonly deploy?: string | number | boolean | undefined;
      readonly search?: string | number | boolean | undefined;
      readonly regexp?: string | number | boolean | undefined;
      readonly after?: string | number | boolean | undefined;
      readonly before?: string | number | boolean | undefined;
      readonly follow?: string | number | boolean | undefined;
    };
    readonly answer: readonly {
      readonly Date: string;
      readonly Message: string;
      readonly Source: string;
      readonly AppName: string;
      readonly Unit: string;
      readonly Cursor: string;
    }[];
  };
  /** Add lines to the log of an app. */
  'apps.log_push': {
    readonly params: { readonly app: string };
    readonly query: {
      readonly source?: string | number | boolean | undefined;
      readonly unit?: string | number | boolean | undefined;
    };
    readonly body: readonly string[];
    readonly answer: void;
  };
  /** The variables by which the metrics of an app are sent elsewhere: none. */
  'apps.metric_envs': { readonly params: { readonly app: string }; readonly answer: Readonly<Record<string, string>> };
  /** Show what the units of an app used, and the requests to it, step by step: every 10 seconds of the last two hours, every minute of two days. */
  'apps.metrics': {
    readonly params: { readonly app: string };
    readonly query: { readonly since?: string | number | boolean | undefined };
    readonly answer: {
      readonly app: string;
      readonly stepSeconds: number;
      readonly points: readonly {
        readonly at: string;
        readonly cpuMillis: number;
        readonly memoryBytes: number;
        readonly units: number;
        readonly restarts: number;
        readonly requests: number;
        readonly failures: number;
        readonly logLines: number;
        readonly status1xx: number;
        readonly status2xx: number;
        readonly status3xx: number;
        readonly status4xx: number;
        readonly status5xx: number;
        readonly p50Ms: number;
        readonly p95Ms: number;
        readonly p99Ms: number;
      }[];
      readonly answerTimes: {
        readonly boundsMs: readonly number[];
        readonly counts: readonly number[];
        readonly sumMs: number;
      };
    };
  };
  /** Give an app another plan; what runs is replaced by units with its limits. */
  'apps.plan': {
    readonly params: { readonly app: string };
    readonly body: {
      readonly name?: string | null | undefined;
      readonly plan?: string | Readonly<Record<string, unknown>> | null | undefined;
    };
    readonly answer: void;
  };
  /** Move an app to another pool; what runs is replaced by units there, where that is another engine or place. */
  'apps.pool': { readonly params: { readonly app: string }; readonly body: string; readonly answer: void };
  /** Remove an app with everything that belongs to it. */
  'apps.remove': {
    readonly params: { readonly app: string };
    readonly query: { readonly force?: string | number | boolean | undefined };
    readonly answer: void;
  };
  /** Replace the units, or those of one process, by new ones of the same release. */
  'apps.restart': {
    readonly params: { readonly app: string };
    readonly query: { readonly process?: string | number | boolean | undefined };
    readonly answer: void;
  };
  /** Replace the units, or those of one process, by new ones of the same release. */
  'apps.restart-post': {
    readonly params: { readonly app: string };
    readonly query: { readonly process?: string | number | boolean | undefined };
    readonly body: Readonly<Record<string, string>>;
    readonly answer: void;
  };
  /** Take a team's access to an app away. */
  'apps.revoke': { readonly params: { readonly app: string; readonly team: string }; readonly answer: void };
  /** Bring the routes to the router once more; answers which addresses of units that added and removed. */
  'apps.routes': {
    readonly params: { readonly app: string };
    readonly answer: { readonly Added: readonly string[]; readonly Removed: readonly string[] };
  };
  /** Run a command with the code and environment of an app. */
  'apps.run': {
    readonly params: { readonly app: string };
    readonly query: { readonly once?: string | number | boolean | undefined };
    readonly body: string;
    readonly answer: void;
  };
  /** Open a shell with the code and environment of an app, over a websocket. */
  'apps.shell': {
    readonly params: { readonly app: string };
    readonly query: {
      readonly unit?: string | number | boolean | undefined;
      readonly width?: string | number | boolean | undefined;
      readonly height?: string | number | boolean | undefined;
      readonly term?: string | number | boolean | undefined;
      readonly terminal?: string | number | boolean | undefined;
      readonly isolated?: string | number | boolean | undefined;
    };
    readonly answer: void;
  };
  /** Start what is stopped: the app, or one of its processes. */
  'apps.start': {
    readonly params: { readonly app: string };
    readonly query: { readonly process?: string | number | boolean | undefined };
    readonly body: Readonly<Record<string, string>>;
    readonly answer: void;
  };
  /** Start what is stopped: the app, or one of its processes. */
  'apps.start-get': {
    readonly params: { readonly app: string };
    readonly query: { readonly process?: string | number | boolean | undefined };
    readonly answer: void;
  };
  /** Finish the requests under way and end the units of the app, or of one of its processes. */
  'apps.stop': {
    readonly params: { readonly app: string };
    readonly query: { readonly process?: string | number | boolean | undefined };
    readonly body: Readonly<Record<string, string>>;
    readonly answer: void;
  };
  /** Finish the requests under way and end the units of the app, or of one of its processes. */
  'apps.stop-get': {
    readonly params: { readonly app: string };
    readonly query: { readonly process?: string | number | boolean | undefined };
    readonly answer: void;
  };
  /** Exchange the addresses of two apps; doing it again undoes it. */
  'apps.swap': {
    readonly query: {
      readonly app1?: string | number | boolean | undefined;
      readonly app2?: string | number | boolean | undefined;
      readonly force?: string | number | boolean | undefined;
      readonly cnameOnly?: string | number | boolean | undefined;
    };
    readonly body: Readonly<Record<string, string>>;
    readonly answer: void;
  };
  /** Exchange the addresses of two apps; doing it again undoes it. */
  'apps.swap-post': {
    readonly query: {
      readonly app1?: string | number | boolean | undefined;
      readonly app2?: string | number | boolean | undefined;
      readonly force?: string | number | boolean | undefined;
      readonly cnameOnly?: string | number | boolean | undefined;
    };
    readonly body: Readonly<Record<string, string>>;
    readonly answer: void;
  };
  /** Make another team the owner of an app. */
  'apps.team_owner': { readonly params: { readonly app: string }; readonly body: string; readonly answer: void };
  /** Wait until nobody works on an app; nothing is broken off, and what somebody left behind is free by itself. */
  'apps.unlock': { readonly params: { readonly app: string }; readonly answer: void };
  /** Change the description, platform, owning team, pool or plan of an app; what is empty stays as it is. Or its start commands (process to command), build command, root directory and kept development packages: those are in effect with the next deploy, and an empty one is taken away. With `dryRun=true` nothing is changed: the answer is what would refuse it before anything begins. */
  'apps.update': {
    readonly params: { readonly app: string };
    readonly query: { readonly dryRun?: string | number | boolean | undefined };
    readonly body: {
      readonly description?: string | null | undefined;
      readonly platform?: string | null | undefined;
      readonly teamOwner?: string | null | undefined;
      readonly pool?: string | null | undefined;
      readonly plan?: string | Readonly<Record<string, unknown>> | null | undefined;
      readonly cname?: string | null | undefined;
      readonly startCommands?: Readonly<Record<string, unknown>> | string | null | undefined;
      readonly buildCommand?: string | null | undefined;
      readonly root?: string | null | undefined;
      readonly keepDevPackages?: string | boolean | null | undefined;
    };
    readonly answer: void;
  };
  /** Change the description, platform, owning team, pool or plan of an app; what is empty stays as it is. Or its start commands (process to command), build command, root directory and kept development packages: those are in effect with the next deploy, and an empty one is taken away. With `dryRun=true` nothing is changed: the answer is what would refuse it before anything begins. */
  'apps.update-post': {
    readonly params: { readonly app: string };
    readonly query: { readonly dryRun?: string | number | boolean | undefined };
    readonly body: {
      readonly description?: string | null | undefined;
      readonly platform?: string | null | undefined;
      readonly teamOwner?: string | null | undefined;
      readonly pool?: string | null | undefined;
      readonly plan?: string | Readonly<Record<string, unknown>> | null | undefined;
      readonly cname?: string | null | undefined;
      readonly startCommands?: Readonly<Record<string, unknown>> | string | null | undefined;
      readonly buildCommand?: string | null | undefined;
      readonly root?: string | null | undefined;
      readonly keepDevPackages?: string | boolean | null | undefined;
    };
    readonly answer: void;
  };
}

export const APPS_CALLS = {
  'apps.create': { method: 'POST', path: '/apps', body: 'application/json', answer: 'json' },
  'apps.custom_data': { method: 'POST', path: '/apps/{app}/customdata', body: 'application/json', answer: 'none' },
  'apps.diagnosis': { method: 'GET', path: '/apps/{app}/diagnosis', answer: 'json' },
  'apps.grant': { method: 'PUT', path: '/apps/{app}/teams/{team}', answer: 'none' },
  'apps.info': { method: 'GET', path: '/apps/{app}', answer: 'json' },
  'apps.list': { method: 'GET', path: '/apps', answer: 'list' },
  'apps.log': { method: 'GET', path: '/apps/{app}/log', answer: 'list' },
  'apps.log_push': { method: 'POST', path: '/apps/{app}/log', body: 'application/json', answer: 'none' },
  'apps.metric_envs': { method: 'GET', path: '/apps/{app}/metric/envs', answer: 'json' },
  'apps.metrics': { method: 'GET', path: '/apps/{app}/metrics', answer: 'json' },
  'apps.plan': { method: 'POST', path: '/apps/{app}/plan', body: 'application/json', answer: 'lines' },
  'apps.pool': { method: 'POST', path: '/apps/{app}/pool', body: 'text/plain', answer: 'none' },
  'apps.remove': { method: 'DELETE', path: '/apps/{app}', answer: 'lines' },
  'apps.restart': { method: 'GET', path: '/apps/{app}/restart', answer: 'lines' },
  'apps.restart-post': { method: 'POST', path: '/apps/{app}/restart', body: 'application/json', answer: 'lines' },
  'apps.revoke': { method: 'DELETE', path: '/apps/{app}/teams/{team}', answer: 'none' },
  'apps.routes': { method: 'POST', path: '/apps/{app}/routes', answer: 'json' },
  'apps.run': { method: 'POST', path: '/apps/{app}/run', body: 'text/plain', answer: 'lines' },
  'apps.shell': { method: 'GET', path: '/apps/{app}/shell', answer: 'none' },
  'apps.start': { method: 'POST', path: '/apps/{app}/start', body: 'application/json', answer: 'lines' },
  'apps.start-get': { method: 'GET', path: '/apps/{app}/start', answer: 'lines' },
  'apps.stop': { method: 'POST', path: '/apps/{app}/stop', body: 'application/json', answer: 'lines' },
  'apps.stop-get': { method: 'GET', path: '/apps/{app}/stop', answer: 'lines' },
  'apps.swap': { method: 'PUT', path: '/swap', body: 'application/json', answer: 'none' },
  'apps.swap-post': { method: 'POST', path: '/swap', body: 'application/json', answer: 'none' },
  'apps.team_owner': { method: 'POST', path: '/apps/{app}/team-owner', body: 'text/plain', answer: 'none' },
  'apps.unlock': { method: 'DELETE', path: '/apps/{app}/lock', answer: 'none' },
  'apps.update': { method: 'PUT', path: '/apps/{app}', body: 'application/json', answer: 'none' },
  'apps.update-post': { method: 'POST', path: '/apps/{app}', body: 'application/json', answer: 'none' },
} as const;
