import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Program } from './control/operations.ts';
import { type ProcessRequest, answerOver } from './link.ts';
import { listenerDescriptors } from './listener.ts';

export interface Successor {
  readonly pid: number;
  /** Never rejects. */
  readonly ended: Promise<void>;
}

/** Starts the edge that is to take over, with the same listeners and log; `act` answers what it asks of this one. */
export async function startSuccessor(
  { execPath, args }: Program,
  hasTls: boolean,
  act: (request: ProcessRequest) => Promise<unknown>,
): Promise<Successor> {
  const child = spawn(execPath, args, {
    detached: true,
    env: {},
    stdio: ['ignore', 'inherit', 'inherit', ...listenerDescriptors(hasTls), 'ipc'],
  });
  await once(child, 'spawn');
  child.unref();
  const ended = new Promise<void>((resolve) => child.once('disconnect', resolve));
  answerOver(child, act);
  return { pid: child.pid ?? 0, ended };
}
