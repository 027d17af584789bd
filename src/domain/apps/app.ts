/**
 * What an app, its releases and its environment are. Rules only: no storage, no effects.
 * Uses the specification's words (section 2); shapes on the wire are made in api/shapes.
 */
import { PlatformError } from '../errors.ts';
import type { ReleaseMount } from '../volumes/volume.ts';
import type { Placement } from '../pools/placement.ts';
import { type AppSettings, NO_SETTINGS } from './app-settings.ts';
import { DEFAULT_EDGE, type EdgeSettings } from './edge-settings.ts';

/** Lower-case DNS label that starts with a letter, because the name is also the host name `<app>.<domain>`. */
const APP_NAME = /^[a-z](?:[a-z0-9-]{0,61}[a-z0-9])?$/;

export interface App {
  readonly name: string;
  readonly platform: string;
  /** E-mail of the creator, whose quota the app counts against. */
  readonly owner: string;
  readonly teamOwner: string;
  /** Every team with access, the owner team included; sorted. */
  readonly teams: readonly string[];
  readonly pool: string;
  /** What each unit may use, from the next release on; see plans/plan.ts. */
  readonly plan: string;
  readonly description: string;
  /** Extra host names (custom domains); sorted. */
  readonly cname: readonly string[];
  /** Apps whose units it reaches; sorted. */
  readonly links: readonly string[];
  /** ISO 8601 UTC. */
  readonly createdAt: string;
  /** The release that serves; null before the first deploy. */
  readonly release: number | null;
  /** The rollout whose units serve; null before the first deploy. */
  readonly rollout: string | null;
  readonly desired: 'running' | 'stopped';
  /** Process types that are stopped while the app runs; sorted. */
  readonly stoppedProcesses: readonly string[];
  /** Process types of the release that serves that answer at names of their own; sorted. See units/routed.ts. */
  readonly routedProcesses: readonly string[];
  /** The app it has swapped addresses with: each answers at the host names of the other. */
  readonly swappedWith: string | null;
  /** What programs have left with the app; not looked at. */
  readonly customData: Readonly<Record<string, unknown>> | null;
  /** Of the next deploy; what those of the release that serves are is with the release. */
  readonly settings: AppSettings;
  readonly edge: EdgeSettings;
  /** Number of deploys that succeeded. */
  readonly deploys: number;
  /** True from the moment a removal is accepted until every trace is gone. */
  readonly removing: boolean;
}

/** What an app has before its first deploy. */
export const NEW_APP = {
  cname: [],
  links: [],
  release: null,
  rollout: null,
  desired: 'running',
  stoppedProcesses: [],
  routedProcesses: [],
  swappedWith: null,
  customData: null,
  settings: NO_SETTINGS,
  edge: DEFAULT_EDGE,
  deploys: 0,
  removing: false,
} as const satisfies Partial<App>;

export interface EnvVar {
  readonly name: string;
  readonly value: string;
  /** False: the value is redacted in logs, events, errors and exports. */
  readonly public: boolean;
  /** Who manages the variable: '' the users, otherwise the name of the service instance that set it. */
  readonly managedBy: string;
}

export interface HealthCheck {
  /** Path asked for with GET; absent: a successful TCP connection is enough. */
  readonly path?: string;
  readonly method?: string;
  readonly status?: number;
  /** In place of one status: any up to this one. */
  readonly maxStatus?: number;
  /** Regular expression that the body must match. */
  readonly match?: string;
  readonly allowedFailures?: number;
  /** How long a new unit may take to become ready, in seconds. */
  readonly timeoutSeconds?: number;
}

/** How a unit that serves is looked at, again and again; what is absent has a default, see units/liveness.ts. */
export interface Liveness {
  /** Asked for over HTTP; absent: that of the health check. */
  readonly path?: string;
  /** Run beside the unit; it has to end with 0. */
  readonly command?: string;
  readonly periodSeconds?: number;
  readonly timeoutSeconds?: number;
  /** So many in a row, and the unit is started again. */
  readonly failures?: number;
}

