/** `tancho server stop`: asks the server of this home to end, waits until it has, and says what is left. */
import { setTimeout as delay } from 'node:timers/promises';
import type { PidRecord } from '../../lib/pid-file.ts';
import type { Cli } from '../cli.ts';
import type { CliContext } from '../context.ts';
import { CliError } from '../errors.ts';
import { findPart, signalPart, waitUntilGone } from './running.ts';
import { demandNotMoving } from './stopped.ts';

const EDGE_GRACE_MS = 10_000;
const KEEPER_START_MS = 15_000;

export interface StopOptions {
  /** The apps too. */
  readonly all: boolean;
  readonly deadlineMs: number;
}

export async function stopServer(cli: Cli, { all, deadlineMs }: StopOptions): Promise<void> {
  const { context } = cli;
  const control = await findPart(context, 'control');
  if (control === null) await demandNotMoving(cli);
  if (control !== null && signalPart(control, 'control', all ? 'SIGINT' : 'SIGTERM')) {
    const label = `Stopping the server (process ${control.pid})`;
    const gone = await cli.during(label, () => waitUntilGone(control, deadlineMs));
    if (!gone) {
      throw new CliError(
        `The server (process ${control.pid}) has not ended within ${deadlineMs / 1000} seconds.`,
        `It may still be finishing requests; look again with "tancho server status", or force it: kill -9 ${control.pid}`,
      );
    }
  }
  // Of a server that was asked to leave the apps before, both are there, too.
  const keeper = all ? await stopLeftApps(cli, deadlineMs) : null;
  const edge = all ? await cli.during('Stopping the edge', () => stopEdge(cli)) : null;
  if (all && keeper === null && (control === null || edge !== null)) {
    const found =
      control === null ? `No server runs for ${context.home}` : 'The server had been asked to leave the apps';
    throw new CliError(
      `${found}${edge === null ? '' : '; a left-over edge was stopped'}. Apps may still be running.`,
      'Only a running server can stop them. Start it with "tancho server", then use "tancho server stop --all" again.',
    );
  }
  const serving = all ? null : ((await findPart(context, 'edge'))?.pid ?? null);
  cli.show({ control: control?.pid ?? null, edge: serving, apps: all ? 'stopped' : 'left' }, () => {
    if (all) return 'The server and all apps are stopped.';
    const left = serving === null ? '' : ` The apps stay on the air (edge: process ${serving}).`;
    const toStop = serving === null ? '' : ' To stop them too: tancho server stop --all';
    return `${control === null ? `No server runs for ${context.home}.` : 'The server is stopped.'}${left}${toStop}`;
  });
}

/** Ends what serves while no server runs: the apps, by the keeper, which looks after them, and the edge. */
export async function stopWhatServes(cli: Cli, deadlineMs: number): Promise<void> {
  await stopLeftApps(cli, deadlineMs);
  await cli.during('Stopping the edge', () => stopEdge(cli));
}

/** The keeper that has ended them; null: there is none. */
async function stopLeftApps(cli: Cli, deadlineMs: number): Promise<PidRecord | null> {
  const keeper = await cli.during('Looking for the apps', () => findKeeper(cli.context, deadlineMs));
  if (keeper === null || !signalPart(keeper, 'keeper', 'SIGINT')) return keeper;
  if (await cli.during('Stopping the apps', () => waitUntilGone(keeper, deadlineMs))) return keeper;
  throw new CliError(
    `The apps have not ended within ${deadlineMs / 1000} seconds.`,
    `Use "tancho server stop --all" again, or force it: kill -9 ${keeper.pid}`,
  );
}

/** It is there a moment after control has gone; without an edge there is nothing for it to do. */
async function findKeeper(context: CliContext, deadlineMs: number): Promise<PidRecord | null> {
  const deadline = Date.now() + Math.min(deadlineMs, KEEPER_START_MS);
  while (true) {
    const keeper = await findPart(context, 'keeper');
    if (keeper !== null || Date.now() >= deadline || (await findPart(context, 'edge')) === null) return keeper;
    await delay(50);
  }
}

/** The edge outlives a server that was killed, and so does who keeps its ports. Pid of the edge that was stopped. */
async function stopEdge(cli: Cli): Promise<number | null> {
  const ports = await findPart(cli.context, 'ports');
  if (ports !== null) signalPart(ports, 'ports', 'SIGTERM');
  const edge = await findPart(cli.context, 'edge');
  if (edge === null || !signalPart(edge, 'edge', 'SIGTERM')) return null;
  if (await waitUntilGone(edge, EDGE_GRACE_MS)) return edge.pid;
  signalPart(edge, 'edge', 'SIGKILL');
  if (await waitUntilGone(edge, EDGE_GRACE_MS)) return edge.pid;
  throw new CliError(`The edge (process ${edge.pid}) does not end.`, `Look at it: ps -p ${edge.pid}`);
}
