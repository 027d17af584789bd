/** Everything a diagnosis is made from, read at one time; the checks of links/ are pure functions of it. */
import { hostPort } from '../../lib/host-port.ts';
import type { VolumeWatch } from '../disk/volume-watch.ts';
import type { App, Release } from '../apps/app.ts';
import { hostNamesOf } from '../apps/host-names.ts';
import { healthCheckOf } from '../units/routed.ts';
import { ROUTED_PROCESS, servingUnits, type Unit, unitName } from '../units/unit.ts';
import { coversAny, isGood } from '../certificates/certificate.ts';
import { failingDrains, type FailingDrainsDeps } from '../drains/failing-drains.ts';
import type { Deploy } from '../deploys/deploy.ts';
import { FINISHED } from '../deploys/deploy.ts';
import { appQuota, type Quota } from '../quotas/quota.ts';
import type { Rollout } from '../rollouts/rollout.ts';
import type { FailureCause } from '../failure.ts';
import type { Router } from '../routes/router.ts';
import type { Routes } from '../routes/routes.ts';
import { hostUrl, type Settings } from '../settings.ts';
import type { Store } from '../store.ts';
import type { Provisioner, SeenUnit } from '../units/provisioner.ts';
import type { Supervisor } from '../units/supervisor.ts';
import { lookAtPage, type PageProblem } from '../pages/page.ts';
import type { DiskSpace, MachineProbe, ProbeAnswer } from './probe.ts';

/** Why a unit did not become ready, or why the first version never served. */
export interface KnownFailure {
  /** Its id; '' for that of the first version. */
  readonly unit: string;
  readonly cause: FailureCause;
  readonly message: string;
  /** The command that shows more about it. */
  readonly command: string;
}

export interface DiagnosisFacts {
  readonly app: App;
  /** The host name that is asked about; '' when the app answers at none of its own (it is no name of this platform). */
  readonly host: string;
  /** Where visitors ask for it. */
  readonly url: string;
  /** The process type that answers there. */
  readonly process: string;
  readonly release: Release | null;
  /** The most memory that a unit may use; 0: no limit. */
  readonly memoryBytes: number;
  /** Of the serving rollout. */
  readonly units: readonly Unit[];
  /** Unit id -> how its engine sees it. */
  readonly seen: ReadonlyMap<string, SeenUnit>;
  readonly quota: Quota;
  readonly lastDeploy: Deploy | null;
  readonly rollout: Rollout | null;
  readonly failures: readonly KnownFailure[];
  /** Names that lead nowhere. */
  readonly unresolved: readonly string[];
  /** Unit id -> why its port takes no connection; only units that should answer and do not. */
  readonly deafUnits: ReadonlyMap<string, string>;
  /** Unit id -> what its health check path answered. */
  readonly health: ReadonlyMap<string, ProbeAnswer>;
  /** Where the router's table is not what it should be; '' for nowhere. */
  readonly routeFault: string;
  /** Whether the router reports its table at all. */
  readonly routerAnswers: boolean;
  /** Why there is no certificate for `host`, where clients come by TLS; '' where there is one, or nobody asks for one. */
  readonly certificateProblem: string;
  /** To a real request for `host` through the router. */
  readonly answer: ProbeAnswer;
  /** What a visitor of its page would find wrong. */
  readonly page: PageProblem | null;
  readonly disk: DiskSpace | null;
  /** A sentence for each volume that holds more than it should. */
  readonly fullVolumes: readonly string[];
  /** A sentence for each drain that fails. */
  readonly failingDrains: readonly string[];
  readonly now: Date;
}

export interface FactsDeps {
  readonly store: Store;
  readonly logStore: FailingDrainsDeps['logStore'];
  readonly router: Router;
  readonly routes: Pick<Routes, 'faults'>;
  readonly supervisor: Pick<Supervisor, 'failureOf'>;
  readonly provisioner: Pick<Provisioner, 'list'>;
  readonly probe: MachineProbe;
  readonly settings: Settings;
  readonly volumeWatch: Pick<VolumeWatch, 'problemsOf'>;
  readonly now: () => Date;
}

/** `host`: one of the app's; absent: its own. */
export async function gatherFacts(deps: FactsDeps, app: App, host?: string): Promise<DiagnosisFacts> {
  const { store, probe, settings, now } = deps;
  const release = app.release === null ? null : await store.release(app.name, app.release);
  const units = servingUnits(app, await store.units(app.name));
  const [[lastDeploy = null], rollouts, quota] = await Promise.all([
    store.deploys({ apps: [app.name], limit: 1, skip: 0 }),
    store.unfinishedRollouts(),
    appQuota(store, app.name, settings.defaultLimits),
  ]);
  const names = hostNamesOf(app, settings.domain);
  const own = names[0]?.name ?? '';
  const asked = host ?? own;
  const process = names.find(({ name }) => name === asked)?.process ?? ROUTED_PROCESS;
  const path = (release === null ? null : healthCheckOf(release, process))?.path ?? '/';
  // An engine that is away says nothing of its units, and nothing against the rest.
  const seen = await deps.provisioner.list().catch(() => []);
  const [unresolved, deafUnits, health, route, answer, page, disk, certificateProblem, drains] = await Promise.all([
    unresolvedOf(probe, host === undefined ? names.map(({ name }) => name) : [host]),
    deafUnitsOf(probe, units),
    healthOf(probe, units, release),
    routeOf(deps, app),
    probe.request({ to: settings.appsAt?.() ?? deps.router.listen, host: asked, method: 'GET', path }),
    process === ROUTED_PROCESS ? lookAtPage(deps, app) : null,
    probe.disk(),
    certificateProblemOf(deps, asked),
    failingDrains(deps, app.name),
  ]);
  return {
    app,
    host: asked,
    url: hostUrl(asked, settings),
    process,
    release,
    memoryBytes: { ...settings.unitLimits, ...release?.limits }.memoryBytes,
    units,
    seen: new Map(seen.map((unit) => [unit.id, unit])),
    quota,
    lastDeploy,
    rollout: rollouts.find((one) => one.app === app.name) ?? null,
    failures: failuresOf(deps, app, units, lastDeploy),
    unresolved,
    deafUnits,
    health,
    ...route,
    certificateProblem,
    answer,
    page,
    disk,
    fullVolumes: deps.volumeWatch.problemsOf(app.name),
    failingDrains: drains,
    now: now(),
  };
}

