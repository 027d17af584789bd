/** Apps, deploys and logs in memory: small but honest use cases for tests of the API alone. Nothing really runs. */
import { demand } from '../../src/domain/access.ts';
import type { App, EnvVar } from '../../src/domain/apps/app.ts';
import { createEventLog } from '../../src/domain/audit/event-log.ts';
import type { Unit } from '../../src/domain/units/unit.ts';
import type { Caller } from '../../src/domain/caller.ts';
import { PlatformError } from '../../src/domain/errors.ts';
import type { UseCases } from '../../src/domain/use-cases.ts';
import { memoryAdministration } from './memory-administration.ts';
import { appsIn, PLATFORM, startedUnit } from './memory-apps.ts';
import { changesIn } from './memory-changes.ts';
import { deploysIn, finishedDeploy } from './memory-deploys.ts';
import { certificatesIn } from './memory-certificates.ts';
import { diagnosesIn } from './memory-diagnoses.ts';
import { envIn } from './memory-env.ts';
import { metricsIn } from './memory-metrics.ts';
import { logsIn } from './memory-logs.ts';
import { edgeIn } from './memory-edge.ts';
import { drainsIn } from './memory-drains.ts';
import { alertsIn } from './memory-alerts.ts';
import { edgesIn } from './memory-edges.ts';
import { backupsIn } from './memory-backups.ts';
import { webhooksIn } from './memory-webhooks.ts';
import { volumesIn } from './memory-volumes.ts';
import { releasesIn } from './memory-releases.ts';
import { runIn, shellsIn } from './memory-run.ts';
import { Memory } from './memory-state.ts';

export type MemoryPlatform = Omit<
  UseCases,
  'users' | 'teams' | 'quotas' | 'appTokens' | 'healers' | 'services' | 'instances' | 'bindings' | 'serviceProxy'
> & {
  readonly records: Map<string, App>;
  readonly units: ReadonlyMap<string, readonly Unit[]>;
  /** Asked before an app is added. */
  reserve: (owner: string) => Promise<void>;
  putEnv(app: string, variables: readonly EnvVar[]): void;
  /** Gives an app one started unit and a finished deploy. */
  deployed(name: string): void;
  /** Adds an entry and notifies followers. */
  addEntry(app: string, message: string): void;
};

const NO_EVENTS = {
  events: async () => [],
  event: async () => null,
  apps: async () => [],
  auditRows: async () => [],
  auditCheckpoints: async () => [],
  auditHead: async () => null,
  auditKey: async () => null,
  unloggedEvents: async () => [],
  firstKeptAuditRow: async () => null,
};

export function createMemoryPlatform(): MemoryPlatform {
  const memory = new Memory();
  const { records, units, deploys, entries, listeners } = memory;
  const apps = appsIn(memory);
  const refuse = async (caller: Caller, app: string): Promise<never> => {
    memory.allowed(caller, 'app.deploy', app);
    throw new PlatformError('unsupported', 'Nothing can be built in memory.');
  };
  return {
    audit: { refused() {} },
    events: createEventLog({ store: NO_EVENTS, auditLog: { sequence: async () => {} }, now: () => new Date() }),
    apps,
    env: envIn(memory),
    releases: releasesIn(memory),
    run: runIn(memory),
    unitReports: {
      register: refuse,
      report: refuse,
      known: async () => [],
      keep: refuse,
    },
    shells: shellsIn(memory),
    ...changesIn(memory),
    diagnoses: diagnosesIn(memory),
    logs: logsIn(memory),
    diskUse: {
      async report(caller) {
        demand(caller, 'server.disk');
        const holders = [{ kind: 'database', app: '', name: 'tancho.db', bytes: 4096 }] as const;
        return {
          space: { freeBytes: 2 ** 30, totalBytes: 2 ** 31, freeFiles: 900, totalFiles: 1000 },
          reserveBytes: 0,
          holders,
        };
      },
      demandSome: async () => {},
    },
    health: {
      async report(caller) {
        demand(caller, 'server.health');
        const startedAt = '2026-01-01T00:00:00.000Z';
        return {
          programs: [{ name: 'Node.js', version: '24.0.0' }],
          processes: [{ part: 'control', pid: 7, memoryBytes: 4096, cpuMs: 10, startedAt }],
          machine: { memoryTotalBytes: 2 ** 31, memoryAvailableBytes: 2 ** 30, processors: 2, load: [0.5, 1, 1.5] },
          space: { freeBytes: 2 ** 30, totalBytes: 2 ** 31, freeFiles: 900, totalFiles: 1000 },
          reserveBytes: 0,
          deploys: [{ state: 'building', count: 1 }],
          buildSlots: 2,
        };
      },
    },
    metrics: metricsIn(memory),
    volumes: volumesIn(memory),
    drains: drainsIn(memory),
    appEdge: edgeIn(memory),
    webhooks: webhooksIn(memory),
    alerts: alertsIn(),
    edges: edgesIn(),
    backups: backupsIn(),
    certificates: certificatesIn(memory),
    deploys: deploysIn(memory, apps),
    uploads: {
      archive: refuse,
      fetched: refuse,
      image: refuse,
      available: async (caller, app) => void memory.allowed(caller, 'app.deploy', app),
    },
    ...memoryAdministration(PLATFORM),
    records,
    units,
    get reserve() {
      return memory.reserve;
    },
    set reserve(check: (owner: string) => Promise<void>) {
      memory.reserve = check;
    },
    putEnv(app, variables) {
      const own = memory.envs.get(app) ?? new Map<string, EnvVar>();
      for (const variable of variables) own.set(variable.name, variable);
      memory.envs.set(app, own);
    },
    deployed(name) {
      const app = records.get(name);
      if (app === undefined) throw new Error(`no app ${name}`);
      records.set(name, { ...app, release: 1, rollout: 'r', deploys: app.deploys + 1 });
      units.set(name, [startedUnit(name)]);
      deploys.push(finishedDeploy(name, app.owner));
    },
    addEntry(app, message) {
      const unit = { unit: `${app}/0`, unitId: 'u', release: 1, source: 'web' };
      entries.push({ seq: entries.length + 1, at: new Date().toISOString(), app, message, ...unit });
      for (const listener of listeners) listener();
    },
  };
}
