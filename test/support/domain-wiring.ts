/** One control process of a domain world: wires the domain like daemon/, with every backend behind a border of faults. */
import { createHttpArchives } from '../../src/backends/archive-source/http/http-archives.ts';
import { createAct } from '../../src/domain/act.ts';
import { createUnitReports } from '../../src/domain/apps/unit-reports.ts';
import { createAppChanges } from '../../src/domain/apps/app-changes.ts';
import { createAppUpkeep } from '../../src/domain/apps/app-upkeep.ts';
import { type AppView, createApps } from '../../src/domain/apps/apps.ts';
import { createCnames } from '../../src/domain/apps/cnames.ts';
import { createEnv } from '../../src/domain/apps/env.ts';
import { createRemoval } from '../../src/domain/apps/removal.ts';
import { Rollouts } from '../../src/domain/apps/rollouts.ts';
import { Routes } from '../../src/domain/apps/routes.ts';
import { createRun } from '../../src/domain/apps/run.ts';
import { createScale } from '../../src/domain/apps/scale.ts';
import { createShells } from '../../src/domain/apps/shells.ts';
import { createStartStop } from '../../src/domain/apps/start-stop.ts';
import { createSwap } from '../../src/domain/apps/swap.ts';
import { Supervisor } from '../../src/domain/apps/supervisor.ts';
import { Units } from '../../src/domain/apps/units.ts';
import type { Deploy } from '../../src/domain/deploys/deploy.ts';
import { createDeploys } from '../../src/domain/deploys/deploys.ts';
import { Pipeline } from '../../src/domain/deploys/pipeline.ts';
import { createUploads } from '../../src/domain/deploys/uploads.ts';
import { createHealers } from '../../src/domain/healers/healers.ts';
import { ownHealers } from '../../src/domain/healers/own-healers.ts';
import { Leases } from '../../src/domain/leases.ts';
import { Collector } from '../../src/domain/logs/collector.ts';
import { Journal } from '../../src/domain/logs/journal.ts';
import { createLogs } from '../../src/domain/logs/logs.ts';
import { createPlans } from '../../src/domain/plans/plans.ts';
import { createPools } from '../../src/domain/pools/pools.ts';
import { recover, type Recovered } from '../../src/domain/recovery.ts';
import { misbehaving } from '../../src/backends/service-endpoint/memory/faults.ts';
import { createBindingAttempts } from '../../src/domain/services/binding-attempts.ts';
import { createBindings } from '../../src/domain/services/bindings.ts';
import { createInstances } from '../../src/domain/services/instances.ts';
import { createRestoreBindings } from '../../src/domain/services/restored-bindings.ts';
import { Orphans } from '../../src/domain/services/orphans.ts';
import { Provider } from '../../src/domain/services/provider.ts';
import { createServiceProxy } from '../../src/domain/services/service-proxy.ts';
import { createServices } from '../../src/domain/services/services.ts';
import { UnitBindings } from '../../src/domain/services/unit-bindings.ts';
import type { UseCases } from '../../src/domain/use-cases.ts';
import { randomHex } from '../../src/lib/ids.ts';
import type { Logger } from '../../src/lib/logger.ts';
import { ANN, type Machine } from './domain-world.ts';
import { Faults } from './faults.ts';
import { PLATFORM_NAME, type Recipe } from './memory-builds.ts';

export interface DomainWorld {
  readonly machine: Machine;
  readonly faults: Faults;
  readonly useCases: Pick<
    UseCases,
    | 'apps'
    | 'env'
    | 'run'
    | 'unitReports'
    | 'shells'
    | 'scale'
    | 'startStop'
    | 'swap'
    | 'cnames'
    | 'appChanges'
    | 'appUpkeep'
    | 'plans'
    | 'pools'
    | 'healers'
    | 'logs'
    | 'deploys'
    | 'uploads'
    | 'services'
    | 'instances'
    | 'bindings'
    | 'serviceProxy'
  >;
  readonly parts: ReturnType<typeof wire>['parts'];
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
  /** From here on nothing of this world has an effect, and whoever waits for it waits for ever. Units and routes stay. */
  crash(): void;
  /** The control process after this one, which crashes unless it has; recovered and ready to serve. */
  next(): Promise<DomainWorld>;
  /** Ends everything, on behalf of all worlds of this machine. */
  dispose(): Promise<void>;
}

const LOOPBACK = { allow: [], allowLoopback: true, ownPorts: () => [] };
const ROUTER_GIVE_UP_MS = 400;
const PATIENCE_MS = 300;

export interface DeployOptions {
  readonly say?: (line: string) => void;
  readonly signal?: AbortSignal;
}

export interface ControlOptions {
  /** Of leases. */
  readonly owner?: string;
  /** Prepares faults before the recovery begins. */
  readonly prepare?: (faults: Faults) => void;
}

