/**
 * The only file that wires: configuration -> backends -> domain -> doors. Starts the platform in an order in which a crash
 * at any point is harmless, and stops it in the reverse one.
 */
import { mkdir } from 'node:fs/promises';
import { availableParallelism, hostname, totalmem } from 'node:os';
import path from 'node:path';
import { type ApiServer, createApiServer } from './api/server.ts';
import { type Backends, openBackends } from './backends/registry.ts';
import type { Config } from './config/config.ts';
import { createAppTokens } from './domain/app-tokens/app-tokens.ts';
import { createAct } from './domain/act.ts';
import { createUnitReports } from './domain/apps/unit-reports.ts';
import { createAppChanges } from './domain/apps/app-changes.ts';
import { createAppUpkeep } from './domain/apps/app-upkeep.ts';
import { createApps } from './domain/apps/apps.ts';
import { createCnames } from './domain/apps/cnames.ts';
import { createEnv } from './domain/apps/env.ts';
import { createRemoval } from './domain/apps/removal.ts';
import { Rollouts } from './domain/apps/rollouts.ts';
import { Routes } from './domain/apps/routes.ts';
import { createRun } from './domain/apps/run.ts';
import { createScale } from './domain/apps/scale.ts';
import { createShells } from './domain/apps/shells.ts';
import { createStartStop } from './domain/apps/start-stop.ts';
import { createSwap } from './domain/apps/swap.ts';
import { Supervisor } from './domain/apps/supervisor.ts';
import { Units } from './domain/apps/units.ts';
import { createDeploys } from './domain/deploys/deploys.ts';
import { Pipeline } from './domain/deploys/pipeline.ts';
import { createUploads } from './domain/deploys/uploads.ts';
import { createHealers } from './domain/healers/healers.ts';
import { ownHealers } from './domain/healers/own-healers.ts';
import { HealerRounds } from './domain/healers/rounds.ts';
import { Leases } from './domain/leases.ts';
import { Collector } from './domain/logs/collector.ts';
import { Journal } from './domain/logs/journal.ts';
import { createLogs } from './domain/logs/logs.ts';
import { createPlans } from './domain/plans/plans.ts';
import { createPlatforms } from './domain/platforms/platforms.ts';
import { createPools } from './domain/pools/pools.ts';
import { createQuotas } from './domain/quotas/quotas.ts';
import { recover } from './domain/recovery.ts';
import { createRetention } from './domain/retention.ts';
import { takeSeat } from './domain/seat.ts';
import { createBindings } from './domain/services/bindings.ts';
import { createInstances } from './domain/services/instances.ts';
import { Orphans } from './domain/services/orphans.ts';
import { Provider } from './domain/services/provider.ts';
import { createServiceProxy } from './domain/services/service-proxy.ts';
import { createServices } from './domain/services/services.ts';
import { UnitBindings } from './domain/services/unit-bindings.ts';
import type { Settings } from './domain/settings.ts';
import { createTeams } from './domain/teams/teams.ts';
import type { UseCases } from './domain/use-cases.ts';
import { CallerCache } from './domain/users/caller-cache.ts';
import { ensureFirstAdmin } from './domain/users/first-admin.ts';
import { createUsers } from './domain/users/users.ts';
import { PRE_RECEIVE } from './git-push/hook.ts';
import { createGitHttp } from './git-push/http.ts';
import { createGitSessions, type GitSessions } from './git-push/sessions.ts';
import { createSshDoor, type SshDoor } from './git-push/ssh.ts';
import { claimHome } from './lib/home-claim.ts';
import type { Logger } from './lib/logger.ts';
import { ownName } from './lib/own-name.ts';
import { repeatedly } from './lib/repeatedly.ts';
import { openServerLog } from './lib/server-log.ts';

export interface Daemon {
  readonly ready: { readonly apiUrl: string; readonly edgeAddress: string; readonly sshAddress: string };
  /** On the first start only. */
  readonly firstAdmin: { readonly email: string; readonly password: string } | null;
  /** What this machine gives to units: isolation and limits, one line. */
  readonly isolation: string;
  /** `all` ends the apps too; `leave-units` lets them run, to be adopted at the next start. */
  stop(how: 'all' | 'leave-units'): Promise<void>;
}

