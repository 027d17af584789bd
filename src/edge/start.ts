/** The process of the edge, or one of its workers, from its options to its end. */
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Edge } from './edge.ts';
import { EdgeLog } from './edge-log.ts';
import type { Follower } from './follow/follower.ts';
import { EDGE_TOKEN, type FollowOptions } from './follow/options.ts';
import { Link } from './link.ts';
import type { EdgeOptions } from './options.ts';
import { parseOptions } from './options.ts';
import { Predecessor } from './predecessor.ts';
import { DataPlane } from './proxy/data-plane.ts';
import type { Serving } from './serving.ts';
import { becomeUser } from '../lib/become-user.ts';
import { WORKER_MARK, runWorker } from './worker.ts';

/** For a server that takes a connection and says nothing. */
const TABLE_MS = 15_000;

async function serving(options: EdgeOptions, log: EdgeLog): Promise<Serving> {
  if (options.workers === 1) {
    return new DataPlane(options.settings, (error) => log.line(`listener: ${error.message}`));
  }
  const { WorkerGroup } = await import('./worker-group.ts');
  return new WorkerGroup(options, log);
}

async function run(options: EdgeOptions, log: EdgeLog): Promise<void> {
  // An edge that another one has started takes over from it.
  const predecessor = process.send === undefined ? null : new Predecessor(new Link(process), log);
  const token = process.env[EDGE_TOKEN] ?? '';
  delete process.env[EDGE_TOKEN];
  let stopping = false;
  let follower: Follower | null = null;
  const following = { pause: async () => follower?.pause(), resume: () => follower?.start() };
  const edge = new Edge(options, { serving: await serving(options, log), predecessor, log, following });
  const stop = (): void => {
    // Service managers signal all processes of a service, and the first of them signals this one, too.
    if (stopping) return;
    stopping = true;
    // The follower ends last: what to serve by is followed until the last request is answered.
    edge
      .leave(options.drainMs)
      .then(() => edge.stop())
      .then(() => follower?.leave())
      .then(() => process.exit(0), fatal);
  };
  process.on('SIGTERM', stop);
  process.on('SIGINT', stop);
  process.on('SIGHUP', () => {});
  await edge.start(async () => {
    if (options.follow === null) return;
    follower = await followerOf(options, options.follow, { token, edge, log });
    // What it has been handed is in force, and followed by the edge before it until that retires.
    if (predecessor !== null) return;
    follower.start();
    // What it knows may be old, and private keys are with the servers alone; who comes meanwhile waits in the listener's queue.
    await Promise.race([edge.hasTable, follower.tried, delay(TABLE_MS)]);
  });
  if (predecessor !== null) (follower as Follower | null)?.start();
  if (options.follow !== null) {
    // Whoever has started it waits for it, and is to be its only owner.
    process.stdin.resume().on('end', stop).on('error', stop);
  }
  await edge.retired;
  stop();
}

interface FollowerParts {
  readonly token: string;
  readonly edge: Edge;
  readonly log: EdgeLog;
}

async function followerOf(
  { stateDir }: EdgeOptions,
  options: FollowOptions,
  { token, edge, log }: FollowerParts,
): Promise<Follower> {
  const { Follower } = await import('./follow/follower.ts');
  const { ownName } = await import('../lib/own-name.ts');
  const instance = await ownName(join(stateDir, 'edge.name'));
  return new Follower({ options, token, instance, log, answer: (request) => edge.answer(request) });
}

function fatal(error: NodeJS.ErrnoException): never {
  process.stderr.write(`${new Date().toISOString()} edge: ${error.stack ?? error.message}\n`);
  process.exit(70);
}

export function startEdge(argument: string | undefined): void {
  process.on('uncaughtException', fatal);
  // Whoever reads the log may end before this does.
  process.stderr.on('error', () => {});
  const options = parseOptions(argument);
  begin(options).catch(fatal);
}

async function begin(options: EdgeOptions): Promise<void> {
  const { view, user } = options;
  if (view !== null && process.geteuid?.() === 0) (await import('../lib/own-view.ts')).showOnly(view);
  becomeUser(user);
  const log = new EdgeLog();
  if (process.env[WORKER_MARK] === undefined) await run(options, log);
  else runWorker(options, log);
}
