/** Wires the domain: which part gets which backend and which other part. What is done when is in serve.ts. */
import type { Backends } from '../backends/registry.ts';
import type { Config } from '../config/config.ts';
import { createAppTokens } from '../domain/app-tokens/app-tokens.ts';
import { type Act, createAct } from '../domain/act.ts';
import type { AuditLog } from '../domain/audit/audit-log.ts';
import { createEventLog } from '../domain/audit/event-log.ts';
import { createUnitReports } from '../domain/units/unit-reports.ts';
import { createAppChanges } from '../domain/apps/app-changes.ts';
import { createAppEdge } from '../domain/apps/app-edge.ts';
import { createAppUpkeep } from '../domain/apps/app-upkeep.ts';
import { createApps } from '../domain/apps/apps.ts';
import { createCnames } from '../domain/apps/cnames.ts';
import { createLinks } from '../domain/apps/links.ts';
import { createEnv } from '../domain/env/env.ts';
import { createRemoval } from '../domain/apps/removal.ts';
import { Rollouts } from '../domain/rollouts/rollouts.ts';
import { Routes } from '../domain/routes/routes.ts';
import { createReleases } from '../domain/apps/releases.ts';
import { createRun } from '../domain/apps/run.ts';
import { createScale } from '../domain/apps/scale.ts';
import { createShells } from '../domain/apps/shells.ts';
import { createStartStop } from '../domain/apps/start-stop.ts';
import { createSwap } from '../domain/apps/swap.ts';
import { LivenessChecks } from '../domain/units/liveness.ts';
import { Supervisor } from '../domain/units/supervisor.ts';
import { Units } from '../domain/units/units.ts';
import { BuildSlots } from '../domain/deploys/build-slots.ts';
import { createCancelElsewhere, createEndDeploys } from '../domain/deploys/cancel-elsewhere.ts';
import { DeployOrder } from '../domain/deploys/deploy-order.ts';
import { DeployQueue } from '../domain/deploys/deploy-queue.ts';
import { createDiagnoses } from '../domain/diagnosis/diagnosis.ts';
import { createDeploys } from '../domain/deploys/deploys.ts';
import type { GitHost } from '../domain/deploys/git-host.ts';
import { Pipeline } from '../domain/deploys/pipeline.ts';
import { createUploads } from '../domain/deploys/uploads.ts';
import { DrainDeliveries } from '../domain/drains/deliveries.ts';
import { createDrains } from '../domain/drains/drains.ts';
import { explainsFull, hasNoRoom, wantedRoom } from '../domain/disk/disk-room.ts';
import { createDiskHolders } from '../domain/disk/disk-holders.ts';
import { createDiskUse } from '../domain/disk/disk-use.ts';
import { createHealth } from '../domain/health/health.ts';
import { createHealers } from '../domain/healers/healers.ts';
import { ownHealers } from '../domain/healers/own-healers.ts';
import { HealerRounds } from '../domain/healers/rounds.ts';
import type { Fence } from '../domain/fence.ts';
import { type News, NO_NEWS } from '../domain/controls/news.ts';
import { createAdopt } from '../domain/adopt-units.ts';
import { Ownership } from '../domain/controls/ownership.ts';
import { Leases } from '../domain/leases.ts';
import { AccessLines } from '../domain/logs/access-lines.ts';
import { Collector } from '../domain/logs/collector.ts';
import { Journal } from '../domain/logs/journal.ts';
import { PlatformCounters } from '../domain/metrics/platform-counters.ts';
import type { MetricsSampler } from '../domain/metrics/sampler.ts';
import { createLogs } from '../domain/logs/logs.ts';
import { logBounds } from './log-bounds.ts';
import { createPlans } from '../domain/plans/plans.ts';
import { createPlatforms } from '../domain/platforms/platforms.ts';
import { createPools } from '../domain/pools/pools.ts';
import { createQuotas } from '../domain/quotas/quotas.ts';
import type { recover } from '../domain/recovery.ts';
import { createRetention } from '../domain/retention.ts';
import { createBindingAttempts } from '../domain/services/binding-attempts.ts';
import { createBindings } from '../domain/services/bindings.ts';
import { createInstances } from '../domain/services/instances.ts';
import { Orphans } from '../domain/services/orphans.ts';
import { Provider } from '../domain/services/provider.ts';
import { createRestoreBindings } from '../domain/services/restored-bindings.ts';
import { createServiceProxy } from '../domain/services/service-proxy.ts';
import { createServices } from '../domain/services/services.ts';
import { UnitBindings } from '../domain/services/unit-bindings.ts';
import type { Settings } from '../domain/settings.ts';
import { createTeams } from '../domain/teams/teams.ts';
import type { UseCases } from '../domain/use-cases.ts';
import { CallerCache } from '../domain/users/caller-cache.ts';
import { createUsers } from '../domain/users/users.ts';
import { createRegistries } from '../domain/registries/registries.ts';
import { createBackups } from '../domain/backups/backups.ts';
import { createAlerts } from '../domain/alerts/alerts.ts';
import { createWebhooks } from '../domain/webhooks/webhooks.ts';
import type { WebhookDeliveries } from '../domain/webhooks/webhook-deliveries.ts';
import { createVolumes } from '../domain/volumes/volumes.ts';
import { bestEffort, type Logger } from '../lib/logger.ts';
import { repeatedly } from '../lib/repeatedly.ts';
import { type CertificateBackends, createCertificateParts } from './certificates.ts';
import { createEdgeParts } from './edges.ts';
import { openRecord } from './record.ts';
import { registrationOf } from './registration.ts';
import type { Timing } from './timing.ts';
import { createWatches, type Watches } from './watches.ts';
import { createMetricsParts } from './metrics.ts';