const BODY_LIMIT_BYTES = 8 * 1024 * 1024;
const KEPT_RELEASES = 10;
const RUN_TIMEOUT_MS = 60 * 60_000;
const UNIT_PROCESSES = 1024;
const PRUNE_EVERY_MS = 60_000;
const RETAIN_EVERY_MS = 10 * 60_000;

export async function startDaemon(config: Config, options: { version: string }): Promise<Daemon> {
  const runDir = path.join(config.home, 'run');
  await mkdir(runDir, { recursive: true, mode: 0o711 });
  const release = await claimHome(path.join(runDir, 'control.pid'));
  try {
    const log = await openServerLog(path.join(config.home, 'log'));
    const ownPorts = new Set([config.apiListen, config.edgeListen, config.sshListen].map((listen) => listen.port));
    const backends = await openBackends(config, {
      logger: log.logger,
      preReceive: PRE_RECEIVE,
      allowLoopback: LOOPBACK.test(config.apiListen.host),
      ownPorts: () => [...ownPorts],
      programDir: import.meta.dirname,
    });
    try {
      const { logger, close: closeLog } = log;
      return await serve(config, backends, { ...options, logger, runDir, release, closeLog, ownPorts });
    } catch (error) {
      await backends.close('failed start');
      throw error;
    }
  } catch (error) {
    await release();
    throw error;
  }
}

interface ServeOptions {
  readonly version: string;
  readonly logger: Logger;
  readonly runDir: string;
  readonly release: () => Promise<void>;
  readonly closeLog: () => Promise<void>;
  /** Completed once everything listens. */
  readonly ownPorts: Set<number>;
}

async function serve(config: Config, backends: Backends, options: ServeOptions): Promise<Daemon> {
  const { logger } = options;
  const now = (): Date => new Date();
  let isReady = false;
  let doors: Doors | null = null;
  const settings = settingsOf(config, backends, () => doors?.ssh.address.port ?? config.sshListen.port);
  const owner = `${hostname()}-${await ownName(path.join(options.runDir, 'control.name'))}`;
  const seat = await takeSeat(backends.store, { owner, onLost: () => giveUp(logger) });
  const firstAdmin = await ensureFirstAdmin({ store: backends.store, now }, config.admin);
  const domain = createDomain(config, backends, { settings, logger, now, owner });
  const { background, ...recovered } = await recover({ ...backends, ...domain.parts, logger, now });
  logger.info(recovered, 'recovered');
  doors = await openDoors(config, backends, domain.useCases, options, () => isReady);
  isReady = true;
  domain.rounds.start();
  const pruning = setInterval(() => void domain.pruneLogs(), PRUNE_EVERY_MS);
  const stopRetention = domain.startRetention();
  const { api, ssh, sessions } = doors;
  for (const port of [api.address.port, ssh.address.port, settings.edgePort()]) options.ownPorts.add(port);

  return {
    ready: {
      apiUrl: `http://${place(fromHere(api.address))}`,
      edgeAddress: backends.router.listen,
      sshAddress: place(fromHere(ssh.address)),
    },
    firstAdmin,
    isolation: backends.provisioner.description,
    async stop(how) {
      isReady = false;
      clearInterval(pruning);
      await stopRetention();
      // First, so that pushers are told before their connections end.
      await sessions.close();
      await Promise.all([api.close(), ssh.close()]);
      await background;
      await domain.close(how);
      await seat.leave();
      await backends.close();
      await options.release();
      await options.closeLog();
    },
  };
}

/** Units and edge go on; what this control was doing is finished or undone by whoever has the store now. */
function giveUp(logger: Logger): void {
  logger.error({}, 'another server has taken over the database: this one stops');
  process.kill(process.pid, 'SIGTERM');
}

