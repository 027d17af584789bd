/** The server's own log: JSON lines in a file that is turned over when it has grown, so it stays bounded. */
import { mkdir, rename, stat } from 'node:fs/promises';
import path from 'node:path';
import { pino } from 'pino';
import type { Logger } from './logger.ts';

const TURN_OVER_BYTES = 16 * 1024 * 1024;
const LOOK_EVERY_MS = 60_000;
/** Of lines that cannot be written for now; what comes then is lost. */
const MOST_WAITING_BYTES = 1024 * 1024;

interface ServerLog {
  readonly logger: Logger;
  close(): Promise<void>;
}

export async function openServerLog(directory: string): Promise<ServerLog> {
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const file = path.join(directory, 'control.log');
  const destination = pino.destination({ dest: file, sync: true, mkdir: true, maxLength: MOST_WAITING_BYTES });
  // A full disk: there is no other place to report it, and the platform goes on. The lines wait for the next one.
  destination.on('error', () => {});
  const logger = pino({ base: null, level: 'info', timestamp: pino.stdTimeFunctions.isoTime }, destination);
  const turnOver = async (): Promise<void> => {
    const { size } = await stat(file);
    if (size < TURN_OVER_BYTES) return;
    await rename(file, `${file}.1`);
    destination.reopen();
  };
  await turnOver();
  const timer = setInterval(
    () => void turnOver().catch((error: unknown) => logger.warn({ err: error }, 'the log could not be turned over')),
    LOOK_EVERY_MS,
  );
  timer.unref();
  return {
    logger,
    async close() {
      clearInterval(timer);
      // Each line is written at once. Only a full disk makes some wait, and flushing would wait for room without end.
      destination.destroy();
    },
  };
}
