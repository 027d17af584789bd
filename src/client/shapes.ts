/** Names for what the API answers at `/`; the fields are those of the OpenAPI document. */
import type { OperationAnswer, OperationInput } from './requests.ts';

export type AppSummary = OperationAnswer<'apps.list'>[number];
export type AppInfo = OperationAnswer<'apps.info'>;
/** Of a list or of one app; the address is only in the latter. */
export type UnitShape = AppSummary['Units'][number] & { readonly Ip?: string };
export type NewApp = NonNullable<OperationInput<'apps.create'>['body']>;
export type CreatedApp = OperationAnswer<'apps.create'>;
export type EnvVar = OperationAnswer<'env.get'>[number];
export type Diagnosis = OperationAnswer<'apps.diagnosis'>;
export type AppMetrics = OperationAnswer<'apps.metrics'>;
export type LogEntry = OperationAnswer<'apps.log'>[number];
export type PoolShape = OperationAnswer<'pools.list_all'>[number];
export type Certificate = OperationAnswer<'certificates.list'>[number];
export type CertificateReport = OperationAnswer<'certificates.why'>;
export type NewCertificate = NonNullable<OperationInput<'certificates.add'>['body']>;
export type AddedCertificate = OperationAnswer<'certificates.add'>;
export type CertificateAuthority = OperationAnswer<'certificates.authority'>;
export type Plan = OperationAnswer<'plans.list'>[number];
export type NewPlan = NonNullable<OperationInput<'plans.create'>['body']>;
export type RouterShape = OperationAnswer<'plans.routers'>[number];
export type RoutesChange = OperationAnswer<'apps.routes'>;
export type Platform = OperationAnswer<'platforms.list'>[number];
export type UserInfo = OperationAnswer<'users.info'>;
export type UserSummary = OperationAnswer<'users.list'>[number];
export type ApiKey = OperationAnswer<'api_key.show'>;
export type AppTokenInfo = OperationAnswer<'app_tokens.list'>[number];
export type AppToken = OperationAnswer<'app_tokens.create'>;
export type Limit = OperationAnswer<'quotas.user_limit'>;
/** Name of the key -> the key's text. */
export type Keys = OperationAnswer<'keys.list'>;
export type RegistryLogin = OperationAnswer<'registries.list'>[number];
export type NewRegistryLogin = NonNullable<OperationInput<'registries.login'>['body']>;
export type DrainShape = OperationAnswer<'drains.info'>;
export type NewDrain = NonNullable<OperationInput<'drains.add'>['body']>;
export type EdgeSettings = OperationAnswer<'edge.show'>;
export type EdgeChange = NonNullable<OperationInput<'edge.set'>['body']>;
export type DrainTest = OperationAnswer<'drains.test'>;
export type ReleaseShape = OperationAnswer<'releases.list'>[number];
export type ReleaseComparison = OperationAnswer<'releases.compare'>;
export type AlertsShape = OperationAnswer<'alerts.show'>;
export type AlertsChange = NonNullable<OperationInput<'alerts.set'>['body']>;
export type FollowingEdges = OperationAnswer<'edges.list'>;
export type EdgeTokens = OperationAnswer<'edge_tokens.list'>;
export type NewEdgeToken = OperationAnswer<'edge_tokens.create'>;
export type BackupsShape = OperationAnswer<'backups.list'>;
export type AlertTest = OperationAnswer<'alerts.test'>;
export type WebhookShape = OperationAnswer<'webhooks.info'>;
export type NewWebhook = NonNullable<OperationInput<'webhooks.add'>['body']>;
export type AddedWebhook = OperationAnswer<'webhooks.add'>;
export type WebhookDelivery = OperationAnswer<'webhooks.test'>;
export type VolumeShape = OperationAnswer<'volumes.info'>;
export type NewVolume = NonNullable<OperationInput<'volumes.create'>['body']>;
export type VolumeMount = NonNullable<OperationInput<'volumes.mount'>['body']>;
export type DiskReport = OperationAnswer<'server.disk'>;
export type HealthReport = OperationAnswer<'server.health'>;
export type HealingReport = OperationAnswer<'healers.run'>;
export type Event = OperationAnswer<'events.list'>[number];
export type Healing = OperationAnswer<'healers.recent'>[number];
export type TeamName = OperationAnswer<'teams.list'>[number];
export type TeamInfo = OperationAnswer<'teams.info'>;
export type DeploySummary = OperationAnswer<'deploys.list'>[number];
export type DeployInfo = OperationAnswer<'deploys.info'>;
export type Metadata = OperationAnswer<'metadata.info'>;

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
export type AuditLog = OperationAnswer<'events.log'>;
