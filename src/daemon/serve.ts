/** From open backends to a server that serves: domain, doors, recovery, and what goes on from then on. Stops all of it in the reverse order. */
import { hostname } from 'node:os';
import path from 'node:path';
import { type Backends, openNews } from '../backends/registry.ts';
import type { Config } from '../config/config.ts';
import { readStatePlace } from '../config/state-place.ts';
import { NO_NEWS } from '../domain/controls/news.ts';
import { Controls } from '../domain/controls/controls.ts';
import { type ControlLease, type ControlLeaseOptions, takeControlLease } from '../domain/controls/control-lease.ts';
import { demandNotMoved } from '../domain/controls/moved-state.ts';
import { demandOwnEngine } from '../domain/controls/own-engine.ts';
import { Fence } from '../domain/fence.ts';
import type { Router } from '../domain/routes/router.ts';
import { createTakeOver } from '../domain/take-over.ts';
import { ensureFirstAdmin } from '../domain/users/first-admin.ts';
import { hostPort, portOf } from '../lib/host-port.ts';
import { bestEffort, type Logger } from '../lib/logger.ts';
import { newOwnName, ownName } from '../lib/own-name.ts';
import { repeatedly } from '../lib/repeatedly.ts';
import { fromHere } from './addresses.ts';
import { recoverBehindDoors } from './behind-doors.ts';
import { openCertificates } from './certificates.ts';
import { createDomain, type Domain } from './domain.ts';
import type { Doors } from './doors.ts';
import { homeName } from './home-name.ts';
import { type ClosedPart, closeParts } from './parts-closed.ts';
import { publicAddress } from './public-address.ts';
import { settingsOf } from './settings.ts';
import { sharedMailer } from './shared-mailer.ts';

export interface Daemon {
  readonly ready: { readonly apiUrl: string; readonly edgeAddress: string | null; readonly sshAddress: string };
  /** On the first start only. */
  readonly firstAdmin: { readonly email: string; readonly password: string } | null;
  /** What this machine gives to units: isolation and limits, one line. */
  readonly isolation: string;
  /** Why it has asked for its own end (SIGTERM); null: it has not. */
  whyEnding(): string | null;
  /** `all` ends the apps too; `leave-units` lets them run and be reached, to be adopted at the next start. */
  stop(how: 'all' | 'leave-units'): Promise<void>;
}

/** What apps print between two rounds stays the size of the log file for good. */
const PRUNE_EVERY_MS = 10_000;
const TAKEN_OVER =
  'This server was away for longer than its lease (stopped, too busy, or without its database), and another one has gone on in its place.';

interface ServeOptions {
  readonly version: string;
  readonly logger: Logger;
  readonly runDir: string;
  readonly release: () => Promise<void>;
  readonly closeLog: () => Promise<void>;
  /** Completed once everything listens. */
  readonly ownPorts: Set<number>;
}

export async function serve(config: Config, opened: Backends, options: ServeOptions): Promise<Daemon> {
  const { logger } = options;
  const now = (): Date => new Date();
  let isReady = false;
  let doors: Doors | null = null;
  const publicIp = publicAddress(config);
  const settings = settingsOf(config, opened, {
    sshPort: () => doors?.ssh.address.port ?? config.sshListen.port,
    publicAddress: publicIp.current,
  });
  const isOneOfSeveral = mayBeSeveral(config, opened);
  const { whyEnding, onLost } = ownEnding(logger);
  const controlLease = await takeLease(opened, { runDir: options.runDir, isOneOfSeveral, onLost });
  const { owner } = controlLease;
  const fence = new Fence(controlLease.lease);
  const news = isOneOfSeveral ? await openNews(config, logger) : NO_NEWS;
  const store = fence.guard(opened.store);
  const gitHost = config.databaseUrl === null ? opened.gitHost : await opened.gitHost.sharedBy(store);
  const mailer = await sharedMailer(config, opened.mailer, { store, news, logger });
  const backends = { ...opened, store, gitHost, mailer };
  const demanded = demandOwnState(config, backends, { owner, isOneOfSeveral });
  await demanded.catch((error: unknown) => controlLease.release().then(() => Promise.reject(error as Error)));
  const firstAdmin = await ensureFirstAdmin({ store: backends.store, now }, config.admin);
  const outside = { store: backends.store, ownPorts: () => [...options.ownPorts], version: options.version };
  const certificates = await openCertificates(config, outside);
  const domain = createDomain(config, backends, {
    ...{ settings, logger, now, owner, fence, isOneOfSeveral, news, certificates },
  });
  const recovery = { ...backends, ...domain.parts, logger, now };
  const counters = domain.parts.counters;
  const served = { backends, useCases: domain.useCases, recovery };
  const begun = await recoverBehindDoors(config, served, { ...options, counters, ready: () => isReady });
  doors = begun.doors;
  isReady = true;
  begun.open();
  startWork(domain);
  const duties = createDuties(domain, backends);
  const takeOver = createTakeOver(recovery, owner);
  const controls = new Controls({ store: opened.store, owner, takeOver, onDuty: duties.start, onLost, logger });
  if (isOneOfSeveral && backends.router.tlsListen !== null) domain.followCertificates();
  if (isOneOfSeveral) controls.start();
  else await duties.start();
  const stopMetricsPush = await domain.startMetricsPush(options.version);
  const { api, ssh, sessions } = doors;
  for (const port of portsOf(config, backends.router, doors)) options.ownPorts.add(port);

  return {
    ready: {
      apiUrl: `http://${hostPort(fromHere(api.address))}`,
      edgeAddress: config.ownEdge ? backends.router.listen : null,
      sshAddress: hostPort(fromHere(ssh.address)),
    },
    firstAdmin,
    isolation: backends.provisioner.description,
    whyEnding,
    async stop(how) {
      isReady = false;
      if (how === 'all') await leaveClients(config, backends, logger);
      const parts: readonly ClosedPart[] = [
        ['the work for other servers', () => controls.stop()],
        ['the duties', () => Promise.all([duties.stop(), stopMetricsPush(), publicIp.close()])],
        // Before the doors, so that pushers read why their connections end.
        ['sessions', () => sessions.close()],
        ['the port holder', async () => begun.ports.settle()],
        ['doors', () => Promise.all([api.close(), ssh.close()])],
        ['ports', () => (how === 'all' ? begun.ports.end() : begun.ports.leave())],
        ['what was left of the start', () => begun.background.leave()],
        ['the domain', () => domain.close(how)],
        ['the looks at other servers', () => controls.close()],
        ['news', () => news.close()],
        ['the lease', () => controlLease.release()],
        ['backends', () => backends.close(how)],
      ];
      await closeParts(parts, { isReplaced: whyEnding() !== null && how === 'leave-units', logger });
      await options.release();
      await options.closeLog();
    },
  };
}

