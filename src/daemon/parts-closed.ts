/** The end of a server, part by part. */
import { inTime } from '../lib/deadline.ts';
import { bestEffort, type Logger } from '../lib/logger.ts';

/** Name, for the log, and what closes it. */
export type ClosedPart = readonly [part: string, close: () => Promise<unknown>];

/** Nobody waits for this server any more, and a part that works takes less. */
const PART_MS = 10_000;

/**
 * One after the other. Where another server has gone on with the work (`isReplaced`), nothing depends on an end in good order, but this process
 * is to serve again: a part that fails, or has not ended after `partMs`, is logged and left behind.
 */
export async function closeParts(
  parts: readonly ClosedPart[],
  { isReplaced, logger, partMs = PART_MS }: { isReplaced: boolean; logger: Logger; partMs?: number },
): Promise<void> {
  for (const [part, close] of parts) {
    if (!isReplaced) await close();
    else await bestEffort(logger, `closing ${part}`, () => inTime(partMs, close(), () => new NotEnded(partMs)));
  }
}

class NotEnded extends Error {
  override readonly name = 'NotEnded';

  constructor(ms: number) {
    super(`It has not ended after ${ms / 1_000} seconds.`);
  }
}
