/**
 * The whole domain as daemon/ wires it, inside this process: on the real stores (SQLite in a temporary directory) and on
 * backends in memory. A world can crash at any moment; the next one finds what survives a crash: stores, units, routes,
 * slugs, repositories.
 */
import { access, constants, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createSqlLogStore } from '../../src/backends/log-store/sql/index.ts';
import { createMemoryProvisioner, MemoryMachine } from '../../src/backends/provisioner/memory/memory-provisioner.ts';
import { createMemoryRouter } from '../../src/backends/router/memory/memory-router.ts';
import { createSqlStore } from '../../src/backends/store/sql/index.ts';
import type { Fault, Method } from '../../src/backends/service-endpoint/memory/faults.ts';
import { createMachineProbe } from '../../src/backends/probe/machine/machine-probe.ts';
import type { DiskSpace, MachineProbe } from '../../src/domain/diagnosis/probe.ts';
import type { ServiceEndpoint } from '../../src/domain/services/service-endpoint.ts';
import { MemoryEndpoint } from '../../src/backends/service-endpoint/memory/memory-endpoint.ts';
import { MemoryVolumes } from '../../src/backends/volume-host/memory/memory-volumes.ts';
import { createEngines } from '../../src/backends/provisioner/engines.ts';
import type { Engines } from '../../src/domain/units/engines.ts';
import { COPY_SEALER, copyOfEmpty } from './empty-databases.ts';
import { MemoryImageRegistry } from './memory-image-registry.ts';
import { MemoryArtifacts } from '../../src/backends/artifact-store/memory/memory-artifacts.ts';
import type { Provisioner, UnitSpec } from '../../src/domain/units/provisioner.ts';
import { Failure } from '../../src/domain/failure.ts';
import type { Router, RouteTable } from '../../src/domain/routes/router.ts';
import type { BackupStore } from '../../src/domain/backups/backup-store.ts';
import type { WebhookSender } from '../../src/domain/webhooks/webhook-sender.ts';
import type { UserCaller } from '../../src/domain/caller.ts';
import type { LogStore } from '../../src/domain/logs/log-store.ts';
import { UNLIMITED } from '../../src/domain/quotas/quota.ts';
import type { ProviderTimeouts } from '../../src/domain/services/provider.ts';
import type { Settings } from '../../src/domain/settings.ts';
import type { Store } from '../../src/domain/store.ts';
import { SILENT } from '../../src/lib/logger.ts';
import { type ControlOptions, createWorld, type DomainWorld } from './domain-wiring.ts';
import { MemoryBuilder, MemoryImages, MemoryRepositories } from './memory-builds.ts';

export type { DomainWorld } from './domain-wiring.ts';

/** What a crash of control leaves as it is. */
export interface Machine {
  /** Of the databases, where they are files. */
  readonly directory: string;
  readonly store: Store;
  readonly logStore: LogStore;
  readonly units: MemoryMachine;
  /** Units of pools whose engine is `elsewhere`. */
  readonly elsewhere: MemoryMachine;
  readonly router: Router;
  /** Of this machine; what names lead to and how full its disk is can be said by a test. */
  readonly probe: MachineProbe & { lost: Set<string>; space: DiskSpace };
  readonly artifacts: MemoryArtifacts;
  imageRegistry: MemoryImageRegistry | null;
  readonly builder: MemoryBuilder;
  readonly images: MemoryImages;
  /** Takes every message, unless a test says otherwise. */
  readonly webhookSender: WebhookSender & { answer: WebhookSender['send'] };
  /** Each is made, unless a test says otherwise. */
  readonly backupStore: BackupStore & { answer: BackupStore['make'] };
  readonly volumes: MemoryVolumes;
  readonly gitHost: MemoryRepositories;
  /** The provider of every service. */
  readonly endpoint: MemoryEndpoint;
  /** Asked in its place when there is one. */
  remote: ServiceEndpoint | null;
  /** How long what a provider has not answered may still come to pass there; none of those in memory does. */
  lateMs: number;
  pauses: { readonly firstMs: number; readonly longestMs: number };
  /** How it misbehaves at the next call; not at all by default. */
  fault: (method: Method) => Fault;
  deadlines: ProviderTimeouts;
  readonly settings: Settings;
  readonly now: () => Date;
  /** Lets time pass, as far as the domain asks for it. */
  pass(ms: number): void;
  /** The table that the router took last. */
  readonly table: () => RouteTable;
  /** The engines as a new control process makes them. */
  provisioner(): Engines;
  /** Makes a further control process on this machine. */
  start(options?: ControlOptions): Promise<DomainWorld>;
  dispose(): Promise<void>;
}

