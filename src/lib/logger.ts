/** The platform's own log, as far as code below the daemon needs it; pino satisfies it. */
export interface Logger {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

export const SILENT: Logger = { debug() {}, info() {}, warn() {}, error() {} };

/** The one place where a failure may be swallowed: the work is optional and its failure is logged, never thrown. */
export async function bestEffort(logger: Logger, what: string, work: () => Promise<unknown>): Promise<void> {
  try {
    await work();
  } catch (error) {
    logger.warn({ err: error }, `${what} failed`);
  }
}