const RETAIN_EVERY_MS = 10 * 60_000;

export interface Domain {
  readonly useCases: UseCases;
  readonly rounds: HealerRounds;
  /** From here on every name gets its certificate. */
  startCertificates(): void;
  /** Presents what other controls have had issued. */
  followCertificates(): void;
  /** What works behind the use cases. */
  readonly parts: Pick<
    Parameters<typeof recover>[0],
    'collector' | 'leases' | 'orphans' | 'ownership' | 'rollouts' | 'removal' | 'routes' | 'supervisor' | 'units'
  > &
    Watches & {
      readonly act: Act;
      readonly journal: Journal;
      readonly unitBindings: UnitBindings;
      readonly liveness: LivenessChecks;
      readonly sampler: MetricsSampler;
      readonly counters: PlatformCounters;
      readonly accessLines: AccessLines;
      readonly deliveries: DrainDeliveries;
      readonly webhookDeliveries: WebhookDeliveries;
      readonly auditLog: AuditLog;
      readonly queue: DeployQueue;
      readonly order: DeployOrder;
    };
  pruneLogs(): Promise<void>;
  /** Removes what is too old, now and then, until the returned function is called and resolves. */
  startRetention(): () => Promise<void>;
  /** Sends metrics where the settings say, until the function it resolves with is called and resolves. */
  startMetricsPush(version: string): Promise<() => Promise<void>>;
  close(how: 'all' | 'leave-units'): Promise<void>;
}

export type DomainConfig = Pick<
  Config,
  | 'apiListen'
  | 'domain'
  | 'healers'
  | 'healingIntervalSeconds'
  | 'logBytes'
  | 'logBytesPerApp'
  | 'logDays'
  | 'logEntriesPerApp'
  | 'proxyProtocol'
  | 'registration'
  | 'sessionDays'
  | 'trustedProxies'
>;

type DomainBackends = Omit<Backends, 'gitHost' | 'edgeUser' | 'close'> & { readonly gitHost: GitHost };

interface DomainOptions {
  readonly settings: Settings;
  readonly logger: Logger;
  readonly now: () => Date;
  /** Of leases. The home is claimed, so whoever had the same name before is dead and its leases are ours at once. */
  readonly owner: string;
  /** The one that guards the store. */
  readonly fence: Fence;
  /** It is one of several that share the store; absent: it is alone. */
  readonly isOneOfSeveral?: boolean;
  /** Of the others; absent: there are none. */
  readonly news?: News;
  readonly timing?: Timing;
  /** Null or absent: nothing is issued. */
  readonly certificates?: CertificateBackends | null;
}

