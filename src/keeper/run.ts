/** What the keeper does, from its start to its end; loaded once it is sure that nobody else does it. */
import { join } from 'node:path';
import { LocalArtifacts } from '../backends/artifact-store/local/local-artifacts.ts';
import { setTimeout as delay } from 'node:timers/promises';
import { createProcessProvisioner } from '../backends/provisioner/process/process-provisioner.ts';
import { keptLaunch } from '../backends/provisioner/process/kept-launch.ts';
import { unitPaths } from '../backends/provisioner/process/unit-record.ts';
import type { EdgeRouterOptions } from '../backends/router/edge/edge-options.ts';
import { edgePrecedence } from '../backends/router/edge/edge-precedence.ts';
import { KeptEdge } from '../backends/router/edge/kept-edge.ts';
import { createAddressGuard } from '../lib/guarded/address-guard.ts';
import { becomeKeeper, isControlThere, leaveKeeper } from '../lib/keeper-claim.ts';
import { bestEffort, type Logger } from '../lib/logger.ts';
import { readPidFile } from '../lib/pid-file.ts';
import { probeSandbox } from '../sandbox/probe.ts';
import { openProjectQuotas } from '../lib/project-quotas.ts';
import { openSealer } from '../lib/seal.ts';
import { parseSettings } from './keeper-settings.ts';
import { KeptUnits } from './kept-units.ts';

const LOOK_MS = 200;
const EDGE_GRACE_MS = 13_000;

const settings = parseSettings(process.argv[2]);
const { home } = settings;
const files = { control: join(home, 'run', 'control.pid'), keeper: join(home, 'run', 'keeper.pid') };

type End = 'leave' | 'all';
const asked = new Promise<End>((resolve) => {
  process.on('SIGTERM', () => resolve('leave'));
  process.on('SIGINT', () => resolve('all'));
  process.on('SIGHUP', () => {});
});

const line = (fields: object, message: string): void => {
  const { err, ...rest } = fields as { err?: unknown };
  const what = [message, ...(err instanceof Error ? [err.message] : []), JSON.stringify(rest)].join(' ');
  process.stderr.write(`${new Date().toISOString()} keeper: ${what}\n`);
};
const logger: Logger = { debug() {}, info: line, warn: line, error: line };

const [, , , entry = '', argument = '{}'] = process.argv;
const edgeOptions = JSON.parse(argument) as EdgeRouterOptions & { host: string; port: number; fingerprint: string };

function openEdge(): KeptEdge {
  const { host, port, fingerprint } = edgeOptions;
  const keeper = process.argv[2] ?? '';
  const places = { stateDir: join(home, 'edge'), runDir: join(home, 'run') };
  const options = { ...edgeOptions, ...places, listen: { host, port }, keeper, logger };
  return new KeptEdge(options, { fingerprint, entry, keeperEntry: process.argv[1] ?? '' });
}

async function run(): Promise<void> {
  if (settings.path !== '') process.env['PATH'] = settings.path;
  const edge = openEdge();
  const connecting = edge.keep();
  const units = join(home, 'units');
  const { isolation: level, network: mode, networkAllow: allowed, providersAllow: allow, allowLoopback } = settings;
  const network = { mode, allowed, edgeUser: edgeOptions.user ?? null };
  const [sealer, quotas, sandbox] = await Promise.all([
    openSealer(join(home, 'secret.key')),
    openProjectQuotas(home),
    probeSandbox({ stateDir: join(home, 'sandbox'), home, level, network, asBefore: true, logger }),
  ]);
  const guard = createAddressGuard({ allow, allowLoopback, ownPorts: () => settings.ownPorts });
  const artifacts = new LocalArtifacts(join(home, 'slugs'));
  const places = { artifacts, units, volumes: join(home, 'volumes'), quotas };
  const provisioner = await createProcessProvisioner({ sandbox, ...places, logger, sealer, guard, isKeeper: true });
  const kept = new KeptUnits({
    provisioner,
    onDeath: (spec) => edge.withdraw(spec, spec.id),
    addressOf: (id) => edge.addressOf(id),
    stopGraceMs: settings.stopGraceMs,
    specOf: (id) => keptLaunch(unitPaths(units, id), id, sealer),
    onReady: async (spec, address) => {
      const { id } = spec;
      const process = provisioner.processOf(id);
      if (address !== null) await edge.place(spec, { unit: id, ...address, ...(process !== null && { process }) });
    },
    logger,
  });
  const starting = kept.start();
  const working = Promise.all([connecting, starting]).then(() => {
    line({}, 'looks after the units while control is away');
    return new Promise<never>(() => {});
  });
  // Also when the edge cannot be had: control does not wait for that.
  const end = await Promise.race([asked, untilControlIsThere(), working]);
  await starting;
  await kept.close();
  if (end === 'all') {
    await edge.end(EDGE_GRACE_MS);
    await edgePrecedence(Promise.resolve(sandbox), logger).clear();
    const running = (await provisioner.list()).filter(({ state }) => state === 'running');
    const stop = (id: string): Promise<void> => provisioner.stop(id, settings.stopGraceMs);
    await Promise.all(running.map(({ id }) => bestEffort(logger, `stopping unit ${id}`, () => stop(id))));
  }
  edge.close();
  await provisioner.close();
  await sandbox.close();
}

/** Or somebody has removed the home, or taken this one's place. */
async function untilControlIsThere(): Promise<End> {
  while (!(await isControlThere(files)) && (await readPidFile(files.keeper))?.pid === process.pid) {
    await delay(LOOK_MS);
  }
  return 'leave';
}

/** Resolves when control is back, another keeper is there, or the home is gone. */
export async function runKeeper(): Promise<void> {
  if (!(await becomeKeeper(files))) return;
  try {
    await run();
  } finally {
    await leaveKeeper(files);
  }
}
