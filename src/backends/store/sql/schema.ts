/** The tables as the newest migration leaves them. Flags are 0 or 1, times ISO 8601 UTC, `json` columns are JSON text. */
import type { Generated, Kysely } from 'kysely';
import type { DatabaseKind } from '../../../sql/database.ts';
import type { App } from '../../../domain/apps/app.ts';
import type { Unit } from '../../../domain/units/unit.ts';
import type { Sealer } from '../../../lib/seal.ts';
import type { KnownGroups } from './known-groups.ts';

export interface Tables {
  apps: AppsTable;
  app_teams: { app: string; team: string };
  env: EnvTable;
  releases: ReleasesTable;
  units: UnitsTable;
  rollouts: RolloutsTable;
  deploys: DeploysTable;
  deploy_log: { deploy_id: string; chunk: number; lines_json: string };
  users: { email: string; password_hash: string; is_admin: number; created_at: string };
  sessions: { token_hash: string; email: string; created_at: string; expires_at: string };
  api_keys: { email: string; key_hash: string; sealed_key: string; created_at: string };
  password_resets: { token_hash: string; email: string; created_at: string; expires_at: string };
  app_tokens: { token_hash: string; app: string; actor: string; created_at: string; expires_at: string };
  user_limits: { email: string; apps: number | null };
  app_limits: { app: string; units: number | null };
  ssh_keys: { fingerprint: string; email: string; name: string; key_text: string; created_at: string };
  teams: { name: string; created_at: string };
  team_members: { team: string; email: string };
  pools: { name: string; is_public: number; created_at: string; placement_json: string | null };
  pool_teams: { pool: string; team: string };
  plans: PlansTable;
  platforms: { name: string; definition: string | null; is_disabled: number; created_at: string };
  services: ServicesTable;
  service_teams: { service: string; team: string; is_owner: number };
  instances: InstancesTable;
  instance_teams: { instance: string; team: string };
  bindings: BindingsTable;
  letters: { name: string; sealed_text: string };
  registry_logins: RegistryLoginsTable;
  volumes: VolumesTable;
  certificates: CertificatesTable;
  authority_identities: { authority: string; sealed_key: string; account: string };
  drains: DrainsTable;
  webhooks: WebhooksTable;
  webhook_deliveries: WebhookDeliveriesTable;
  events: EventsTable;
  audit_rows: AuditRowsTable;
  audit_checkpoints: { size: number | string; note: string; frontier_json: string };
  audit_key: { origin: string; sealed_key: string };
  leases: { key: string; owner: string; expires_ms: number; token: number };
  /** SQLite only; a sequence of that name on PostgreSQL. */
  lease_tokens: { last: number };
  settings: { key: string; value: string };
  repositories: RepositoriesTable;
  repository_packs: { app: string; pack: string; part: number; data: Uint8Array; stored_at: string };
}

export interface AppsTable {
  name: string;
  platform: string;
  owner: string;
  team_owner: string;
  pool: string;
  description: string;
  cname_json: string;
  links_json: string;
  created_at: string;
  release: number | null;
  rollout: string | null;
  desired: string;
  deploys: number;
  removing: number;
  stopped_processes_json: string;
  routed_processes_json: string;
  swapped_with: string | null;
  custom_data_json: string | null;
  plan: string;
  settings_json: string | null;
  edge_json: string | null;
}

export interface PlansTable {
  name: string;
  /** PostgreSQL answers a text. */
  memory_bytes: number | string;
  cpu_millis: number;
  cpu_share: number;
  disk_bytes: number | string;
  is_default: number;
  created_at: string;
}

export interface EnvTable {
  app: string;
  name: string;
  sealed_value: string;
  is_public: number;
  managed_by: string;
}

export interface ReleasesTable {
  app: string;
  number: number;
  artifact: string;
  image: string;
  published: string;
  deploy_id: string | null;
  commit_id: string;
  /** The whole environment as JSON, sealed. */
  sealed_env: string;
  processes_json: string;
  health_check_json: string | null;
  hooks_json: string;
  limits_json: string | null;
  reason: string;
  actor: string;
  created_at: string;
  settings_json: string | null;
  mounts_json: string;
  names_json: string;
  maintenance_page: string;
  placement_json: string | null;
}

interface RegistryLoginsTable {
  host: string;
  /** '' for all teams. */
  team: string;
  user_name: string;
  sealed_password: string;
  actor: string;
  created_at: string;
}

