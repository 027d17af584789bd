import type { EdgeRequest } from './control/operations.ts';
import { perform } from './control/operations.ts';
import type { Journal } from './journal.ts';
import { DataPlane } from './proxy/data-plane.ts';
import type { Settings } from './proxy/settings.ts';

/** Environment variable that tells a worker from the first process; both run the same program. */
export const WORKER_MARK = 'TANCHO_EDGE_WORKER';

export interface ToWorker {
  readonly id: number;
  readonly listen?: { readonly host: string; readonly port: number };
  readonly request?: EdgeRequest;
  readonly stopMs?: number;
}

export interface FromWorker {
  readonly id: number;
  readonly result?: unknown;
  readonly error?: string;
  readonly code?: string | undefined;
}

/** One of several data planes: does what the first process says, and ends with it. */
export function runWorker(settings: Settings, journal: Journal): void {
  const plane = new DataPlane(settings, (error) => journal.line(`listener: ${error.message}`));
  const act = async (message: ToWorker): Promise<unknown> => {
    if (message.listen !== undefined) return plane.listen(message.listen.host, message.listen.port);
    if (message.request !== undefined) return perform(plane, message.request);
    await plane.stop(message.stopMs ?? 0);
    process.exit(0);
  };
  process.on('message', (message: ToWorker) => {
    act(message).then(
      (result) => process.send?.({ id: message.id, result: result ?? null } satisfies FromWorker),
      (error: NodeJS.ErrnoException) =>
        process.send?.({ id: message.id, error: error.message, code: error.code } satisfies FromWorker),
    );
  });
  process.send?.({ id: 0 } satisfies FromWorker);
  // Signals are for the first process; a terminal sends them to all.
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => {});
}
