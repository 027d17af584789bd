/** What is done to the state of a server while that is stopped. */
import { join } from 'node:path';
import { claimHome, HomeTaken } from '../../lib/home-claim.ts';
import { mover } from '../../lib/move-claim.ts';
import type { Cli } from '../cli.ts';
import { CliError } from '../errors.ts';
import { findPart } from './running.ts';

export async function demandStopped(cli: Cli): Promise<void> {
  await demandNotMoving(cli);
  const control = await findPart(cli.context, 'control');
  if (control !== null) throw serverRuns(control.pid);
}

/** A server whose state is being moved serves again by itself, and is not to be found until then. */
export async function demandNotMoving(cli: Cli): Promise<void> {
  const moving = await mover(cli.context.home);
  if (moving !== null)
    throw new CliError(
      `The state of this server is being moved (tancho migrate, process ${moving}).`,
      'Try again when that is over.',
    );
}

/** No server starts, and nobody else does anything to its state, until it is released. */
export async function claimedHome(home: string): Promise<() => Promise<void>> {
  try {
    return await claimHome(join(home, 'run', 'control.pid'));
  } catch (error) {
    if (error instanceof HomeTaken) throw serverRuns(error.pid);
    throw error;
  }
}

function serverRuns(pid: number): CliError {
  return new CliError(
    `The server (process ${pid}) runs and has the databases open.`,
    'Stop it first; the apps stay on the air: tancho server stop',
  );
}
