/** The log of an app for as long as it is wanted, over as many connections as that takes: nothing is missed or shown twice. */
import { setTimeout as delay } from 'node:timers/promises';
import type { Client } from '../../client/client.ts';
import { ClientError } from '../../client/errors.ts';
import type { LogEntry, LogQuery } from '../../client/shapes.ts';

const FIRST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 10_000;
const TEMPORARY: ReadonlySet<string> = new Set(['client.unreachable', 'client.timeout', 'unavailable']);
/** Too late, too much at once, and what proxies say. */
const TEMPORARY_STATUS: ReadonlySet<number> = new Set([408, 429, 502, 503, 504]);

interface FollowOptions {
  readonly signal: AbortSignal;
  /** Called when the connection is lost, with why; '' when the platform closed it in order. */
  readonly onLost: (why: string) => void;
}

/** Throws what the platform refuses; also when it cannot be reached at the beginning. */
export async function* followLog(
  client: Client,
  app: string,
  query: LogQuery,
  { signal, onLost }: FollowOptions,
): AsyncGenerator<readonly LogEntry[], void, undefined> {
  let resumed: LogQuery | null = null;
  let pauseMs = FIRST_PAUSE_MS;
  for (;;) {
    let why = '';
    try {
      for await (const batch of client.apps.followLog(app, resumed ?? query, signal)) {
        pauseMs = FIRST_PAUSE_MS;
        const last = batch.at(-1);
        if (last !== undefined) resumed = { ...query, lines: 0, after: last.Cursor };
        // Nothing was there yet, so all that comes is new.
        else resumed ??= { ...query, lines: 0 };
        yield batch;
      }
    } catch (error) {
      if (signal.aborted) return;
      if (resumed === null || !isTemporary(error)) throw error;
      why = error.message;
    }
    if (signal.aborted || resumed === null) return;
    onLost(why);
    await delay(pauseMs, undefined, { signal }).catch(() => undefined);
    pauseMs = Math.min(LONGEST_PAUSE_MS, pauseMs * 2);
  }
}

function isTemporary(error: unknown): error is ClientError {
  return error instanceof ClientError && (TEMPORARY.has(error.code) || TEMPORARY_STATUS.has(error.status));
}
