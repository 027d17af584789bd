/** The one list of backends: which implementation serves which contract, chosen by configuration. */
import path from 'node:path';
import { apiDomain, type Config, EDGE_DOOR, tlsAddress } from '../config/config.ts';
import type { Engines } from '../domain/units/engines.ts';
import type { Provisioner } from '../domain/units/provisioner.ts';
import type { Router } from '../domain/routes/router.ts';
import type { ArtifactStore } from '../domain/artifacts/artifact-store.ts';
import type { ImageRegistry } from '../domain/artifacts/image-registry.ts';
import type { ArchiveSource } from '../domain/deploys/archive-source.ts';
import { type News, NO_NEWS } from '../domain/controls/news.ts';
import type { BackupStore } from '../domain/backups/backup-store.ts';
import type { Builder } from '../domain/deploys/builder.ts';
import type { ImageSource } from '../domain/deploys/image-source.ts';
import type { DrainSender } from '../domain/drains/drain-sender.ts';
import type { MetricsSender } from '../domain/metrics/metrics-sender.ts';
import type { WebhookSender } from '../domain/webhooks/webhook-sender.ts';
import type { DiskSurvey } from '../domain/disk/disk-survey.ts';
import { DiskWriters } from '../domain/disk/disk-writers.ts';
import type { Host } from '../domain/health/host.ts';
import type { MachineProbe } from '../domain/diagnosis/probe.ts';
import type { ExternalHealers } from '../domain/healers/external-healer.ts';
import type { LogStore } from '../domain/logs/log-store.ts';
import type { OutputCarrier } from '../domain/logs/output-carrier.ts';
import type { ServiceEndpoint } from '../domain/services/service-endpoint.ts';
import type { Store } from '../domain/store.ts';
import type { Mailer } from '../domain/users/mailer.ts';
import type { VolumeHost } from '../domain/volumes/volume-host.ts';
import { LogThread } from '../log-thread/log-thread.ts';
import { keeperArgument } from '../keeper/keeper-settings.ts';
import { backupSetOf, endUpgrade } from '../lib/backup-sets.ts';
import { type AddressGuardOptions, createAddressGuard } from '../lib/guarded/address-guard.ts';
import type { Logger } from '../lib/logger.ts';
import { IsolationUnavailable, probeSandbox } from '../sandbox/probe.ts';
import type { Sandbox, SandboxLevel } from '../sandbox/sandbox.ts';
import { openProjectQuotas } from '../lib/project-quotas.ts';
import { openSealer } from '../lib/seal.ts';
import { createHttpArchives } from './archive-source/http/http-archives.ts';
import { LocalArtifacts } from './artifact-store/local/local-artifacts.ts';
import { createPlatformBuilder } from './builder/platform/platform-builder.ts';
import { createNetworkSender } from './drain-sender/network/network-sender.ts';
import { createHttpWebhooks } from './webhook-sender/http/http-webhooks.ts';
import { createHttpHealers } from './external-healer/http/http-healers.ts';
import { type BareRepos, createBareRepos } from './git-host/bare-repos/bare-repos.ts';
import { createSqlLogStore } from './log-store/sql/index.ts';
import { createRegistryImages } from './image-source/registry/registry-images.ts';
import { createRegistryPushes } from './image-source/registry/registry-pushes.ts';
import { createOutboxMailer } from './mailer/outbox/outbox-mailer.ts';
import { createSmtpMailer } from './mailer/smtp/smtp-mailer.ts';
import { createHomeSurvey } from './disk-survey/home/home-survey.ts';
import { createMachineHost } from './host/machine/machine-host.ts';
import { createMachineProbe } from './probe/machine/machine-probe.ts';
import { createEngines } from './provisioner/engines.ts';
import { createProcessProvisioner } from './provisioner/process/process-provisioner.ts';
import type { EdgeRouterOptions } from './router/edge/edge-options.ts';
import { edgePrecedence } from './router/edge/edge-precedence.ts';
import type { KeeperWaiter } from './router/edge/keeper-waiter.ts';
import { userBeside, userOfEdge } from './router/edge/edge-user.ts';
import { createEdgeRouter } from './router/edge/edge-router.ts';
import { openNoEdge } from './router/edge/no-edge.ts';
import { createServiceEndpoints } from './service-endpoint/index.ts';
import { createSqlStore, type SqlStoreOptions } from './store/sql/index.ts';
import { createDirectoryVolumes } from './volume-host/directory/directory-volumes.ts';

