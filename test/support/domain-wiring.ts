/** One control process of a domain world: the domain as daemon/ wires it, with every backend behind a border of faults. */
import { createHttpArchives } from '../../src/backends/archive-source/http/http-archives.ts';
import { misbehaving } from '../../src/backends/service-endpoint/memory/faults.ts';
import { createDomain, type Domain, type DomainConfig } from '../../src/daemon/domain.ts';
import type { AppView } from '../../src/domain/apps/apps.ts';
import { takeControlLease } from '../../src/domain/controls/control-lease.ts';
import { Controls, type ControlsTiming } from '../../src/domain/controls/controls.ts';
import { type News, NO_NEWS } from '../../src/domain/controls/news.ts';
import { createTakeOver } from '../../src/domain/take-over.ts';
import { DiskWriters } from '../../src/domain/disk/disk-writers.ts';
import type { Router, RouteTable } from '../../src/domain/routes/router.ts';
import type { Lease } from '../../src/domain/store.ts';
import { Fence } from '../../src/domain/fence.ts';
import type { Engines } from '../../src/domain/units/engines.ts';
import type { Deploy, NewCode } from '../../src/domain/deploys/deploy.ts';
import type { GitHost } from '../../src/domain/deploys/git-host.ts';
import { recover, type Recovered } from '../../src/domain/recovery.ts';
import type { UseCases } from '../../src/domain/use-cases.ts';
import { randomHex } from '../../src/lib/ids.ts';
import type { Logger } from '../../src/lib/logger.ts';
import { ANN, type Machine } from './domain-world.ts';
import { Faults } from './faults.ts';
import { PLATFORM_NAME, type Recipe } from './memory-builds.ts';

export interface DomainWorld {
  readonly machine: Machine;
  readonly faults: Faults;
  readonly useCases: UseCases;
  /** `provisioner` without the border, to be closed at the moment of a crash. */
  readonly parts: Domain['parts'] & { readonly provisioner: Engines };
  /** That its router took last. */
  readonly table: () => RouteTable;
  /** Of one among several. */
  readonly controls: Controls | null;
  readonly recovered: Recovered;
  /** What the domain logged as a warning or an error. */
  readonly complaints: readonly string[];
  createApp(name: string): Promise<AppView>;
  /** Commits a recipe and deploys it. */
  deploy(app: string, recipe?: Recipe, options?: DeployOptions): Promise<Deploy>;
  setEnv(app: string, vars: Readonly<Record<string, string>>, options?: { noRestart?: boolean }): Promise<void>;
  unsetEnv(app: string, ...names: string[]): Promise<void>;
  restart(app: string): Promise<void>;
  remove(app: string): Promise<void>;
  /** Resolves when nothing goes on in the background. */
  settled(): Promise<void>;
  /** What a server that ends does with what its start still does. */
  leaveTidying(): Promise<void>;
  /** From here on nothing of this world has an effect, and whoever waits for it waits for ever. Units and routes stay. */
  crash(): void;
  /** The control process after this one, which crashes unless it has; recovered and ready to serve. */
  next(): Promise<DomainWorld>;
  /** Ends everything, on behalf of all worlds of this machine. */
  dispose(): Promise<void>;
}

const LOOPBACK = { allow: [], allowLoopback: true, ownPorts: () => [] };
const CONFIG: DomainConfig = {
  apiListen: { host: '127.0.0.1', port: 0 },
  domain: 'apps.test',
  trustedProxies: [],
  proxyProtocol: false,
  registration: 'closed',
  sessionDays: 1,
  logDays: 30,
  logEntriesPerApp: 0,
  logBytesPerApp: 10_000_000,
  logBytes: 1_000_000_000,
  healingIntervalSeconds: 0,
  healers: new Map([['elsewhere', 'http://healer.test/heal']]),
};

export interface DeployOptions {
  /** As the git doors do it: the branch moves when the deploy has succeeded. */
  readonly isPush?: boolean;
  readonly say?: (line: string) => void;
  readonly signal?: AbortSignal;
}

