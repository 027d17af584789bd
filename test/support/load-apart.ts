/** The open load from a process of its own, which goes before everything that is measured: what it measures is not its own waiting. */
import { type ChildProcess, fork, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { setPriority } from 'node:os';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { findProgram } from '../../src/lib/find-program.ts';
import { type OpenLoadResult, startOpenLoad } from './open-load.ts';
import type { World } from './world.ts';

interface Order {
  readonly edge: string;
  readonly apps: readonly string[];
  readonly perSecond: number;
  readonly connections: number;
}

export interface ApartResult extends OpenLoadResult {
  /** By how much its own timers were late, 99 of 100 times, in milliseconds. */
  readonly ownLatenessMs: number;
}

export interface LoadApart {
  stop(): Promise<ApartResult>;
}

const MARK = 'TANCHO_TEST_LOAD_APART';
const FIRST = -15;

export async function startLoadApart(world: World, order: Omit<Order, 'edge'>): Promise<LoadApart> {
  const env = { ...process.env, [MARK]: '1' };
  const child = fork(import.meta.filename, [], { env, execArgv: [], stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  await begun(child);
  if (process.getuid?.() === 0 && child.pid !== undefined) goFirst(child.pid);
  child.send({ ...order, edge: world.edge } satisfies Order);
  return {
    async stop() {
      const [ended] = [once(child, 'exit')];
      const answer = once(child, 'message');
      child.send('stop');
      const [result] = (await Promise.race([answer, ended])) as [ApartResult];
      await ended;
      if (typeof result !== 'object') throw new Error('the process of the load has ended');
      return result;
    },
  };
}

/** In real time, where that can be had: a priority counts only among the processes of its session, and to be first there is not to be first. */
function goFirst(pid: number): void {
  const chrt = findProgram('chrt');
  const words = ['--all-tasks', '--fifo', '--pid', '1', `${pid}`];
  if (chrt === null || spawnSync(chrt, words, { stdio: 'ignore' }).status !== 0) setPriority(pid, FIRST);
}

async function begun(child: ChildProcess): Promise<void> {
  const failed = once(child, 'exit').then(() => {
    throw new Error('the process of the load did not start');
  });
  await Promise.race([once(child, 'message'), failed]);
  failed.catch(() => undefined);
}

function serve(): void {
  let stop: (() => Promise<OpenLoadResult>) | null = null;
  const lateness = monitorEventLoopDelay({ resolution: 5 });
  process.on('message', (message: Order | 'stop') => {
    if (message !== 'stop') {
      lateness.enable();
      const { edge, apps, perSecond, connections } = message;
      stop = startOpenLoad({ edge }, apps, perSecond, connections).stop;
      return;
    }
    void stop?.().then((result) => {
      const ownLatenessMs = Math.round(lateness.percentile(99) / 1e6);
      process.send?.({ ...result, ownLatenessMs } satisfies ApartResult, () => process.disconnect());
    });
  });
  process.send?.('begun');
}

if (process.env[MARK] !== undefined) serve();