type Closing = 'all' | 'leave-units' | 'failed start';

export interface Backends {
  readonly store: Store;
  readonly logStore: LogStore;
  /** Null: what units print is carried where everything else is done. */
  readonly outputCarrier: OutputCarrier | null;
  readonly provisioner: Engines;
  /** Apps share the network of the machine, by users of their own or by its own; null: none does. */
  readonly sharedNetwork: Pick<Sandbox, 'users'> | null;
  readonly router: Router;
  /** Who the edge is, where it is not who the server is. */
  readonly edgeUser: number | null;
  readonly builder: Builder;
  readonly diskWriters: DiskWriters;
  readonly gitHost: BareRepos;
  readonly mailer: Mailer;
  readonly archiveSource: ArchiveSource;
  readonly artifacts: ArtifactStore;
  /** Null: artifacts are pushed nowhere. */
  readonly imageRegistry: ImageRegistry | null;
  readonly imageSource: ImageSource;
  readonly serviceEndpoint: ServiceEndpoint;
  readonly externalHealers: ExternalHealers;
  readonly drainSender: DrainSender;
  readonly webhookSender: WebhookSender;
  /** Null: no backups are made. */
  readonly backupStore: BackupStore | null;
  /** Null: metrics are sent nowhere. */
  readonly metricsSender: MetricsSender | null;
  readonly probe: MachineProbe;
  readonly diskSurvey: DiskSurvey;
  readonly host: Host;
  readonly volumeHost: VolumeHost;
  /**
   * Lets go of everything; the units are not touched. The router goes on serving after `leave-units`, ends with `all`, and
   * after a start that failed goes on only if it served before.
   */
  close(how: Closing): Promise<void>;
}

interface BackendOptions {
  /** Of this program. */
  readonly version: string;
  readonly logger: Logger;
  /** Text of the git hook that makes a push a deploy. */
  readonly preReceive: string;
  /** Whether providers on this machine may be called unless the configuration says so. */
  readonly allowLoopback: boolean;
  /** Ports that this program listens on; never called for users. */
  readonly ownPorts: () => readonly number[];
  /** Has somebody stand in for control once it is not there. */
  readonly keeper: KeeperWaiter;
  /** Directory of the program, with `edge/main.js` and `../platforms`. */
  readonly programDir: string;
  /** Called once the state can be read: what follows mostly waits for other processes. */
  readonly onReading: () => void;
}

/** Closed with all others. */
type Keep = <T extends { close(): Promise<void> }>(opening: Promise<T>) => Promise<T>;