export const ANN: UserCaller = {
  kind: 'user',
  email: 'ann@example.com',
  isAdmin: false,
  teams: ['crew'],
  via: 'ssh-key',
  tokenHash: '',
  address: '',
};

const MEMORY_FILE_SYSTEM = '/dev/shm';

/** `elsewhere`: the engine of that name, made anew by each control where it is a function, or what one in memory runs its units on. */
export async function startDomain(
  settings: Partial<Settings> = {},
  elsewhere: Provisioner | (() => Provisioner) | MemoryMachine = new MemoryMachine(),
): Promise<DomainWorld> {
  const machine = await createMachine(settings, elsewhere);
  try {
    await addAnn(machine.store);
    return await machine.start();
  } catch (error) {
    await machine.dispose();
    throw error;
  }
}

/** Without a control, with its state in a PostgreSQL that several may share. */
export async function startMachine(databaseUrl: string, settings: Partial<Settings> = {}): Promise<Machine> {
  const machine = await createMachine(settings, new MemoryMachine(), databaseUrl);
  await addAnn(machine.store);
  return machine;
}

async function createMachine(
  settings: Partial<Settings>,
  other: Provisioner | (() => Provisioner) | MemoryMachine,
  databaseUrl: string | null = null,
): Promise<Machine> {
  const directory = await mkdtemp(join(await fastDirectory(), 'tancho-domain-'));
  const deps = { sealer: COPY_SEALER, logger: SILENT };
  const place = async (name: 'tancho.db' | 'logs.db') =>
    databaseUrl === null
      ? ({ kind: 'sqlite', file: await copyOfEmpty(name, directory) } as const)
      : ({ kind: 'postgres', url: databaseUrl } as const);
  const store = await createSqlStore(await place('tancho.db'), deps);
  const logStore = await createSqlLogStore(await place('logs.db'), deps);
  const units = new MemoryMachine();
  const volumes = new MemoryVolumes();
  units.restricted = volumes.restricted;
  const elsewhere = other instanceof MemoryMachine ? other : new MemoryMachine();
  const { router, table } = remembering(await createMemoryRouter({ listen: { host: '127.0.0.1', port: 0 } }));
  const artifacts = new MemoryArtifacts();
  const worlds: DomainWorld[] = [];
  let aheadMs = 0;
  const machine: Machine = {
    directory,
    store,
    logStore,
    units,
    elsewhere,
    router,
    probe: probeOf(directory),
    table,
    artifacts,
    imageRegistry: new MemoryImageRegistry(artifacts),
    builder: new MemoryBuilder(artifacts),
    images: new MemoryImages(artifacts),
    webhookSender: {
      answer: async () => ({ status: 204, answer: '', retryAfterMs: 0 }),
      send: (...given) => machine.webhookSender.answer(...given),
    },
    backupStore: {
      place: '/srv/backups',
      answer: async (_, at) => ({ name: 'one', madeAt: at.toISOString(), bytes: 1, version: '0.1.0' }),
      make: (...given) => machine.backupStore.answer(...given),
      list: async () => [],
    },
    volumes,
    gitHost: new MemoryRepositories(),
    endpoint: new MemoryEndpoint(),
    remote: null,
    lateMs: 0,
    pauses: { firstMs: 20, longestMs: 100 },
    fault: () => 'none',
    deadlines: { createMs: 2_000, changeMs: 2_000, lookMs: 1_000 },
    settings: {
      domain: 'apps.test',
      apiDomain: 'api.apps.test',
      publicAddress: () => '203.0.113.5',
      edgePort: () => 80,
      sshAddress: () => 'git.test:22',
      startTimeoutMs: 1_500,
      watch: { newMs: 60, againMs: 30 },
      drainTimeoutMs: 2_000,
      stopGraceMs: 200,
      unitLimits: { memoryBytes: 0, cpuMillis: 0, processes: 0 },
      machine: { memoryBytes: 8 * 1024 ** 3, cpuMillis: 4_000 },
      keptReleases: 3,
      retention: {
        eventDays: 90,
        events: 1_000,
        deployLogsPerApp: 10,
        deploysPerApp: 1_000,
        unusedDays: 30,
        toolBytes: 0,
      },
      unitDiskBytes: 0,
      unitFiles: 0,
      diskReserveBytes: 0,
      volumeMaxBytes: 0,
      backupEveryMs: 86_400_000,
      backupKeep: 7,
      buildSlots: 2,
      pushReplaces: 'waiting',
      runTimeoutMs: 2_000,
      defaultLimits: UNLIMITED,
      ...settings,
    },
    now: () => new Date(Date.now() + aheadMs),
    pass: (ms) => void (aheadMs += ms),
    provisioner: () => {
      const engine = (home: MemoryMachine) => needingSlugs(createMemoryProvisioner(home), artifacts);
      return createEngines(
        new Map([
          ['memory', engine(units)],
          ['elsewhere', other instanceof MemoryMachine ? engine(other) : typeof other === 'function' ? other() : other],
        ]),
      );
    },
    async start(options = {}) {
      const world = await createWorld(machine, options);
      worlds.push(world);
      return world;
    },
    async dispose() {
      for (const world of worlds) world.crash();
      await Promise.all([units.dispose(), elsewhere.dispose()]);
      await router.stop();
      await Promise.all([store.close(), logStore.close()]);
      await rm(directory, { recursive: true, force: true });
    },
  };
  return machine;
}

