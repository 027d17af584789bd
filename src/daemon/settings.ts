/** The settings of the domain, from the configuration, the machine and the addresses. */
import { availableParallelism, totalmem } from 'node:os';
import type { Backends } from '../backends/registry.ts';
import { apiDomain, type Config } from '../config/config.ts';
import type { Settings } from '../domain/settings.ts';
import { hostPort, portOf } from '../lib/host-port.ts';

const KEPT_RELEASES = 10;
const RUN_TIMEOUT_MS = 60 * 60_000;
const WATCH_AGAIN_MS = 500;
const UNIT_PROCESSES = 1024;

interface OwnAddresses {
  readonly sshPort: () => number;
  readonly publicAddress: () => string;
}

export function settingsOf(config: Config, backends: Backends, { sshPort, publicAddress }: OwnAddresses): Settings {
  return {
    domain: config.domain,
    apiDomain: apiDomain(config),
    publicAddress,
    ...(!config.ownEdge && {
      appsAt: () => hostPort({ host: publicAddress(), port: portOf(backends.router.listen) }),
    }),
    edgePort: () => portOf(backends.router.listen),
    tlsPort: () => (backends.router.tlsListen === null ? null : portOf(backends.router.tlsListen)),
    sshAddress: () => hostPort({ host: publicHost(config), port: sshPort() }),
    startTimeoutMs: config.startTimeoutSeconds * 1000,
    watch: { newMs: config.watchSeconds * 1000, againMs: WATCH_AGAIN_MS },
    drainTimeoutMs: config.drainTimeoutSeconds * 1000,
    stopGraceMs: config.stopGraceSeconds * 1000,
    unitLimits: {
      memoryBytes: config.unitMemoryBytes,
      cpuMillis: 0,
      processes: UNIT_PROCESSES,
      diskBytes: config.unitDiskBytes,
      files: config.unitFiles,
    },
    machine: { memoryBytes: totalmem(), cpuMillis: availableParallelism() * 1000 },
    keptReleases: KEPT_RELEASES,
    retention: {
      eventDays: config.eventDays,
      events: config.events,
      deployLogsPerApp: config.deployLogsPerApp,
      deploysPerApp: config.deploysPerApp,
      unusedDays: config.unusedDays,
      toolBytes: config.toolBytes,
    },
    unitDiskBytes: config.unitDiskBytes,
    unitFiles: config.unitFiles,
    diskReserveBytes: config.diskReserveBytes,
    volumeMaxBytes: config.volumeMaxBytes,
    backupEveryMs: config.backupEverySeconds * 1000,
    backupKeep: config.backupKeep,
    buildSlots: config.buildSlots ?? Math.max(1, Math.floor(availableParallelism() / 2)),
    pushReplaces: config.pushReplaces,
    runTimeoutMs: RUN_TIMEOUT_MS,
    defaultLimits: { appsPerUser: config.appsPerUser, unitsPerApp: config.unitsPerApp },
  };
}

/** Where users reach the git door: the address it is bound to, or the domain when it is bound to every address. */
function publicHost(config: Config): string {
  const { host } = config.sshListen;
  return host === '0.0.0.0' || host === '::' ? config.domain : host;
}