export function createDomain(config: DomainConfig, given: DomainBackends, options: DomainOptions): Domain {
  const { logger, now, owner, timing = {}, news = NO_NEWS } = options;
  const settings: Settings = { ...options.settings, presents: (host) => certificates.presenter.presents(host) };
  const counters = new PlatformCounters();
  const { store, audit, auditLog, webhookDeliveries } = openRecord(given, { counters, logger, news, now });
  const control = options.isOneOfSeveral === true ? owner : null;
  const ownership = new Ownership(store, control);
  const edges = createEdgeParts({ store, own: given.router, news, owner, isAlone: ownership.isAlone, logger, now });
  const { peers, router } = edges;
  const backends = { ...given, router };
  const { logStore, provisioner, artifacts, imageRegistry, builder, gitHost, imageSource, volumeHost } = backends;
  const { webhookSender } = backends;
  const journal = new Journal({ logStore, news, now, logger });
  const collector = new Collector({
    ...{ provisioner, logStore, journal, ownership, logger },
    carrier: backends.outputCarrier,
    isDiskFull: () => hasNoRoom(backends),
  });
  const leases = new Leases(store, owner, options.fence);
  const holders = createDiskHolders({ store, survey: backends.diskSurvey });
  const act = createAct({ store, leases, audit, now, explained: explainsFull({ probe: backends.probe, holders }) });
  // Names that a recovery publishes are seen by the first round.
  let isServing = false;
  const provider = new Provider(backends.serviceEndpoint, timing.deadlines);
  const orphans = new Orphans({ store, provider, leases, logger, now, ...timing.orphans });
  const unitBindings = new UnitBindings({ store, provider, leases, journal, logger, ...timing.unitBindings });
  const certificates = createCertificateParts(options.certificates ?? null, {
    ...{ store, router, act, settings, news, peers, logger, now },
  });
  const onPublished = (): void => {
    unitBindings.changed();
    if (isServing) certificates.upkeep.wake();
  };
  const { domain } = settings;
  const routes = new Routes({ store, router, provisioner, domain, news, logger, now, onPublished, ...timing.routes });
  const units = new Units({ store, provisioner, collector, journal, logStore, settings, logger, now });
  const accessLines = new AccessLines({ store, router, routes, journal, logger });
  const supervisor = new Supervisor({ store, provisioner, routes, units, ownership, journal, logger, now });
  const liveness = new LivenessChecks({ store, provisioner, supervisor, ownership, settings, logger, now });
  const lookAfter = (unit: string): void => supervisor.lookAfter(unit);
  const adopt = createAdopt({ store, provisioner, collector, ownership });
  const rollouts = new Rollouts({
    ...{ store, units, ownership, peers, routes, router, engines: provisioner, imageRegistry, settings, logger, now },
    ...{ lookAfter, adopt, ...timing.rollouts },
  });
  peers.on('routes', (apps) => routes.publishFor(apps));
  peers.on('drain', async (ids) => void (await router.drained(ids, settings.drainTimeoutMs)));
  const replaces = settings.pushReplaces;
  const queue = new DeployQueue(replaces);
  const order = new DeployOrder({ store, news, queue, control, replaces, logger });
  const cancelElsewhere = createCancelElsewhere({ store, queue, news });
  const slots = new BuildSlots(settings.buildSlots);
  const deliveries = new DrainDeliveries({ store, logStore, journal, sender: backends.drainSender, news, logger, now });
  const removal = createRemoval({
    ...{ store, units, routes, router, volumeHost, artifacts, imageRegistry, builder, gitHost, logStore },
    ...{ deliveries, orphans, settings, logger },
    endDeploys: createEndDeploys({ store, queue, ownership, cancelElsewhere }),
  });
  const pipeline = new Pipeline({
    ...{ probe: backends.probe, holders, provisioner, volumeHost, store, builder, imageSource, slots },
    ...{ artifacts, imageRegistry, order, rollouts, journal, counters, settings, logger, now },
  });
  const callers = new CallerCache(now, news);
  const registration = registrationOf(config);
  const attempts = createBindingAttempts({ store, provider, orphans, settings, now });
  const restore = createRestoreBindings({ store, leases, orphans, attempts, journal });
  const deploys = createDeploys({
    ...{ store, artifacts, gitHost, pipeline, act, leases, ownership, queue, order, cancelElsewhere },
    ...{ restore, logger, now },
  });
  const { probe, mailer, metricsSender } = backends;
  const metrics = createMetricsParts({
    ...{ store, logStore, provisioner, router, journal, counters, probe, settings, metricsSender, logger, now },
  });
  const { sampler } = metrics;
  const wake = (): void => webhookDeliveries.wake();
  const watches = createWatches({
    ...backends,
    ...{ store, sampler, supervisor, provisioner, journal, settings, wake, logger, now },
  });
  const workers = {
    sampler,
    accessLines,
    ...watches,
    deliveries,
    webhookDeliveries,
    auditLog,
    collector,
    ...{ leases, orphans, ownership, rollouts, removal, routes, supervisor, units, liveness },
  };
  const parts = { ...workers, counters, act, journal, unitBindings, queue, order };
  const healers = createHealers({
    healers: ownHealers({ ...backends, ...parts, logger, now }),
    external: [...config.healers].map(([name, url]) => ({ name, url })),
    externalHealers: backends.externalHealers,
    store,
    act,
    leases,
    logger,
    now,
  });
  const rounds = new HealerRounds({ healers, everyMs: config.healingIntervalSeconds * 1000, logger, now });
  const useCases: UseCases = {
    audit,
    events: createEventLog({ store, auditLog, now }),
    apps: createApps({
      store,
      builder,
      gitHost,
      rollouts,
      removal,
      routes,
      journal,
      act,
      volumeWatch: watches.volumeWatch,
      settings,
      logger,
      now,
    }),
    env: createEnv({ store, rollouts, journal, act, now }),
    releases: createReleases({ store }),
    run: createRun({ store, provisioner, journal, act, settings, now }),
    shells: createShells({ store, provisioner, journal, act, settings, now }),
    scale: createScale({ store, rollouts, journal, act, settings, now }),
    startStop: createStartStop({ store, rollouts, journal, act, now }),
    swap: createSwap({ store, routes, journal, act, now }),
    cnames: createCnames({ store, routes, journal, act, settings, proof: certificates.proof }),
    certificates: certificates.useCases,
    links: createLinks({ store, provisioner, rollouts, routes, journal, act, now }),
    appChanges: createAppChanges({ store, builder, rollouts, provisioner, journal, act, now }),
    appEdge: createAppEdge({ store, routes, journal, act }),
    edges: edges.serve(routes, act),
    appUpkeep: createAppUpkeep({ store, routes, act }),
    unitReports: createUnitReports({ store, journal }),
    diagnoses: createDiagnoses({
      store,
      provisioner,
      logStore,
      router,
      routes,
      supervisor,
      probe: backends.probe,
      settings,
      volumeWatch: watches.volumeWatch,
      now,
    }),
    registries: createRegistries({ store, act, now }),
    volumes: createVolumes({ store, host: volumeHost, provisioner, rollouts, journal, act, settings, now }),
    metrics: metrics.useCases,
    logs: createLogs({ store, logStore, journal, act, now }),
    drains: createDrains({ store, logStore, deliveries, sender: backends.drainSender, act, now }),
    webhooks: createWebhooks({ store, sender: webhookSender, wake, act, now }),
    alerts: createAlerts({ store, mailer, wake, act, now }),
    backups: createBackups({ ...backends, store, maker: watches.backupMaker, settings, act, now }),
    deploys,
    uploads: createUploads({ ...backends, deploys, holders, settings }),
    platforms: createPlatforms({ store, builder, act, now }),
    plans: createPlans({ store, act, provisioner, router, settings, now }),
    pools: createPools({ store, act, provisioner, now }),
    health: createHealth({ store, probe, host: backends.host, settings }),
    diskUse: createDiskUse({ probe, holders, settings }),
    healers,
    users: createUsers({
      store,
      act,
      now,
      callers,
      news,
      mailer,
      ...registration,
      sessionDays: config.sessionDays,
    }),
    teams: createTeams({ store, act, now, callers }),
    quotas: createQuotas({ store, act, defaults: settings.defaultLimits }),
    appTokens: createAppTokens({ store, act, now }),
    services: createServices({ store, provider, act, now }),
    instances: createInstances({ store, provider, orphans, act, now }),
    bindings: createBindings({ store, attempts, orphans, leases, rollouts, journal, act, now }),
    serviceProxy: createServiceProxy({ store, provider, act }),
  };
  return {
    useCases,
    parts,
    rounds,
    startCertificates() {
      isServing = true;
      certificates.upkeep.start();
    },
    async pruneLogs() {
      await bestEffort(logger, 'pruning the logs', async () => {
        await logStore.prune(logBounds(config, now(), await wantedRoom(backends)));
      });
    },
    startRetention() {
      const retention = createRetention({
        ...{ store, auditLog, artifacts, imageRegistry, builder, leases, order, settings, logger, now },
      });
      return repeatedly(RETAIN_EVERY_MS, (signal) => retention.run(signal));
    },
    startMetricsPush: (version) => metrics.startPush(version),
    followCertificates: () => certificates.presenter.follow(),
    async close(how) {
      provider.close();
      await edges.close();
      await certificates.upkeep.close();
      await Promise.all([orphans.close(), unitBindings.close()]);
      await rounds.close();
      await Promise.all([
        liveness.close(),
        sampler.close(),
        accessLines.close(),
        ...Object.values(watches).map((watch) => watch.close()),
      ]);
      await supervisor.close();
      await rollouts.close();
      if (how === 'all') await stopUnits(backends, units, settings.stopGraceMs);
      await collector.close();
      await deliveries.close();
      await audit.close();
      await Promise.all([webhookDeliveries.close(), auditLog.close()]);
    },
  };
}

/** Of this machine: clusters go on. The units' records stay, so the next start brings them back. */
async function stopUnits({ provisioner }: DomainBackends, units: Units, graceMs: number): Promise<void> {
  await units.close();
  for (const engine of provisioner.here) {
    const left = (await engine.list()).filter(({ state }) => state !== 'ended');
    await Promise.all(left.map((unit) => engine.stop(unit.id, graceMs)));
  }
}
