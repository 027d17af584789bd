/** The edge goes before apps where the processor is short: one that takes all there is must not slow down the requests of all others. */
import { bestEffort, type Logger } from '../../../lib/logger.ts';
import type { Sandbox } from '../../../sandbox/sandbox.ts';

/** No sandbox of a unit or a build has such an id. */
const ID = 'edge';

interface EdgePrecedence {
  /** With its workers, and with the edge that takes over from it. */
  onServing(pid: number): void;
  /** The edge has ended. */
  clear(): Promise<void>;
}

export function edgePrecedence(opened: Promise<Pick<Sandbox, 'prefer' | 'release'>>, logger: Logger): EdgePrecedence {
  return {
    onServing: (pid) =>
      void bestEffort(logger, 'letting the edge go before apps', async () => (await opened).prefer(ID, pid)),
    clear: () => bestEffort(logger, 'clearing up after the edge', async () => (await opened).release(ID)),
  };
}