export interface ControlOptions {
  /** Of leases. */
  readonly owner?: string;
  /** Shares the store with others: has a lease, a router and what it looks after of its own. */
  readonly several?: SeveralOptions;
  /** Prepares faults before the recovery begins. */
  readonly prepare?: (faults: Faults) => void;
}

export interface SeveralOptions {
  readonly news: News;
  readonly router: Router;
  /** That the router took last. */
  readonly table: () => RouteTable;
  readonly timing: ControlsTiming;
}

/** Resolves when the recovery is done, or crashed: then a world that is crashed. */
export async function createWorld(machine: Machine, options: ControlOptions): Promise<DomainWorld> {
  const faults = new Faults();
  options.prepare?.(faults);
  const complaints: string[] = [];
  // As with a claimed home: a restarted control goes by the name of the one before.
  const logger = loggerInto(complaints);
  const owner = options.owner ?? 'control';
  const group = options.several === undefined ? null : await join(machine, faults, owner, options.several);
  const { useCases, parts, backends } = wire(machine, faults, owner, logger, group);
  const recovery = { ...parts, ...backends, logger, now: machine.now };
  const recovering = recover(recovery);
  const ended = { over: Promise.resolve(), leave: () => Promise.resolve() };
  const nothing = { adopted: 0, revived: 0, interrupted: 0, background: ended };
  const { background, ...recovered } = await Promise.race([recovering, faults.crashed.then(() => nothing)]);
  void parts.collector.goOn();
  const controls = group === null ? null : group.begin(createTakeOver(recovery, owner), logger);
  const say = (): void => {};

  const world: DomainWorld = {
    machine,
    faults,
    useCases,
    parts,
    table: options.several?.table ?? machine.table,
    controls,
    recovered,
    complaints,
    createApp: (name) => useCases.apps.create(ANN, { name, platform: PLATFORM_NAME }),
    deploy(app, recipe = {}, given = {}) {
      const commit = randomHex(40);
      machine.gitHost.commit(app, commit, recipe);
      const code = { source: machine.gitHost.source(app, commit), commit, origin: 'git' as const };
      const signal = given.signal ?? new AbortController().signal;
      const run = (more: Pick<NewCode, 'push'> = {}): Promise<Deploy> =>
        useCases.deploys.deploy(ANN, app, { ...code, ...more }, given.say ?? say, signal);
      return given.isPush === true ? pushed(backends.gitHost, { app, commit }, run) : run();
    },
    setEnv(app, vars, { noRestart = false } = {}) {
      const list = Object.entries(vars).map(([name, value]) => ({ name, value, public: false }));
      return useCases.env.set(ANN, app, list, { noRestart }, say);
    },
    unsetEnv: (app, ...names) => useCases.env.unset(ANN, app, names, { noRestart: false }, say),
    restart: (app) => useCases.apps.restart(ANN, app, say),
    remove: (app) => useCases.apps.remove(ANN, app, say),
    leaveTidying: () => background.leave(),
    async settled() {
      await background.over;
      await parts.rollouts.idle();
      await parts.unitBindings.idle();
    },
    crash() {
      faults.crash();
      void controls?.stop();
      void parts.provisioner.close();
      void parts.rollouts.close();
      void parts.supervisor.close();
      void parts.collector.close();
      void parts.orphans.close();
      void parts.unitBindings.close();
      void parts.deliveries.close();
      void parts.webhookDeliveries.close();
      void parts.auditLog.close();
    },
    async next() {
      world.crash();
      // A build in memory that was under way ends before anybody looks: nothing goes on in a process that was killed.
      await new Promise((resolve) => setImmediate(resolve));
      return machine.start(options.owner === undefined ? {} : { owner: options.owner });
    },
    dispose: () => machine.dispose(),
  };
  return world;
}

async function pushed(
  gitHost: GitHost,
  { app, commit }: { readonly app: string; readonly commit: string },
  run: (more: Pick<NewCode, 'push'>) => Promise<Deploy>,
): Promise<Deploy> {
  const ref = 'refs/heads/main';
  const push = { ref, from: '0'.repeat(40), to: commit, quarantine: '' };
  const hold = (deploy: string): Promise<void> => gitHost.holdPush(app, { deploy, ...push });
  const deploy = await run({
    push: { ref, begin: async () => {}, hold, move: async () => {}, over: Promise.resolve() },
  });
  await gitHost.finishPush(app, 'move');
  return deploy;
}