async function certificateProblemOf({ store, settings, now }: FactsDeps, host: string): Promise<string> {
  if ((settings.tlsPort?.() ?? null) === null) return '';
  const records = (await store.certificateSummaries()).filter((record) => coversAny(record, host));
  return records.some((record) => isGood(record, now()))
    ? ''
    : (records.find(({ problem }) => problem !== '')?.problem ?? '');
}

async function unresolvedOf(probe: MachineProbe, names: readonly string[]): Promise<string[]> {
  // A wildcard is no name that could be looked up; browsers know localhost without asking anybody.
  const asked = names.filter((name) => !name.startsWith('*.') && !/(?:^|\.)localhost$/.test(name));
  const found = await Promise.all(asked.map((name) => probe.resolves(name)));
  return asked.filter((_, at) => found[at] === false);
}

async function deafUnitsOf(probe: MachineProbe, units: readonly Unit[]): Promise<Map<string, string>> {
  const deaf = new Map<string, string>();
  await Promise.all(
    units.map(async ({ id, state, address }) => {
      if (state !== 'started' || address === null) return;
      const why = await probe.connect(address);
      if (why !== '') deaf.set(id, why);
    }),
  );
  return deaf;
}

/** Asked of units with a path to ask for. */
async function healthOf(probe: MachineProbe, units: readonly Unit[], release: Release | null) {
  const found = new Map<string, ProbeAnswer>();
  if (release === null) return found;
  await Promise.all(
    units.map(async ({ id, state, address, process }) => {
      const { path, method = 'GET' } = healthCheckOf(release, process) ?? {};
      if (path === undefined || state !== 'started' || address === null) return;
      const to = hostPort(address);
      found.set(id, await probe.request({ to, host: to, method, path }));
    }),
  );
  return found;
}

async function routeOf(
  { routes }: FactsDeps,
  app: App,
): Promise<{ readonly routeFault: string; readonly routerAnswers: boolean }> {
  try {
    const fault = (await routes.faults()).find((one) => one.app === app.name);
    return { routeFault: fault?.problem ?? '', routerAnswers: true };
  } catch {
    return { routeFault: '', routerAnswers: false };
  }
}

function failuresOf(deps: FactsDeps, app: App, units: readonly Unit[], deploy: Deploy | null): KnownFailure[] {
  const starts = units.flatMap((unit) => {
    const failure = unit.state === 'started' ? null : deps.supervisor.failureOf(unit.id);
    const command = `tancho app log ${app.name} --unit ${unitName(unit)}`;
    return failure === null
      ? []
      : [{ ...failure, unit: unit.id, message: `${nameOf(unit)}: ${failure.message}`, command }];
  });
  const isFirst = app.release === null && deploy !== null && FINISHED.has(deploy.state) && deploy.cause !== null;
  if (!isFirst || deploy === null || deploy.cause === null) return starts;
  const message = `The first version never served: ${deploy.error || deploy.cause}`;
  return [...starts, { unit: '', cause: deploy.cause, message, command: `tancho deploy info ${deploy.id}` }];
}

/** A sentence, after a space: why the engine has not started the unit yet; '' where it has, or says nothing. */
export function engineSays({ seen }: Pick<DiagnosisFacts, 'seen'>, { id }: Unit): string {
  const unit = seen.get(id);
  const isExplained = unit?.state === 'waiting' || unit?.state === 'unknown';
  return !isExplained || unit.reason === '' ? '' : ` Its engine says: ${unit.reason.replace(/\.$/, '')}.`;
}

/** For people: `web shop/0`. */
export function nameOf(unit: Unit): string {
  return `${unit.process} ${unitName(unit)}`;
}

/** Those that should be running. */
export function wantedUnits({ app, units }: DiagnosisFacts): Unit[] {
  return units.filter(({ process, state }) => state !== 'stopped' && !app.stoppedProcesses.includes(process));
}

/** Those that are to answer at the host name that is asked about. */
export function answeringUnits(facts: DiagnosisFacts): Unit[] {
  return wantedUnits(facts).filter(({ process }) => process === facts.process);
}

/** ` (512 MiB)`: the most memory a unit may use; '' where there is no limit. */
export function memoryLimit({ memoryBytes }: Pick<DiagnosisFacts, 'memoryBytes'>): string {
  return memoryBytes === 0 ? '' : ` (${Math.floor(memoryBytes / 1024 ** 2)} MiB)`;
}

/** `once`, `3 times`. */
export function timesOf(count: number): string {
  return count <= 1 ? 'once' : `${count} times`;
}