/** Opens the stores, then everything else at once; when one cannot be had, the others are closed again. */
export async function openBackends(config: Config, options: BackendOptions): Promise<Backends> {
  const { logger, allowLoopback, ownPorts } = options;
  const addresses = { allow: config.providersAllow, allowLoopback, ownPorts };
  const home = (...parts: string[]): string => path.join(config.home, ...parts);
  const closers: Backends['close'][] = [];
  const close: Backends['close'] = async (how) => {
    for (const closer of closers.reverse()) await closer(how);
  };
  const keep: Keep = async (opening) => {
    const value = await opening;
    closers.push(() => value.close());
    return value;
  };

  const artifacts = new LocalArtifacts(home('slugs'));
  const images = imagesOf(config, addresses, artifacts);
  const user = config.ownEdge ? userOfEdge(config, logger) : Promise.resolve(null);
  // A program that cannot read the state, being older or without its database, leaves alone what runs and serves: so this is first.
  const reading = openStores(config, logger, keep);
  const known = Promise.all([user, reading]);
  reading.then(options.onReading, () => undefined);
  const level = Promise.withResolvers<SandboxLevel>();
  const opened = known.then(([edgeUser]) => keep(openSandbox(config, logger, { edgeUser, onLevel: level.resolve })));
  // Whoever needs it hears of it; where there is no level, an edge that serves is left alone.
  opened.catch(level.reject);
  level.promise.catch(() => undefined);

  const clusters = reading.then(() => openClusters(config, logger, keep));
  clusters.catch(() => undefined);

  const openEngine = async (): Promise<
    Pick<Backends, 'provisioner' | 'sharedNetwork' | 'builder' | 'diskWriters' | 'volumeHost'>
  > => {
    const sandbox = await opened;
    const volumes = home('volumes');
    const [sealer, quotas] = [await openSealer(home('secret.key')), await openProjectQuotas(config.home)];
    const kept = { units: home('units'), volumes, sealer, quotas };
    const guard = createAddressGuard(addresses);
    const writers = new DiskWriters(createHomeSurvey({ home: config.home }));
    const processes = { sandbox, artifacts, ...kept, writers, logger, guard };
    // That of this machine is the first, where it is wanted.
    const here = config.processEngine ? [await keep(createProcessProvisioner(processes))] : [];
    const engines = here.map((units): [string, Provisioner] => [units.name, units]);
    const provisioner = createEngines(new Map([...engines, ...(await clusters)]), logger);
    const builder = await createPlatformBuilder({
      platformFiles: path.join(options.programDir, '..', 'platforms'),
      ...{ artifacts, cache: home('cache'), toolchains: home('toolchains') },
      images: images.imageSource,
      ...(config.imageBuilder !== null && { imageBuilder: config.imageBuilder }),
      keepsImages: config.imageRegistry !== null,
      bases: { names: config.imageBases, directory: home('bases'), home: config.home },
      ...{ sandbox, writers },
      buildTimeoutMs: config.buildTimeoutSeconds * 1000,
      buildMemoryBytes: config.buildMemoryBytes,
      logger,
    });
    const volumeHost = await createDirectoryVolumes({ root: volumes, sandbox, quotas });
    return { provisioner, sharedNetwork: sandbox.networks ? null : sandbox, builder, diskWriters: writers, volumeHost };
  };

  const openGitHost = async (): Promise<Pick<Backends, 'gitHost'>> => ({
    gitHost: await keep(reposOf(config, options)),
  });

  const routing = known.then(([edgeUser]) =>
    openRouter(config, options, { opened, level: level.promise, user: edgeUser, closers }),
  );
  const opening = [reading, openEngine(), routing, openGitHost(), clusters] as const;
  try {
    const [stores, engine, router, gitHost] = await Promise.all(opening);
    const mailer = openMailer(config, home('mail'), logger);
    const outward = outwardBackends(config, addresses, logger);
    const metricsSender = await openMetricsSender(config, addresses);
    const sent = { mailer, metricsSender, backupStore: await openBackupStore(config, options.version, logger) };
    return { ...stores, ...engine, ...router, ...gitHost, ...sent, artifacts, ...images, ...outward, close };
  } catch (error) {
    await Promise.allSettled(opening);
    await close('failed start');
    throw error;
  }
}

interface RouterParts {
  readonly opened: Promise<Sandbox>;
  readonly level: Promise<SandboxLevel>;
  readonly user: number | null;
  readonly closers: Backends['close'][];
}

async function openRouter(
  config: Config,
  { logger, allowLoopback, programDir, keeper }: BackendOptions,
  { opened, level, user: wanted, closers }: RouterParts,
): Promise<Pick<Backends, 'router' | 'edgeUser'>> {
  const places = { stateDir: path.join(config.home, 'edge'), runDir: path.join(config.home, 'run') };
  const settings = edgeSettings(config, allowLoopback);
  if (!config.ownEdge) return { router: await openNoEdge({ ...places, ...settings }), edgeUser: null };
  const user = userBeside(level, wanted, logger);
  const precedence = edgePrecedence(opened, logger);
  const router = await createEdgeRouter({
    ...{ ...places, ...settings, user, programDir, logger },
    platform: { hosts: [apiDomain(config)], socket: path.join(places.runDir, EDGE_DOOR) },
    onServing: precedence.onServing,
  });
  // Opened beside the sandbox, it is closed before it, and nobody stands in for a control that has none yet.
  await opened.catch(() => undefined);
  const isToServe = (how: Closing): boolean => how === 'leave-units' || (how === 'failed start' && router.hasServed);
  if (router.keeperCommand !== null && !(await keeper.wait(router.keeperCommand)))
    logger.warn({}, 'xargs is missing: while this server is away, nobody starts units again that die');
  closers.push(async (how) => {
    if (isToServe(how)) return router.close();
    await keeper.cancel();
    await router.stop();
    await precedence.clear();
  });
  return { router, edgeUser: await user };
}

