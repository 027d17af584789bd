import { perform } from './control/operations.ts';
import type { EdgeLog } from './edge-log.ts';
import { type ProcessRequest, answerOver } from './link.ts';
import { countsDescriptor, listeners } from './listener.ts';
import { LiveCounts } from './live-counts.ts';
import type { EdgeOptions } from './options.ts';
import { DataPlane } from './proxy/data-plane.ts';
import type { AppCount } from './routing/traffic.ts';

/** Environment variable that distinguishes a worker from the first process; both run the same program. */
export const WORKER_MARK = 'TANCHO_EDGE_WORKER';

const BEAT_MS = 250;

/** What a worker says unasked: that its event loop turns, and what it has counted. */
export type WorkerNews = { readonly beat: true } | { readonly counts: readonly AppCount[] };

/** One of several data planes: does what the first process says, and ends with it. */
export function runWorker(options: EdgeOptions, log: EdgeLog): void {
  const plane = new DataPlane(options.settings, (error) => log.line(`listener: ${error.message}`));
  const act = async (request: ProcessRequest): Promise<unknown> => {
    switch (request.op) {
      case 'listen':
        return plane.listen(listeners(options.tls !== null));
      case 'leave':
        return plane.leave();
      case 'drain':
        return plane.drain(request.boundMs);
      case 'stop':
        await plane.stop(request.graceMs);
        process.exit(0);
        break;
      case 'hand':
      case 'retire':
        throw new Error('a worker has no successor');
      default:
        return perform(plane, request);
    }
  };
  process.once('disconnect', () => process.exit(0));
  answerOver(process, act);
  const report = (news: WorkerNews): void => {
    if (process.connected) process.send?.(news);
  };
  plane.reportTraffic((counts) => report({ counts }), new LiveCounts(countsDescriptor(options.tls !== null)));
  setInterval(() => report({ beat: true }), BEAT_MS).unref();
  // Signals are for the first process; a terminal sends them to all.
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => {});
}
