/** The part of the configuration that rules of the domain depend on. */
import type { UnitLimits } from './apps/app.ts';
import type { Replaces } from './deploys/deploy-queue.ts';
import type { Limits } from './units/provisioner.ts';
import type { DefaultLimits } from './quotas/quota.ts';

export interface Settings {
  /** `<app>.<domain>` is where an app answers. */
  readonly domain: string;
  /** Host name of the platform's API at the edge; no app's. */
  readonly apiDomain: string;
  /** IP address that the host names of apps lead to. */
  readonly publicAddress: () => string;
  /** `host:port` where apps are asked; absent: at the router of this machine. */
  readonly appsAt?: () => string;
  /** Port of the edge as seen by clients; 80 is left out of addresses. */
  readonly edgePort: () => number;
  /** Port of TLS as seen by clients; absent or null: there is none. 443 is left out of addresses. */
  readonly tlsPort?: () => number | null;
  /** Whether clients are shown a certificate for this host name now. */
  readonly presents?: (host: string) => boolean;
  /** `host:port` of the SSH door. */
  readonly sshAddress: () => string;
  readonly startTimeoutMs: number;
  /** How long a process that does not listen is watched before it counts as started. */
  readonly watch: {
    /** The first units of a release, unless the app says otherwise. */
    readonly newMs: number;
    /** Further ones, and those that are started again. */
    readonly againMs: number;
  };
  readonly drainTimeoutMs: number;
  readonly stopGraceMs: number;
  /** Of every unit whose app's plan sets no others. */
  readonly unitLimits: Limits;
  /** What there is on this machine: no unit can be given more. */
  readonly machine: UnitLimits;
  /** How many built versions of an app are kept for going back. */
  readonly keptReleases: number;
  readonly retention: {
    readonly eventDays: number;
    /** Whatever their age. */
    readonly events: number;
    /** Of so many newest deploys of an app what they printed is kept. */
    readonly deployLogsPerApp: number;
    /** So many newest deploys of an app are kept, and those that releases name. */
    readonly deploysPerApp: number;
    /** Tools and caches that no build has used for so long go. */
    readonly unusedDays: number;
    /** Of all tools together; 0 for any number. */
    readonly toolBytes: number;
  };
  /** Of what a unit has written beside its code, unless its app's plan says otherwise; 0 for no limit. */
  readonly unitDiskBytes: number;
  /** And directories; 0 for no limit. */
  readonly unitFiles: number;
  /** With less free space no new code is taken; 0 for never. */
  readonly diskReserveBytes: number;
  /** What a volume may hold where nothing else is said, and at most for who is no admin; 0 for no limit. */
  readonly volumeMaxBytes: number;
  /** Between two backups; 0: only when somebody asks. */
  readonly backupEveryMs: number;
  readonly backupKeep: number;
  /** Builds that run at once, at least 1. */
  readonly buildSlots: number;
  /** What a newer push takes the place of. */
  readonly pushReplaces: Replaces;
  readonly runTimeoutMs: number;
  readonly defaultLimits: DefaultLimits;
}

/** Host and port where the app with this host label answers, see hostLabel(). */
export function appAddress(label: string, settings: Pick<Settings, 'domain' | 'edgePort'>): string {
  return withPort(`${label}.${settings.domain}`, settings.edgePort(), 80);
}

/** Where the app with this host label answers, see hostUrl(). */
export function appUrl(label: string, settings: Pick<Settings, 'domain'> & UrlSettings): string {
  return hostUrl(`${label}.${settings.domain}`, settings);
}

type UrlSettings = Pick<Settings, 'edgePort' | 'tlsPort' | 'presents'>;

/** Of a host name of apps: by HTTPS as soon as there is a certificate for it. */
export function hostUrl(host: string, settings: UrlSettings): string {
  const port = settings.tlsPort?.() ?? null;
  if (port !== null && settings.presents?.(host) === true) return `https://${withPort(host, port, 443)}`;
  return `http://${withPort(host, settings.edgePort(), 80)}`;
}

function withPort(host: string, port: number, usual: number): string {
  return port === usual ? host : `${host}:${port}`;
}