type Stores = Pick<Backends, 'store' | 'logStore' | 'outputCarrier'>;

/** Most servers have none, and load nothing of it. */
async function openClusters({ engines }: Config, logger: Logger, keep: Keep): Promise<[string, Provisioner][]> {
  if (engines.size === 0) return [];
  const { openKubernetes } = await import('./provisioner/kubernetes/open-kubernetes.ts');
  const opening = [...engines].map(async ([name, cluster]): Promise<[string, Provisioner]> => [
    name,
    await keep(openKubernetes(name, cluster, logger)),
  ]);
  return Promise.all(opening);
}

async function openStores(config: Config, logger: Logger, keep: Keep): Promise<Stores> {
  const sealer = await openSealer(path.join(config.home, 'secret.key'));
  const place = databasePlaces(config);
  const store = await keep(createSqlStore(place('tancho.db'), { sealer, logger }));
  const thread = new LogThread(place('logs.db'), logger);
  const logStore = await keep(createSqlLogStore(place('logs.db'), { logger }).then((own) => thread.writing(own)));
  await endUpgrade(config.home);
  return { store, logStore, outputCarrier: thread };
}

/** What other controls do; of those that share a PostgreSQL. */
export async function openNews({ databaseUrl }: Config, logger: Logger): Promise<News> {
  if (databaseUrl === null) return NO_NEWS;
  const { createPostgresNews } = await import('./news/postgres/postgres-news.ts');
  return createPostgresNews({ url: databaseUrl, logger });
}

function reposOf(config: Config, { preReceive, logger }: BackendOptions): Promise<BareRepos> {
  const { home, repositoryBytes: maxRepositoryBytes } = config;
  return createBareRepos({ root: path.join(home, 'repos'), preReceive, maxRepositoryBytes, logger });
}

function imagesOf(
  config: Config,
  addresses: AddressGuardOptions,
  artifacts: ArtifactStore,
): Pick<Backends, 'imageSource' | 'imageRegistry'> {
  const { home, registries: logins, insecureRegistries: insecure, buildTimeoutSeconds } = config;
  const timeoutMs = buildTimeoutSeconds * 1000;
  const directory = path.join(home, 'images');
  const roots = config.imageRoots;
  const common = { addresses, artifacts, logins, insecure, timeoutMs, roots };
  const { imageRegistry: place, imageBases: bases } = config;
  return {
    imageSource: createRegistryImages({ ...common, blobs: directory }),
    imageRegistry:
      place === null
        ? null
        : createRegistryPushes({ ...common, place, bases, directory: path.join(directory, 'pushes') }),
  };
}

type Outward = Pick<
  Backends,
  | 'serviceEndpoint'
  | 'archiveSource'
  | 'drainSender'
  | 'webhookSender'
  | 'probe'
  | 'diskSurvey'
  | 'host'
  | 'externalHealers'
>;

function outwardBackends({ home }: Config, addresses: AddressGuardOptions, logger: Logger): Outward {
  return {
    serviceEndpoint: createServiceEndpoints({ ...addresses, logger }),
    archiveSource: createHttpArchives(addresses),
    drainSender: createNetworkSender({ guard: createAddressGuard(addresses) }),
    webhookSender: createHttpWebhooks({ guard: createAddressGuard(addresses) }),
    probe: createMachineProbe({ directory: home }),
    diskSurvey: createHomeSurvey({ home }),
    host: createMachineHost({ runDir: path.join(home, 'run') }),
    externalHealers: createHttpHealers({ guard: createAddressGuard(addresses) }),
  };
}