function settingsOf(config: Config, backends: Backends, sshPort: () => number): Settings {
  return {
    domain: config.domain,
    edgePort: () => portOf(backends.router.listen),
    sshAddress: () => place({ host: publicHost(config), port: sshPort() }),
    startTimeoutMs: config.startTimeoutSeconds * 1000,
    drainTimeoutMs: config.drainTimeoutSeconds * 1000,
    stopGraceMs: config.stopGraceSeconds * 1000,
    unitLimits: { memoryBytes: config.unitMemoryBytes, cpuMillis: 0, processes: UNIT_PROCESSES },
    machine: { memoryBytes: totalmem(), cpuMillis: availableParallelism() * 1000 },
    keptReleases: KEPT_RELEASES,
    retention: {
      eventDays: config.eventDays,
      events: config.events,
      deployLogsPerApp: config.deployLogsPerApp,
    },
    runTimeoutMs: RUN_TIMEOUT_MS,
    defaultLimits: { appsPerUser: config.appsPerUser, unitsPerApp: config.unitsPerApp },
  };
}

/** Where users reach the git door: the address it is bound to, or the domain when it is bound to every address. */
function publicHost(config: Config): string {
  const { host } = config.sshListen;
  return host === '0.0.0.0' || host === '::' ? config.domain : host;
}

interface Domain {
  readonly useCases: UseCases;
  readonly rounds: HealerRounds;
  readonly parts: Pick<
    Parameters<typeof recover>[0],
    'collector' | 'leases' | 'orphans' | 'rollouts' | 'removal' | 'routes' | 'supervisor' | 'units'
  >;
  pruneLogs(): Promise<void>;
  /** Removes what is too old, now and then, until the returned function is called and resolves. */
  startRetention(): () => Promise<void>;
  close(how: 'all' | 'leave-units'): Promise<void>;
}

interface DomainOptions {
  readonly settings: Settings;
  readonly logger: Logger;
  readonly now: () => Date;
  /** Of leases. The home is claimed, so whoever had the same name before is dead and its leases are ours at once. */
  readonly owner: string;
}

function createDomain(config: Config, backends: Backends, options: DomainOptions): Domain {
  const { settings, logger, now, owner } = options;
  const { store, logStore, provisioner, router, builder, gitHost } = backends;
  const journal = new Journal({ logStore, now, logger });
  const collector = new Collector({ provisioner, logStore, journal, logger });
  const leases = new Leases(store, owner);
  const act = createAct({ store, leases, logger, now });
  const provider = new Provider(backends.serviceEndpoint);
  const orphans = new Orphans({ store, provider, leases, logger });
  const unitBindings = new UnitBindings({ store, provider, leases, journal, logger });
  const onPublished = (): void => unitBindings.changed();
  const routes = new Routes({ store, router, domain: config.domain, logger, now, onPublished });
  const units = new Units({ store, provisioner, collector, journal, logStore, settings, logger, now });
  const supervisor = new Supervisor({ store, provisioner, routes, units, journal, logger, now });
  const rollouts = new Rollouts({ store, units, routes, router, settings, logger, now });
  const removal = createRemoval({
    store,
    units,
    routes,
    router,
    builder,
    gitHost,
    logStore,
    orphans,
    settings,
    logger,
  });
  const pipeline = new Pipeline({ store, builder, rollouts, journal, settings, logger, now });
  const callers = new CallerCache(now);
  const registration = registrationOf(config);
  const deploys = createDeploys({ store, builder, gitHost, pipeline, act, logger, now });
  const parts = { collector, leases, orphans, rollouts, removal, routes, supervisor, units };
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
    apps: createApps({ store, builder, gitHost, rollouts, removal, journal, act, settings, logger, now }),
    env: createEnv({ store, rollouts, journal, act, now }),
    run: createRun({ store, provisioner, journal, act, settings }),
    shells: createShells({ store, provisioner, journal, act, settings }),
    scale: createScale({ store, rollouts, journal, act, settings, now }),
    startStop: createStartStop({ store, rollouts, journal, act, now }),
    swap: createSwap({ store, routes, journal, act }),
    cnames: createCnames({ store, routes, journal, act, settings }),
    appChanges: createAppChanges({ store, builder, rollouts, journal, act, now }),
    appUpkeep: createAppUpkeep({ store, routes, act }),
    unitReports: createUnitReports({ store, journal }),
    logs: createLogs({ store, logStore, journal, act, now }),
    deploys,
    uploads: createUploads({ ...backends, deploys }),
    platforms: createPlatforms({ store, builder, act, now }),
    plans: createPlans({ store, act, provisioner, router, settings, now }),
    pools: createPools({ store, act, now }),
    healers,
    users: createUsers({
      store,
      act,
      now,
      callers,
      mailer: backends.mailer,
      ...registration,
      sessionDays: config.sessionDays,
    }),
    teams: createTeams({ store, act, now, callers }),
    quotas: createQuotas({ store, act, defaults: settings.defaultLimits }),
    appTokens: createAppTokens({ store, act, now }),
    services: createServices({ store, provider, act, now }),
    instances: createInstances({ store, provider, orphans, act, now }),
    bindings: createBindings({ store, provider, orphans, leases, rollouts, journal, act, settings, now }),
    serviceProxy: createServiceProxy({ store, provider, act }),
  };
  return {
    useCases,
    parts,
    rounds,
    async pruneLogs() {
      const bounds = { entriesPerApp: config.logEntriesPerApp, bytesPerApp: config.logBytesPerApp };
      await logStore.prune(bounds).catch((error: unknown) => logger.warn({ err: error }, 'pruning the logs failed'));
    },
    startRetention() {
      const retention = createRetention({ store, builder, leases, settings, logger, now });
      return repeatedly(RETAIN_EVERY_MS, (signal) => retention.run(signal));
    },
    async close(how) {
      provider.close();
      await Promise.all([orphans.close(), unitBindings.close()]);
      await rounds.close();
      await supervisor.close();
      await rollouts.close();
      if (how === 'all') await stopUnits(backends, settings.stopGraceMs);
      await collector.close();
    },
  };
}