/** Resolves when the recovery is done, or crashed: then a world that is crashed. */
export async function createWorld(machine: Machine, options: ControlOptions): Promise<DomainWorld> {
  const faults = new Faults();
  options.prepare?.(faults);
  const complaints: string[] = [];
  // As with a claimed home: a restarted control goes by the name of the one before.
  const { useCases, parts, backends } = wire(machine, faults, options.owner ?? 'control', loggerInto(complaints));
  const logger = loggerInto(complaints);
  const recovering = recover({ ...backends, ...parts, logger, now: machine.now });
  const nothing = { adopted: 0, revived: 0, interrupted: 0, background: Promise.resolve() };
  const { background, ...recovered } = await Promise.race([recovering, faults.crashed.then(() => nothing)]);
  const say = (): void => {};

  const world: DomainWorld = {
    machine,
    faults,
    useCases,
    parts,
    recovered,
    complaints,
    createApp: (name) => useCases.apps.create(ANN, { name, platform: PLATFORM_NAME }),
    deploy(app, recipe = {}, given = {}) {
      const commit = randomHex(40);
      machine.gitHost.commit(app, commit, recipe);
      const code = { source: machine.gitHost.source(app, commit), commit, origin: 'git' as const };
      const signal = given.signal ?? new AbortController().signal;
      return useCases.deploys.deploy(ANN, app, code, given.say ?? say, signal);
    },
    setEnv(app, vars, { noRestart = false } = {}) {
      const list = Object.entries(vars).map(([name, value]) => ({ name, value, public: false }));
      return useCases.env.set(ANN, app, list, { noRestart }, say);
    },
    unsetEnv: (app, ...names) => useCases.env.unset(ANN, app, names, { noRestart: false }, say),
    restart: (app) => useCases.apps.restart(ANN, app, say),
    remove: (app) => useCases.apps.remove(ANN, app, say),
    async settled() {
      await background;
      await parts.rollouts.idle();
      await parts.unitBindings.idle();
    },
    crash() {
      faults.crash();
      void parts.provisioner.close();
      void parts.rollouts.close();
      void parts.supervisor.close();
      void parts.collector.close();
      void parts.orphans.close();
      void parts.unitBindings.close();
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

function wire(machine: Machine, faults: Faults, owner: string, logger: Logger) {
  const { settings, now } = machine;
  const provisioner = machine.provisioner();
  const backends = {
    store: faults.wrap('store', machine.store),
    logStore: faults.wrap('logStore', machine.logStore),
    provisioner: faults.wrap('provisioner', provisioner),
    router: faults.wrap('router', machine.router),
    builder: faults.wrap('builder', machine.builder),
    imageSource: faults.wrap('imageSource', machine.images),
    gitHost: faults.wrap('gitHost', machine.gitHost),
    endpoint: faults.wrap(
      'endpoint',
      machine.remote ?? misbehaving(machine.endpoint, (method) => machine.fault(method)),
    ),
  };
  const all = { ...backends, settings, logger, now };
  const journal = new Journal(all);
  const collector = new Collector({ ...all, journal });
  const leases = new Leases(backends.store, owner);
  const act = createAct({ ...all, leases });
  const provider = new Provider(backends.endpoint, machine.deadlines);
  const orphans = new Orphans({
    ...all,
    provider,
    leases,
    lateMs: machine.lateMs,
    pauses: machine.pauses,
  });
  const unitBindings = new UnitBindings({ ...all, provider, leases, journal, gatherMs: 5, retryMs: 20 });
  const onPublished = (): void => unitBindings.changed();
  const routes = new Routes({ ...all, domain: settings.domain, giveUpMs: ROUTER_GIVE_UP_MS, onPublished });
  const units = new Units({ ...all, collector, journal });
  const supervisor = new Supervisor({ ...all, routes, units, journal });
  const rollouts = new Rollouts({ ...all, units, routes, patienceMs: PATIENCE_MS });
  const removal = createRemoval({ ...all, units, routes, orphans });
  const pipeline = new Pipeline({ ...all, rollouts, journal });
  const attempts = createBindingAttempts({ ...all, provider, orphans });
  const restore = createRestoreBindings({ ...all, leases, orphans, attempts, journal });
  const deploys = createDeploys({ ...all, pipeline, act, leases, restore });
  const useCases = {
    apps: createApps({ ...all, rollouts, removal, routes, journal, act }),
    env: createEnv({ ...all, rollouts, journal, act }),
    run: createRun({ ...all, journal, act }),
    shells: createShells({ ...all, journal, act }),
    scale: createScale({ ...all, rollouts, journal, act }),
    startStop: createStartStop({ ...all, rollouts, journal, act }),
    swap: createSwap({ ...all, routes, journal, act }),
    cnames: createCnames({ ...all, routes, journal, act }),
    appChanges: createAppChanges({ ...all, rollouts, journal, act }),
    appUpkeep: createAppUpkeep({ ...all, routes, act }),
    plans: createPlans({ ...all, act }),
    pools: createPools({ ...all, act }),
    unitReports: createUnitReports({ ...all, journal }),
    logs: createLogs({ ...all, journal, act }),
    deploys,
    uploads: createUploads({ ...all, deploys, archiveSource: createHttpArchives(LOOPBACK) }),
    services: createServices({ ...all, provider, act }),
    instances: createInstances({ ...all, provider, orphans, act }),
    bindings: createBindings({ ...all, attempts, orphans, leases, rollouts, journal, act }),
    serviceProxy: createServiceProxy({ ...all, provider, act }),
    healers: createHealers({
      ...all,
      healers: ownHealers({ ...all, rollouts, removal, routes, supervisor, units, orphans }),
      external: [{ name: 'elsewhere', url: 'http://healer.test/heal' }],
      externalHealers: { call: async ({ url }) => `called ${url}` },
      act,
      leases,
    }),
  };
  // `provisioner` without the border, to be closed at the moment of the crash.
  const doing = { collector, rollouts, removal, routes, supervisor, units, journal, leases, orphans, unitBindings };
  const parts = { act, provisioner, ...doing };
  return { useCases, parts, backends };
}

function loggerInto(complaints: string[]): Logger {
  const complain = (fields: object, message: string): void => {
    const cause = 'err' in fields ? `: ${String(fields.err)}` : '';
    complaints.push(`${message}${cause}`);
  };
  return { debug() {}, info() {}, warn: complain, error: complain };
}