export interface VolumesTable {
  app: string;
  name: string;
  /** PostgreSQL answers a text. */
  max_bytes: number | string;
  is_single: number;
  state: string;
  actor: string;
  created_at: string;
}

export interface UnitsTable {
  id: string;
  app: string;
  number: number;
  process: string;
  release: number;
  rollout: string;
  state: string;
  address_json: string | null;
  handle: string | null;
  exits: number;
  last_exit_json: string | null;
  created_at: string;
}

export interface RolloutsTable {
  id: string;
  app: string;
  release: number;
  reason: string;
  actor: string;
  state: string;
  cause: string | null;
  started_at: string;
  finished_at: string | null;
  failures_before: number;
  failed_requests: number | null;
  control: Generated<string>;
}

export interface DeploysTable {
  id: string;
  app: string;
  state: string;
  commit_id: string;
  origin: string;
  actor: string;
  started_at: string;
  finished_at: string | null;
  duration_ms: number;
  release: number | null;
  artifact: string;
  image: string;
  cause: string | null;
  error: string;
  warning: string;
  phases_json: string;
  failed_requests: number;
  removed_at: string | null;
  control: Generated<string>;
  turn: Generated<number>;
  ref: Generated<string>;
  replaced_by: Generated<string>;
}

export interface ServicesTable {
  name: string;
  kind: string;
  url: string;
  username: string;
  sealed_password: string;
  is_restricted: number;
  doc: string;
  created_at: string;
}

export interface InstancesTable {
  id: string;
  name: string;
  service: string;
  team_owner: string;
  actor: string;
  plan: string;
  description: string;
  tags_json: string;
  /** JSON, sealed. */
  sealed_parameters: string;
  state: string;
  attempts: number;
  problem: string;
  created_at: string;
}

export interface BindingsTable {
  id: string;
  instance: string;
  /** No reference: a binding outlives its app until the provider has undone it. */
  app: string;
  state: string;
  app_host: string;
  actor: string;
  /** JSON, sealed. */
  sealed_vars: string;
  /** Empty for the names that the provider gives. */
  names_json: string;
  unit_hosts_json: string;
  attempts: number;
  problem: string;
  created_at: string;
}

export interface CertificatesTable {
  id: string;
  names_json: string;
  source: string;
  app: string;
  state: string;
  cause: string | null;
  problem: string;
  failures: number;
  next_attempt_at: string | null;
  chain: string;
  /** '' without one. */
  sealed_key: string;
  issuer: string;
  not_before: string;
  not_after: string;
  ask_again_at: string | null;
  authority: string;
  order_url: string;
  /** '' without one. */
  sealed_pending_key: string;
  created_at: string;
}

export interface DrainsTable {
  id: string;
  /** No reference: '' stands for all apps. */
  app: string;
  /** JSON, sealed. */
  sealed_target: string;
  actor: string;
  created_at: string;
}

export interface WebhooksTable {
  id: string;
  scope: string;
  /** No reference: '' stands for the platform. */
  owner: string;
  /** Address and secret as JSON, sealed. */
  sealed_target: string;
  kinds_json: string;
  actor: string;
  created_at: string;
}

export interface WebhookDeliveriesTable {
  seq: Generated<number>;
  id: string;
  webhook: string;
  kind: string;
  app: string;
  body: string;
  state: string;
  created_at: string;
  retried_since: string;
  next_attempt_at: string;
  attempts: number;
  last_attempt_at: string;
  status: number;
  answer: string;
}

export interface EventsTable {
  seq: Generated<number>;
  id: string;
  at: string;
  actor: string;
  address: string;
  action: string;
  target: string;
  detail: string;
  error: string;
  ended_at: string;
  is_refusal: number;
  token: string;
  deploy: string;
  changes_json: string;
  /** How much of it the audit log says: 0 nothing, 1 that it began, 2 all. */
  logged: number;
}

interface AuditRowsTable {
  /** PostgreSQL answers a text. */
  idx: number | string;
  /** '' when what it says is forgotten, like the salt. */
  event: string;
  phase: string;
  salt: string;
  leaf: string;
}

export interface RepositoriesTable {
  app: string;
  id: string;
  version: number;
  head: string;
  refs_json: string;
  packs_json: string;
  shallow_json: string;
}

/** What the files of this folder work on: the database, or one transaction in it. */
export interface Scope {
  readonly db: Kysely<Tables>;
  readonly kind: DatabaseKind;
  readonly sealer: Sealer;
  /** What is read as a whole again and again. */
  readonly known: { readonly apps: KnownGroups<App>; readonly units: KnownGroups<Unit> };
}