/** What a loss of power leaves is the subject of the stores' own tests; without waiting for a disk there are more cases. */
async function fastDirectory(): Promise<string> {
  try {
    await access(MEMORY_FILE_SYSTEM, constants.W_OK);
    return MEMORY_FILE_SYSTEM;
  } catch {
    return tmpdir();
  }
}

/** Connections and requests are real ones. */
function probeOf(directory: string): Machine['probe'] {
  const probe = {
    ...createMachineProbe({ directory }),
    lost: new Set<string>(),
    space: { freeBytes: 50 * 1024 ** 3, totalBytes: 100 * 1024 ** 3, freeFiles: 900, totalFiles: 1000 },
    resolves: async (host: string) => !probe.lost.has(host),
    disk: async () => probe.space,
  };
  return probe;
}

async function addAnn(store: Store): Promise<void> {
  const createdAt = new Date().toISOString();
  await store.transact(async (tx) => {
    await tx.insertUser({ email: ANN.email, passwordHash: '', isAdmin: false, createdAt });
    await tx.insertTeam({ name: 'crew', createdAt, members: [ANN.email] });
  });
}

/** A router, and the table that it took last. */
export function remembering(router: Router): { router: Router; table: () => RouteTable } {
  let last: RouteTable = { version: 0, routes: [] };
  const apply = router.apply.bind(router);
  router.apply = async (table) => {
    await apply(table);
    if (table.version > last.version) last = table;
  };
  return { router, table: () => last };
}

/** Code that was removed does not start. */
function needingSlugs(provisioner: Provisioner, artifacts: MemoryArtifacts): Provisioner {
  const demandSlug = (spec: UnitSpec): void => {
    if (!artifacts.kept.has(spec.artifact)) throw new Failure('internal', `There is no slug ${spec.artifact}.`);
  };
  const ensure = provisioner.ensure.bind(provisioner);
  const exec = provisioner.exec.bind(provisioner);
  provisioner.ensure = async (spec) => {
    demandSlug(spec);
    return ensure(spec);
  };
  provisioner.exec = async (request) => {
    demandSlug(request.unit);
    return exec(request);
  };
  return provisioner;
}
