/** Why a test or a suite is skipped: a run names each with its reason at its end. */
import 'vitest';

declare module 'vitest' {
  interface TaskMeta {
    /** Read by scripts/test-reporter.mjs. */
    skipReason?: string;
  }
}

export const NO_POSTGRES = 'there is no PostgreSQL on this machine (TANCHO_TEST_DATABASE_URL names one)';
export const NO_REDIS = 'there is no redis-server on this machine';
export const NO_DOCKER_REGISTRY = 'docker-registry is not installed';
/** Empty where this process is root. */
export const NOT_ROOT = process.geteuid?.() === 0 ? '' : 'only root can';

/** The options of a test or suite that is skipped for this reason; it runs where there is none. */
export function skipFor(reason: string | false | null): { skip?: true; meta?: { skipReason: string } } {
  return reason === '' || reason === false || reason === null ? {} : { skip: true, meta: { skipReason: reason } };
}