async function openMetricsSender(
  { metricsOtlpUrl: url, metricsOtlpHeaders: headers }: Config,
  addresses: AddressGuardOptions,
): Promise<MetricsSender | null> {
  if (url === null) return null;
  const { createOtlpSender } = await import('./metrics-sender/otlp/otlp-sender.ts');
  return createOtlpSender({ url, headers, guard: createAddressGuard(addresses) });
}

async function openBackupStore(config: Config, version: string, logger: Logger): Promise<BackupStore | null> {
  const { home, backupDirectory: directory, backupKeep: keep, databaseUrl } = config;
  if (directory === null) return null;
  const { createDirectoryBackups } = await import('./backup-store/directory/directory-backups.ts');
  const databases = databaseUrl === null ? ['tancho.db', 'logs.db'] : [];
  const sealer = await openSealer(path.join(home, 'secret.key'));
  const openState = (file: string): Promise<Store> => createSqlStore({ kind: 'sqlite', file }, { sealer, logger });
  return createDirectoryBackups({ home, directory, keep, version, databases, openState });
}

/** Where a database of this name lies; what an upgrade copies at this start is kept together. */
function databasePlaces({ home, databaseUrl: url }: Config): (name: string) => SqlStoreOptions {
  const backups = backupSetOf(home, new Date());
  return (name) =>
    url === null ? { kind: 'sqlite', file: path.join(home, name), backups } : { kind: 'postgres', url };
}

async function openSandbox(
  config: Config,
  logger: Logger,
  told: { readonly edgeUser: number | null; readonly onLevel: (level: SandboxLevel) => void },
): Promise<Sandbox> {
  const { edgeUser, onLevel } = told;
  const { home, isolation: level, network: mode, networkAllow: allowed } = config;
  const [stateDir, network] = [path.join(home, 'sandbox'), { mode, allowed, edgeUser }];
  const sandbox = await probeSandbox({ stateDir, home, level, network, onLevel, logger });
  if (sandbox.level !== 'plain' || config.registration !== 'open') return sandbox;
  await sandbox.close();
  throw new IsolationUnavailable(
    'Registration is open to everybody (auth.registration), and this machine keeps apps apart from nothing: whoever comes could read and end all of it.',
    'Close it (TANCHO_AUTH_REGISTRATION=closed), or install bubblewrap and start the server as root.',
  );
}

function openMailer({ mailUrl: url, mailFrom: from }: Config, directory: string, logger: Logger): Mailer {
  const now = (): Date => new Date();
  const mailer =
    url === null ? createOutboxMailer({ directory, from, now, logger }) : createSmtpMailer({ url, from, now, logger });
  logger.info({ mailer: mailer.description }, 'letters go to');
  return mailer;
}

function edgeSettings(
  config: Config,
  allowLoopback: boolean,
): Pick<
  EdgeRouterOptions,
  'listen' | 'tls' | 'hstsSeconds' | 'http2' | 'workers' | 'handoverMs' | 'trustedProxies' | 'proxyProtocol' | 'keeper'
> {
  const { edgeListen: listen, edgeWorkers: workers, trustedProxies, proxyProtocol } = config;
  const { home, isolation, network, networkAllow, providersAllow, hstsSeconds, http2 } = config;
  const tls = tlsAddress(config);
  const keeper = keeperArgument({
    ...{ home, isolation, network, networkAllow, providersAllow, allowLoopback },
    ownPorts: [config.apiListen, config.edgeListen, config.sshListen, ...(tls === null ? [] : [tls])].map(
      ({ port }) => port,
    ),
    path: process.env['PATH'] ?? '',
    stopGraceMs: config.stopGraceSeconds * 1000,
  });
  const handoverMs = config.edgeHandoverSeconds * 1000;
  return { listen, tls, hstsSeconds, http2, workers, handoverMs, trustedProxies, proxyProtocol, keeper };
}
