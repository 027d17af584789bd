/** Made from the OpenAPI document: UPDATE_GOLDEN=1 vitest run src/client writes it. Not for changes by hand. */
import { ALERTS_CALLS, type AlertsTypes } from './alerts.ts';
import { API_KEY_CALLS, type ApiKeyTypes } from './api-key.ts';
import { APP_TOKENS_CALLS, type AppTokensTypes } from './app-tokens.ts';
import { APPS_CALLS, type AppsTypes } from './apps.ts';
import { AUTH_CALLS, type AuthTypes } from './auth.ts';
import { BACKUPS_CALLS, type BackupsTypes } from './backups.ts';
import { BROWSER_SESSION_CALLS, type BrowserSessionTypes } from './browser-session.ts';
import { CERTIFICATES_CALLS, type CertificatesTypes } from './certificates.ts';
import { CNAMES_CALLS, type CnamesTypes } from './cnames.ts';
import { DEPLOYS_CALLS, type DeploysTypes } from './deploys.ts';
import { DIAGNOSIS_CALLS, type DiagnosisTypes } from './diagnosis.ts';
import { DRAINS_CALLS, type DrainsTypes } from './drains.ts';
import { EDGE_CALLS, type EdgeTypes } from './edge.ts';
import { EDGE_TOKENS_CALLS, type EdgeTokensTypes } from './edge-tokens.ts';
import { EDGES_CALLS, type EdgesTypes } from './edges.ts';
import { ENV_CALLS, type EnvTypes } from './env.ts';
import { EVENTS_CALLS, type EventsTypes } from './events.ts';
import { HEALERS_CALLS, type HealersTypes } from './healers.ts';
import { INSTANCES_CALLS, type InstancesTypes } from './instances.ts';
import { KEYS_CALLS, type KeysTypes } from './keys.ts';
import { LINKS_CALLS, type LinksTypes } from './links.ts';
import { LOGS_CALLS, type LogsTypes } from './logs.ts';
import { METADATA_CALLS, type MetadataTypes } from './metadata.ts';
import { METRICS_CALLS, type MetricsTypes } from './metrics.ts';
import { PLANS_CALLS, type PlansTypes } from './plans.ts';
import { PLATFORMS_CALLS, type PlatformsTypes } from './platforms.ts';
import { POOLS_CALLS, type PoolsTypes } from './pools.ts';
import { QUOTAS_CALLS, type QuotasTypes } from './quotas.ts';
import { REGISTRIES_CALLS, type RegistriesTypes } from './registries.ts';
import { RELEASES_CALLS, type ReleasesTypes } from './releases.ts';
import { SERVER_CALLS, type ServerTypes } from './server.ts';
import { SERVICES_CALLS, type ServicesTypes } from './services.ts';
import { TEAMS_CALLS, type TeamsTypes } from './teams.ts';
import { UNITS_CALLS, type UnitsTypes } from './units.ts';
import { USERS_CALLS, type UsersTypes } from './users.ts';
import { VOLUMES_CALLS, type VolumesTypes } from './volumes.ts';
import { WEBHOOKS_CALLS, type WebhooksTypes } from './webhooks.ts';

/** What operations take and answer, by id. */
export type Operations = AlertsTypes &
  ApiKeyTypes &
  AppTokensTypes &
  AppsTypes &
  AuthTypes &
  BackupsTypes &
  BrowserSessionTypes &
  CertificatesTypes &
  CnamesTypes &
  DeploysTypes &
  DiagnosisTypes &
  DrainsTypes &
  EdgeTypes &
  EdgeTokensTypes &
  EdgesTypes &
  EnvTypes &
  EventsTypes &
  HealersTypes &
  InstancesTypes &
  KeysTypes &
  LinksTypes &
  LogsTypes &
  MetadataTypes &
  MetricsTypes &
  PlansTypes &
  PlatformsTypes &
  PoolsTypes &
  QuotasTypes &
  RegistriesTypes &
  ReleasesTypes &
  ServerTypes &
  ServicesTypes &
  TeamsTypes &
  UnitsTypes &
  UsersTypes &
  VolumesTypes &
  WebhooksTypes;

/** How operations are called, by id. */
export const CALLS = {
  ...ALERTS_CALLS,
  ...API_KEY_CALLS,
  ...APP_TOKENS_CALLS,
  ...APPS_CALLS,
  ...AUTH_CALLS,
  ...BACKUPS_CALLS,
  ...BROWSER_SESSION_CALLS,
  ...CERTIFICATES_CALLS,
  ...CNAMES_CALLS,
  ...DEPLOYS_CALLS,
  ...DIAGNOSIS_CALLS,
  ...DRAINS_CALLS,
  ...EDGE_CALLS,
  ...EDGE_TOKENS_CALLS,
  ...EDGES_CALLS,
  ...ENV_CALLS,
  ...EVENTS_CALLS,
  ...HEALERS_CALLS,
  ...INSTANCES_CALLS,
  ...KEYS_CALLS,
  ...LINKS_CALLS,
  ...LOGS_CALLS,
  ...METADATA_CALLS,
  ...METRICS_CALLS,
  ...PLANS_CALLS,
  ...PLATFORMS_CALLS,
  ...POOLS_CALLS,
  ...QUOTAS_CALLS,
  ...REGISTRIES_CALLS,
  ...RELEASES_CALLS,
  ...SERVER_CALLS,
  ...SERVICES_CALLS,
  ...TEAMS_CALLS,
  ...UNITS_CALLS,
  ...USERS_CALLS,
  ...VOLUMES_CALLS,
  ...WEBHOOKS_CALLS,
} as const;
