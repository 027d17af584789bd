/** Names for what the API answers at `/`; the fields are those of the OpenAPI document. */
import type { Answer, Input } from './requests.ts';

export type AppSummary = Answer<'apps.list'>[number];
export type AppInfo = Answer<'apps.info'>;
/** Of a list or of one app; the address is only in the latter. */
export type UnitShape = AppSummary['Units'][number] & { readonly Ip?: string };
export type NewApp = NonNullable<Input<'apps.create'>['body']>;
export type CreatedApp = Answer<'apps.create'>;
export type EnvVar = Answer<'env.get'>[number];
export type Diagnosis = Answer<'apps.diagnosis'>;
export type AppMetrics = Answer<'apps.metrics'>;
export type LogEntry = Answer<'apps.log'>[number];
export type PoolShape = Answer<'pools.list_all'>[number];
export type Certificate = Answer<'certificates.list'>[number];
export type CertificateReport = Answer<'certificates.why'>;
export type NewCertificate = NonNullable<Input<'certificates.add'>['body']>;
export type AddedCertificate = Answer<'certificates.add'>;
export type CertificateAuthority = Answer<'certificates.authority'>;
export type Plan = Answer<'plans.list'>[number];
export type NewPlan = NonNullable<Input<'plans.create'>['body']>;
export type RouterShape = Answer<'plans.routers'>[number];
export type RoutesChange = Answer<'apps.routes'>;
export type Platform = Answer<'platforms.list'>[number];
export type UserInfo = Answer<'users.info'>;
export type UserSummary = Answer<'users.list'>[number];
export type ApiKey = Answer<'api_key.show'>;
export type AppTokenInfo = Answer<'app_tokens.list'>[number];
export type AppToken = Answer<'app_tokens.create'>;
export type Limit = Answer<'quotas.user_limit'>;
/** Name of the key -> the key's text. */
export type Keys = Answer<'keys.list'>;
export type RegistryLogin = Answer<'registries.list'>[number];
export type NewRegistryLogin = NonNullable<Input<'registries.login'>['body']>;
export type DrainShape = Answer<'drains.info'>;
export type NewDrain = NonNullable<Input<'drains.add'>['body']>;
export type EdgeSettings = Answer<'edge.show'>;
export type EdgeChange = NonNullable<Input<'edge.set'>['body']>;
export type DrainTest = Answer<'drains.test'>;
export type ReleaseShape = Answer<'releases.list'>[number];
export type ReleaseComparison = Answer<'releases.compare'>;
export type AlertsShape = Answer<'alerts.show'>;
export type AlertsChange = NonNullable<Input<'alerts.set'>['body']>;
export type AlertTest = Answer<'alerts.test'>;
export type WebhookShape = Answer<'webhooks.info'>;
export type NewWebhook = NonNullable<Input<'webhooks.add'>['body']>;
export type AddedWebhook = Answer<'webhooks.add'>;
export type WebhookDelivery = Answer<'webhooks.test'>;
export type VolumeShape = Answer<'volumes.info'>;
export type NewVolume = NonNullable<Input<'volumes.create'>['body']>;
export type VolumeMount = NonNullable<Input<'volumes.mount'>['body']>;
export type DiskReport = Answer<'server.disk'>;
export type HealthReport = Answer<'server.health'>;
export type HealingReport = Answer<'healers.run'>;
export type Event = Answer<'events.list'>[number];
export type Healing = Answer<'healers.recent'>[number];
export type TeamName = Answer<'teams.list'>[number];
export type TeamInfo = Answer<'teams.info'>;
export type DeploySummary = Answer<'deploys.list'>[number];
export type DeployInfo = Answer<'deploys.info'>;
export type Metadata = Answer<'metadata.info'>;

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
  /** Process name -> command; these and the following are in effect with the next deploy, and an empty one is taken away. */
  readonly startCommands?: Readonly<Record<string, string>>;
  readonly buildCommand?: string;
  readonly root?: string;
  readonly keepDevPackages?: boolean;
}

export interface LogQuery {
  readonly lines: number;
  readonly source?: string;
  readonly unit?: string;
  readonly process?: string;
  /** RFC 3339, or how long ago: `10m`. */
  readonly since?: string;
  readonly until?: string;
  /** Id of a deploy. */
  readonly deploy?: string;
  readonly search?: string;
  /** Whether `search` is a regular expression. */
  readonly regexp?: boolean;
  /** Cursor of an entry. */
  readonly after?: string;
  /** The same: only what came before it. */
  readonly before?: string;
}
export type AuditLog = Answer<'events.log'>;