export interface Hooks {
  /** Run one after the other, once per new version (deploy or rollback), with its code and environment, before anything of it starts. */
  readonly release: readonly string[];
  /** Run once per rollout, in a unit-like sandbox with the new release's environment, before any new unit starts. */
  readonly restartBefore: readonly string[];
  /** Run in each new unit's sandbox after it is ready and before it is routed. */
  readonly restartAfter: readonly string[];
}

export interface ProcessType {
  /** Command line from the Procfile. */
  readonly command: string;
  /** How many units are wanted. */
  readonly count: number;
  /** How long a new version of a process that does not listen is watched before it is judged, in seconds; absent: the platform's setting. */
  readonly watchSeconds?: number;
  readonly liveness?: Liveness | 'off';
  /** It answers requests at `<process>.<app>.<domain>`; `web` does in any case, at the names of the app. */
  readonly routed?: true;
  /** Of a routed one but `web`, whose is that of the release. */
  readonly healthCheck?: HealthCheck;
}

/** What one unit may use. */
export interface UnitLimits {
  /** Bytes; 0 for no limit. */
  readonly memoryBytes: number;
  /** Thousandths of a processor; 0 for no limit. */
  readonly cpuMillis: number;
  /** Where the processor is short, relative to the 100 of others; 0 and absent: as they. */
  readonly cpuShare?: number;
  /** Bytes of files that it has written for itself; 0 and absent: the platform's setting. */
  readonly diskBytes?: number;
}

/** A numbered, immutable snapshot of everything that decides what runs. */
export interface Release {
  readonly app: string;
  /** 1, 2, 3 ... per app, without gaps between committed releases. */
  readonly number: number;
  /** The builder's name for the built code (a slug on the process engine). */
  readonly artifact: string;
  readonly deployId: string | null;
  readonly commit: string;
  /** Name and digest of the image that its units run; '' for built code. */
  readonly image: string;
  /** Name and digest by which engines on other machines pull the artifact; '' where none has needed it. */
  readonly published: string;
  readonly env: readonly EnvVar[];
  /** By process name; see units/routed.ts. */
  readonly processes: Readonly<Record<string, ProcessType>>;
  readonly healthCheck: HealthCheck | null;
  readonly hooks: Hooks;
  /** Those of the app's plan when the release was made; null: the platform's settings. */
  readonly limits: UnitLimits | null;
  /** That of the app's pool when the release was made; null: on this server's own engine. */
  readonly placement: Placement | null;
  /** Those of the app with which it was built. */
  readonly settings: AppSettings;
  /** Volumes that its units have; sorted by volume. */
  readonly mounts: readonly ReleaseMount[];
  /** Instance -> how the app's file calls its variables: name that the app sees -> name that the provider gives. */
  readonly bindingNames: Readonly<Record<string, Readonly<Record<string, string>>>>;
  /** HTML of its source that is shown while the app is under maintenance, where its settings have none; '' for nothing. */
  readonly maintenancePage: string;
  /** 'deploy' | 'env' | 'scale' | 'rollback' | ... for people reading the history. */
  readonly reason: string;
  readonly by: string;
  readonly createdAt: string;
}

export function checkAppName(name: unknown, reserved: ReadonlySet<string>): string {
  if (typeof name !== 'string' || !APP_NAME.test(name)) {
    throw new PlatformError(
      'app.invalid_name',
      'Invalid app name, your app should have at most 63 characters, containing only lower case letters, numbers or dashes, starting with a letter.',
      { hint: 'Choose a name such as "shop" or "shop-api-2"; it must not end with a dash.' },
    );
  }
  if (reserved.has(name)) {
    throw new PlatformError('app.invalid_name', `The app name "${name}" is reserved by the platform.`, {
      hint: 'Choose another name.',
    });
  }
  return name;
}

/** The label before the platform's domain that the app answers at: its own name, or that of the app it is swapped with. */
export function hostLabel(app: Pick<App, 'name' | 'swappedWith'>): string {
  return app.swappedWith ?? app.name;
}
