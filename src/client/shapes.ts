/**
 * What the API answers at `/` (specification section 2, both variants), as far as the client reads it. Optional: fields that
 * the specification does not have. Field case is the wire's.
 */
export interface UnitShape {
  readonly Name: string;
  readonly State: string;
  readonly Ip?: string;
  readonly ID?: string;
  readonly Status?: string;
  readonly ProcessName?: string;
}

export interface AppSummary {
  readonly Name: string;
  /** Host and port where the app answers. */
  readonly Ip: string;
  readonly Units: readonly UnitShape[];
  readonly State?: string;
  readonly Platform?: string;
  readonly teamowner?: string;
}

export interface AppInfo {
  readonly Name: string;
  readonly Framework: string;
  /** Git repository address. */
  readonly Repository: string;
  readonly State: string;
  readonly Units: readonly UnitShape[];
  readonly Teams: readonly string[];
  readonly Pool: string;
  /** Host and port where the app answers. */
  readonly Ip?: string;
  readonly owner?: string;
  readonly teamowner?: string;
  readonly description?: string;
  readonly deploys?: number;
  readonly cname?: readonly string[];
  /** The app it has exchanged addresses with. */
  readonly swappedWith?: string;
}

export interface NewApp {
  readonly name: string;
  readonly platform: string;
  readonly teamOwner?: string;
  readonly description?: string;
  readonly pool?: string;
}

export interface AppFilter {
  /** Part of the name. */
  readonly name?: string;
  readonly platform?: string;
  readonly owner?: string;
  readonly teamOwner?: string;
  readonly pool?: string;
}

export interface AppUpdate {
  readonly description?: string;
  readonly platform?: string;
  readonly teamOwner?: string;
  readonly pool?: string;
}

export interface PoolShape {
  readonly Name: string;
  readonly Teams: readonly string[];
  readonly Public: boolean;
  readonly Default: boolean;
}

export interface CreatedApp {
  readonly status: string;
  readonly repository_url: string;
  /** Host and port where the app will answer. */
  readonly ip?: string;
}

export interface EnvVar {
  readonly name: string;
  readonly value: string;
  readonly public: boolean;
}

export interface LogEntry {
  /** ISO 8601 with milliseconds. */
  readonly Date: string;
  readonly Message: string;
  readonly Source: string;
  readonly AppName: string;
  readonly Unit: string;
}

export interface LogQuery {
  readonly lines: number;
  readonly source?: string;
  readonly unit?: string;
}

export interface Platform {
  readonly Name: string;
  readonly Description?: string;
  readonly Ready?: boolean;
  readonly Tools?: readonly string[];
  readonly Missing?: readonly string[];
}

export interface UserInfo {
  readonly Email: string;
  readonly Teams: readonly string[];
}

export interface UserSummary extends UserInfo {
  readonly Admin?: boolean;
}

export interface ApiKey {
  readonly token: string;
  /** E-mail of its user. */
  readonly users: string;
}

export interface AppToken {
  readonly Token: string;
  /** YYYY/MM/DD */
  readonly Creation: string;
  /** Nanoseconds from its creation. */
  readonly Expires: number;
  readonly AppName: string;
}

export interface Limit {
  /** -1: none. */
  readonly limit: number;
  readonly inuse: number;
}

/** Name of the key -> the key's text. */
export type Keys = Readonly<Record<string, string>>;

export interface TeamName {
  readonly name: string;
}

export interface TeamInfo {
  readonly name: string;
  readonly users: readonly string[];
}

export interface DeploySummary {
  readonly ID: string;
  readonly App: string;
  readonly Timestamp: string;
  /** Nanoseconds. */
  readonly Duration: number;
  readonly Commit: string;
  /** Empty when none. */
  readonly Error: string;
  readonly Origin?: string;
  readonly User?: string;
  readonly State?: string;
  readonly Cause?: string;
  /** Number of the release it made; 0 for none. */
  readonly Release?: number;
  readonly CanRollback?: boolean;
}

export interface DeployInfo extends DeploySummary {
  readonly Id?: string;
  readonly Image: string;
  readonly Log: string;
  readonly Origin: string;
  readonly CanRollback: boolean;
  readonly RemoveDate: string;
  readonly Diff?: string;
}

export interface Metadata {
  readonly version: string;
}

export interface HealingReport {
  readonly healer: string;
  readonly started_at: string;
  readonly finished_at: string;
  readonly found: readonly {
    readonly target: string;
    readonly problem: string;
    readonly outcome: 'healed' | 'left' | 'failed';
    readonly action: string;
  }[];
  /** Of a healer that runs elsewhere. */
  readonly answer: string | null;
}