interface Group {
  readonly news: News;
  readonly lease: Lease;
  readonly router: Router;
  begin(takeOver: (control: string) => Promise<void>, logger: Logger): Controls;
}

async function join(machine: Machine, faults: Faults, owner: string, several: SeveralOptions): Promise<Group> {
  const { news, router, timing } = several;
  const store = faults.wrap('store', machine.store);
  const onLost = (): void => {};
  const { lease } = await takeControlLease(store, { owner, isOneOfSeveral: true, onLost, ttlMs: timing.ttlMs });
  return {
    news,
    lease,
    router,
    begin(takeOver, logger) {
      const controls = new Controls({ store, owner, takeOver, onDuty: async () => {}, onLost, logger, timing });
      controls.start();
      return controls;
    },
  };
}

function wire(machine: Machine, faults: Faults, owner: string, logger: Logger, group: Group | null) {
  const { settings, now, deadlines, lateMs, pauses } = machine;
  const provisioner = machine.provisioner();
  const fence = new Fence(group?.lease);
  const backends = {
    store: fence.guard(faults.wrap('store', machine.store)),
    logStore: faults.wrap('logStore', machine.logStore),
    provisioner: faults.wrap('provisioner', provisioner),
    router: faults.wrap('router', group?.router ?? machine.router),
    artifacts: faults.wrap('artifacts', machine.artifacts),
    imageRegistry: machine.imageRegistry === null ? null : faults.wrap('imageRegistry', machine.imageRegistry),
    builder: faults.wrap('builder', machine.builder),
    imageSource: faults.wrap('imageSource', machine.images),
    volumeHost: faults.wrap('volumeHost', machine.volumes),
    gitHost: faults.wrap('gitHost', machine.gitHost),
    serviceEndpoint: faults.wrap(
      'endpoint',
      machine.remote ?? misbehaving(machine.endpoint, (method) => machine.fault(method)),
    ),
    archiveSource: createHttpArchives(LOOPBACK),
    metricsSender: null,
    backupStore: machine.backupStore,
    externalHealers: { call: async ({ url }: { url: string }) => `called ${url}` },
    probe: faults.wrap('probe', machine.probe),
    drainSender: { send: async () => 'taken' },
    webhookSender: machine.webhookSender,
    diskSurvey: {
      holdings: () => Promise.resolve([{ kind: 'code' as const, name: 'shop', bytes: 4096 }]),
      async *units() {},
      directories: async () => new Map(),
    },
    host: {
      programs: async () => [{ name: 'Node.js', version: process.versions.node }],
      processes: async () => [{ part: 'control', pid: 1, memoryBytes: 1, cpuMs: 1, startedAt: '' }],
      machine: () => ({ memoryTotalBytes: 2, memoryAvailableBytes: 1, processors: 1, load: [0, 0, 0] as const }),
    },
    mailer: { description: 'nowhere', send: async () => {} },
    sharedNetwork: null,
    diskWriters: new DiskWriters(),
    outputCarrier: null,
  };
  const timing = {
    deadlines,
    orphans: { lateMs, pauses },
    unitBindings: { gatherMs: 5, retryMs: 20 },
    routes: { giveUpMs: 400 },
    rollouts: { patienceMs: 300 },
  };
  const domain = createDomain(CONFIG, backends, {
    settings,
    logger,
    now,
    owner,
    fence,
    isOneOfSeveral: group !== null,
    news: group?.news ?? NO_NEWS,
    timing,
  });
  return { useCases: domain.useCases, parts: { ...domain.parts, provisioner }, backends };
}

function loggerInto(complaints: string[]): Logger {
  const complain = (fields: object, message: string): void => {
    const cause = 'err' in fields ? `: ${String(fields.err)}` : '';
    complaints.push(`${message}${cause}`);
  };
  return { debug() {}, info() {}, warn: complain, error: complain };
}