/** What has time until the doors are open. */
function startWork({ rounds, parts }: Domain): void {
  void parts.collector.goOn();
  rounds.start();
  parts.liveness.start();
  parts.sampler.start();
  parts.accessLines.start();
  parts.diskWatch.start();
  parts.volumeWatch.start();
  parts.unitSizes.start();
}

function portsOf({ ownEdge }: Config, { listen, tlsListen }: Router, { api, ssh }: Doors): number[] {
  const ofEdge = [listen, tlsListen].flatMap((address) => (ownEdge && address !== null ? portOf(address) : []));
  return [api.address.port, ssh.address.port, ...ofEdge];
}

async function takeLease(
  { store }: Backends,
  { runDir, ...options }: Pick<ControlLeaseOptions, 'isOneOfSeveral' | 'onLost'> & { readonly runDir: string },
): Promise<ControlLease> {
  const file = path.join(runDir, 'control.name');
  const named = (name: string): string => `${hostname()}-${name}`;
  const rename = async (): Promise<string> => named(await newOwnName(file));
  return takeControlLease(store, { owner: named(await ownName(file)), rename, ...options });
}

/** It was not moved away, and nothing in it needs another engine. */
async function demandOwnState(
  { home }: Config,
  { store, provisioner }: Pick<Backends, 'store' | 'provisioner'>,
  options: { readonly owner: string; readonly isOneOfSeveral: boolean },
): Promise<void> {
  const hasState = async (): Promise<boolean> => (await readStatePlace(home))?.url === null;
  await demandNotMoved(store, { home: homeName(home), hasState });
  await demandOwnEngine(store, provisioner, options);
}

/** Where units run on the machine of a control, or the state is a file there, there is one at a time. */
function mayBeSeveral({ databaseUrl }: Config, { provisioner }: Backends): boolean {
  return databaseUrl !== null && provisioner.engines.every(({ supports }) => supports.controls === 'several');
}

/** What one control does for all of them. */
function createDuties(domain: Domain, { router }: Backends): { start(): Promise<void>; stop(): Promise<void> } {
  let stops: (() => Promise<void>)[] = [];
  return {
    async start() {
      if (router.tlsListen !== null) domain.startCertificates();
      await domain.parts.deliveries.start();
      domain.parts.webhookDeliveries.start();
      domain.parts.auditLog.start();
      domain.parts.alertWatch.start();
      domain.parts.backupMaker.start();
      stops = [repeatedly(PRUNE_EVERY_MS, () => domain.pruneLogs()), domain.startRetention()];
    },
    async stop() {
      await Promise.all(stops.map((stop) => stop()));
    },
  };
}

/** While all else goes on, so that the edge serves by the newest table until nobody is left. */
async function leaveClients({ edgeDrainSeconds }: Config, { router }: Backends, logger: Logger): Promise<void> {
  if (edgeDrainSeconds > 0)
    await bestEffort(logger, 'leaving the clients of the edge', () => router.leave(edgeDrainSeconds * 1000));
}

/** Units and edge go on; what this control was doing is finished or undone by whoever has the store now. */
function ownEnding(logger: Logger): { onLost(): void; whyEnding(): string | null } {
  let why: string | null = null;
  return {
    whyEnding: () => why,
    onLost() {
      // A second signal would be that of somebody who wants the end for good.
      if (why !== null) return;
      why = TAKEN_OVER;
      logger.error({}, why);
      process.kill(process.pid, 'SIGTERM');
    },
  };
}
