/**
 * The published interface exists in two variants (specification section 9). This is the one place where they differ:
 * `/` serves the union of both, `/a` and `/b` exactly one. Nothing else in the code knows of variants.
 */
import * as app from './shapes/app.ts';
import { appToken, appTokens } from './shapes/app-token.ts';
import * as deploy from './shapes/deploy.ts';
import { diagnosis } from './shapes/diagnosis.ts';
import { envVars, envVarsUnion } from './shapes/env-var.ts';
import { knownUnits } from './shapes/known-unit.ts';
import { auditLog, eventInfo, events } from './shapes/event.ts';
import { logEntries, logEntriesUnion } from './shapes/log-entry.ts';
import { disk } from './shapes/disk.ts';
import { health } from './shapes/health.ts';
import * as healer from './shapes/healer.ts';
import { appMetrics } from './shapes/metrics.ts';
import { releaseComparison, releases } from './shapes/releases.ts';
import { metadata } from './shapes/metadata.ts';
import { plans, routers } from './shapes/plan.ts';
import {
  addedCertificate,
  certificate,
  certificateAuthority,
  certificateReport,
  certificates,
} from './shapes/certificate.ts';
import * as platform from './shapes/platform.ts';
import { pools, teamPools } from './shapes/pool.ts';
import { limit, quota } from './shapes/quota.ts';
import { metricEnvs, routesChange } from './shapes/routes-change.ts';
import { registryLogins } from './shapes/registry-login.ts';
import * as service from './shapes/service.ts';
import type { Shape } from './shapes/shape.ts';
import { team, teams } from './shapes/team.ts';
import * as user from './shapes/user.ts';
import { edgeSettings } from './shapes/edge-settings.ts';
import { drain, drains, drainTest } from './shapes/drain.ts';
import { volume, volumes } from './shapes/volume.ts';
import * as alert from './shapes/alert.ts';
import { edges, edgeToken, edgeTokens } from './shapes/edge.ts';
import { backups } from './shapes/backup.ts';
import * as webhook from './shapes/webhook.ts';

const SAME = {
  diagnosis,
  appMetrics,
  releaseComparison,
  releases,
  auditLog,
  eventInfo,
  events,
  knownUnits,
  metadata,
  plans,
  addedCertificate,
  certificate,
  certificateAuthority,
  certificateReport,
  certificates,
  routers,
  pools,
  teamPools,
  team,
  teams,
  ...user,
  ...healer,
  registryLogins,
  volume,
  volumes,
  drain,
  drains,
  drainTest,
  edgeSettings,
  ...webhook,
  ...alert,
  backups,
  edges,
  edgeToken,
  edgeTokens,
  disk,
  health,
  quota,
  limit,
  appToken,
  appTokens,
  routesChange,
  metricEnvs,
  ownedServices: service.ownedServices,
  boundVars: service.boundVars,
  servicePlans: service.servicePlans,
};
const PUBLISHED = {
  ...SAME,
  envVars,
  logEntries,
  appSummaries: app.appSummaries,
  appCreated: app.appCreated,
  deploys: deploy.deploys,
  platforms: platform.platforms,
  serviceInstances: service.serviceInstances,
  instance: service.instance,
  instances: service.instances,
};

const SHAPES = {
  union: {
    ...SAME,
    envVars: envVarsUnion,
    logEntries: logEntriesUnion,
    app: app.appUnion,
    appSummaries: app.appSummariesUnion,
    appCreated: app.appCreatedUnion,
    deploy: deploy.deployUnion,
    deploys: deploy.deploysUnion,
    platforms: platform.platformsUnion,
    serviceInstances: service.serviceInstancesUnion,
    instance: service.instanceUnion,
    instances: service.instancesUnion,
  },
  a: { ...PUBLISHED, app: app.appWithPool, deploy: deploy.deployA },
  b: { ...PUBLISHED, app: app.appPlain, deploy: deploy.deployB },
};

export type ShapeName = keyof (typeof SHAPES)['union'];
export type ShapeValue<S extends ShapeName> = Parameters<(typeof SHAPES)['union'][S]['toWire']>[0];

export interface Variant {
  readonly name: 'union' | 'a' | 'b';
  readonly prefix: '' | '/a' | '/b';
  /** Also what existing clients need beyond the specification: further paths, operations without a section. */
  readonly extensions: boolean;
  /** Ids of published operations that this variant lacks. */
  readonly absent: readonly string[];
  /** Operation id -> its paths, where they are not the operation's own. */
  readonly paths: Readonly<Record<string, readonly string[]>>;
  readonly shapes: Readonly<Record<ShapeName, Shape<never>>> & Pick<typeof PUBLISHED, 'logEntries'>;
}

export const VARIANTS: readonly Variant[] = [
  {
    name: 'union',
    prefix: '',
    extensions: true,
    absent: [],
    paths: { 'apps.log': ['/apps/:app/log', '/apps/:app/logs'] },
    shapes: SHAPES.union,
  },
  { name: 'a', prefix: '/a', extensions: false, absent: ['app_tokens.create'], paths: {}, shapes: SHAPES.a },
  {
    name: 'b',
    prefix: '/b',
    extensions: false,
    absent: ['users.info', 'metadata.info', 'pools.list', 'apps.pool'],
    paths: { 'apps.log': ['/apps/:app/logs'] },
    shapes: SHAPES.b,
  },
];
