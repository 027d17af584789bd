/** Pure: what an image says about how one sees that it is well: a label, else its HEALTHCHECK where that asks over HTTP. */
import type { HealthCheck, Liveness } from '../../../domain/apps/app.ts';
import { isRecord } from '../../../lib/is-record.ts';
import { unfit } from './failures.ts';

export interface ImageHealth {
  readonly healthCheck: HealthCheck | null;
  /** Null: as everywhere. */
  readonly liveness: Liveness | 'off' | null;
  /** For people; '' where there is nothing to report. */
  readonly note: string;
}

/** A path that answers 200 when the app is well. */
const HEALTH_LABEL = 'tancho.healthcheck.path';
const PATH = /^\/[\x21-\x7e]{0,1000}$/;
/** What asks itself: `curl -f http://localhost:8080/health || exit 1`. */
const ASKS_ITSELF =
  /(?:^|[\s/;&|])(?:curl|wget|http)\s(?:[^|;&]*?[\s"'])?http:\/\/(?:localhost|127\.0\.0\.1|0\.0\.0\.0|\[::1?\])(?::(\d{1,5}|\$\{?\w[^/\s"']*))?(\/[^\s"'|;&)]*)?/;
const NANOSECONDS = 1e9;
/** What Docker waits where nothing is said. */
const DEFAULTS = { interval: 30, timeout: 30, retries: 3 };
/** Those tools take redirects for success. */
const HIGHEST_STATUS = 399;
const MOST_FAILURES = 1_000;
const MOST_SECONDS = 3_600;
const LEAST_START_SECONDS = 60;

export function imageHealth(labels: unknown, healthcheck: unknown, ports: readonly number[]): ImageHealth {
  const path = isRecord(labels) ? labels[HEALTH_LABEL] : undefined;
  if (path !== undefined && path !== '') {
    if (typeof path === 'string' && PATH.test(path)) return { healthCheck: { path }, liveness: null, note: '' };
    throw unfit(`its label ${HEALTH_LABEL} is no path such as /health.`);
  }
  const test = isRecord(healthcheck) && Array.isArray(healthcheck['Test']) ? healthcheck['Test'] : [];
  const [kind, ...words] = test.map(String);
  if (!isRecord(healthcheck) || kind === undefined || kind === 'NONE')
    return { healthCheck: null, liveness: null, note: '' };
  const command = words.join(' ').slice(0, 2_000);
  const asked = ASKS_ITSELF.exec(command);
  const port = asked?.[1] ?? '80';
  const isOther = /^\d+$/.test(port) && ports.length > 0 && !ports.includes(Number(port));
  if (asked === null || isOther || !PATH.test(asked[2] ?? '/')) {
    const note = `Its HEALTHCHECK is ignored, for it does not ask the app itself over HTTP: ${command.slice(0, 200)}`;
    return { healthCheck: null, liveness: null, note };
  }
  return httpCheck(asked[2] ?? '/', healthcheck);
}

function httpCheck(path: string, said: Readonly<Record<string, unknown>>): ImageHealth {
  const seconds = (name: string, otherwise: number): number => {
    const value = said[name];
    const whole = typeof value === 'number' && value > 0 ? Math.ceil(value / NANOSECONDS) : otherwise;
    return Math.min(Math.max(whole, 1), MOST_SECONDS);
  };
  const retries = typeof said['Retries'] === 'number' && said['Retries'] > 0 ? said['Retries'] : DEFAULTS.retries;
  const [periodSeconds, timeoutSeconds] = [
    seconds('Interval', DEFAULTS.interval),
    seconds('Timeout', DEFAULTS.timeout),
  ];
  const failures = Math.min(Math.trunc(retries), MOST_FAILURES);
  const starting = seconds('StartPeriod', 1) + periodSeconds * failures;
  const check = { path, maxStatus: HIGHEST_STATUS };
  return {
    // Until it is well it may answer whatever it likes, for as long as its start may take.
    healthCheck: {
      ...check,
      allowedFailures: MOST_FAILURES,
      timeoutSeconds: Math.min(Math.max(starting, LEAST_START_SECONDS), MOST_SECONDS),
    },
    liveness: { periodSeconds, timeoutSeconds, failures },
    note: `Its HEALTHCHECK asks for ${path}, every ${periodSeconds} s; ${failures} failures in a row restart a unit`,
  };
}
