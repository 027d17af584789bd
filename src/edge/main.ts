/**
 * The edge: the public listener for apps, a process of its own that knows nothing but a route table. Started as
 * `node main.js '<options as JSON>'` with the bound listener as a descriptor (listener.ts); outlives control. What it must not do: read anything but its options and table.
 */
import { Edge } from './edge.ts';
import { Journal } from './journal.ts';
import { Link } from './link.ts';
import type { EdgeOptions } from './options.ts';
import { parseOptions } from './options.ts';
import { Predecessor } from './predecessor.ts';
import { DataPlane } from './proxy/data-plane.ts';
import type { Serving } from './serving.ts';
import { WORKER_MARK, runWorker } from './worker.ts';

async function serving(options: EdgeOptions, journal: Journal): Promise<Serving> {
  if (options.workers === 1) {
    return new DataPlane(options.settings, (error) => journal.line(`listener: ${error.message}`));
  }
  const { WorkerGroup } = await import('./worker-group.ts');
  return new WorkerGroup(options, journal);
}

async function run(options: EdgeOptions, journal: Journal): Promise<void> {
  // An edge that another one has started takes over from it.
  const predecessor = process.send === undefined ? null : new Predecessor(new Link(process), journal);
  const edge = new Edge(options, { serving: await serving(options, journal), predecessor, journal });
  let stopping = false;
  const stop = (): void => {
    if (stopping) process.exit(1);
    stopping = true;
    edge.stop().then(() => process.exit(0), fatal);
  };
  process.on('SIGTERM', stop);
  process.on('SIGINT', stop);
  process.on('SIGHUP', () => {});
  await edge.start();
  await edge.retired;
  stop();
}

function fatal(error: NodeJS.ErrnoException): never {
  process.stderr.write(`${new Date().toISOString()} edge: ${error.stack ?? error.message}\n`);
  process.exit(70);
}

process.on('uncaughtException', fatal);
const options = parseOptions(process.argv[2]);
const journal = new Journal();
if (process.env[WORKER_MARK] === undefined) run(options, journal).catch(fatal);
else runWorker(options, journal);