/** The units' records stay, so the next start brings them back. */
async function stopUnits(backends: Backends, graceMs: number): Promise<void> {
  const running = (await backends.provisioner.list()).filter((unit) => unit.running);
  await Promise.all(running.map((unit) => backends.provisioner.stop(unit.id, graceMs)));
}

interface Doors {
  readonly api: ApiServer;
  readonly ssh: SshDoor;
  readonly sessions: GitSessions;
}

async function openDoors(
  config: Config,
  backends: Backends,
  useCases: UseCases,
  options: ServeOptions,
  ready: () => boolean,
): Promise<Doors> {
  const { logger } = options;
  const sessions = createGitSessions({
    repositories: backends.gitHost,
    apps: useCases.apps,
    deploys: useCases.deploys,
    logger,
  });
  const ssh = await createSshDoor({
    listen: config.sshListen,
    hostKeyFile: path.join(config.home, 'ssh_host_ed25519_key'),
    users: useCases.users,
    sessions,
    logger,
  });
  try {
    const api = await createApiServer({
      useCases,
      listen: config.apiListen,
      socketPath: path.join(options.runDir, 'api.sock'),
      version: options.version,
      logger,
      bodyLimitBytes: BODY_LIMIT_BYTES,
      ready,
      stateVersion: () => backends.store.version(),
      gitHandler: createGitHttp({ users: useCases.users, sessions, logger }),
    });
    return { api, ssh, sessions };
  } catch (error) {
    await ssh.close();
    throw error;
  }
}

const LOOPBACK = /^(?:127\.|::1$|localhost$)/;

function registrationOf(config: Config): { registrationOpen: boolean; registrationFromHereOnly: boolean } {
  const isAuto = config.registration === 'auto';
  return {
    registrationOpen: isAuto ? LOOPBACK.test(config.apiListen.host) : config.registration === 'open',
    registrationFromHereOnly: isAuto,
  };
}

/** An address that can be connected to on this machine: a door bound to every address is also behind loopback. */
function fromHere(address: { readonly host: string; readonly port: number }): { host: string; port: number } {
  const loopback: Record<string, string> = { '0.0.0.0': '127.0.0.1', '::': '::1' };
  return { host: loopback[address.host] ?? address.host, port: address.port };
}

function place(address: { readonly host: string; readonly port: number }): string {
  return `${address.host.includes(':') ? `[${address.host}]` : address.host}:${address.port}`;
}

function portOf(listen: string): number {
  return Number(listen.slice(listen.lastIndexOf(':') + 1));
}
