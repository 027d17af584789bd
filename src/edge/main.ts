/**
 * The edge: the public listener for apps, a process of its own that knows nothing but a route table. Started as
 * `node main.js '<options as JSON>'`; outlives control. What it must not do: read anything but its options and table.
 */
import { Edge } from './edge.ts';
import { Journal } from './journal.ts';
import type { EdgeOptions } from './options.ts';
import { parseOptions } from './options.ts';
import { DataPlane } from './proxy/data-plane.ts';
import type { Serving } from './serving.ts';
import { WORKER_MARK, runWorker } from './worker.ts';

/** Exit codes that say why the address cannot be had; control turns them into words. */
const EXIT_CODES: Readonly<Record<string, number>> = { EACCES: 13, EADDRINUSE: 98, EADDRNOTAVAIL: 99, ENOTFOUND: 99 };

async function serving(options: EdgeOptions, journal: Journal): Promise<Serving> {
  if (options.workers === 1) {
    return new DataPlane(options.settings, (error) => journal.line(`listener: ${error.message}`));
  }
  const { WorkerGroup } = await import('./worker-group.ts');
  return new WorkerGroup(options.workers, journal);
}

async function run(options: EdgeOptions, journal: Journal): Promise<void> {
  const edge = new Edge(options, await serving(options, journal), journal);
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
}

function fatal(error: NodeJS.ErrnoException): never {
  process.stderr.write(`${new Date().toISOString()} edge: ${error.stack ?? error.message}\n`);
  process.exit(EXIT_CODES[error.code ?? ''] ?? 70);
}

process.on('uncaughtException', fatal);
const options = parseOptions(process.argv[2]);
const journal = new Journal();
if (process.env[WORKER_MARK] === undefined) run(options, journal).catch(fatal);
else runWorker(options.settings, journal);
