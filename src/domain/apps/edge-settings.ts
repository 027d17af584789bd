/** How the edge treats the requests to an app. Part of the app, not of its releases: in effect at once, and going back changes none. */
import { PlatformError } from '../errors.ts';
import type { RouteRules } from '../routes/router.ts';

export const HOLDS = ['off', 'unserved', 'always'] as const;

export interface EdgeSettings {
  /** Every request is answered 503 in place of the app. */
  readonly maintenance: boolean;
  /** HTML that is shown then; '' for the page of the release that serves, and without one the edge's own. */
  readonly maintenancePage: string;
  /** Whether requests wait in place of being answered 503: while nothing serves, or all of them. */
  readonly hold: (typeof HOLDS)[number];
  readonly holdSeconds: number;
  /** Each request is a line of the app's log. */
  readonly accessLog: boolean;
  /** One client's requests go to one unit, as long as it is there. */
  readonly sticky: boolean;
  /** Plain HTTP leads to HTTPS wherever there is a certificate. */
  readonly redirectHttps: boolean;
  /** Of the body of a request; 0 for no limit. */
  readonly maxBodyBytes: number;
  /** From the whole request to the head of its answer; 0 for the platform's. */
  readonly responseTimeoutSeconds: number;
  /** Answered at one time; 0 for no limit. */
  readonly maxRequests: number;
}

type EdgeSetting = keyof EdgeSettings;

export const DEFAULT_EDGE: EdgeSettings = {
  maintenance: false,
  maintenancePage: '',
  hold: 'off',
  holdSeconds: 30,
  accessLog: false,
  sticky: false,
  redirectHttps: true,
  maxBodyBytes: 0,
  responseTimeoutSeconds: 0,
  maxRequests: 0,
};

/** Absent: as before; null: as without any setting. */
export type EdgeChange = { readonly [S in EdgeSetting]?: unknown };

export const MAX_PAGE_BYTES = 16_384;
const MAX_HOLD_SECONDS = 300;
const MAX_TIMEOUT_SECONDS = 3_600;
const MAX_REQUESTS = 100_000;

const READERS: { readonly [S in EdgeSetting]: (name: S, value: unknown) => EdgeSettings[S] } = {
  maintenance: flag,
  maintenancePage: page,
  hold,
  holdSeconds: (name, value) => whole(name, value, 1, MAX_HOLD_SECONDS),
  accessLog: flag,
  sticky: flag,
  redirectHttps: flag,
  maxBodyBytes: (name, value) => whole(name, value, 0, Number.MAX_SAFE_INTEGER),
  responseTimeoutSeconds: (name, value) => whole(name, value, 0, MAX_TIMEOUT_SECONDS),
  maxRequests: (name, value) => whole(name, value, 0, MAX_REQUESTS),
};

export const EDGE_SETTINGS = Object.keys(DEFAULT_EDGE) as readonly EdgeSetting[];

/** Throws `input.invalid`. */
export function changedEdge(settings: EdgeSettings, change: EdgeChange): EdgeSettings {
  const changed = { ...settings };
  for (const name of EDGE_SETTINGS) set(changed, name, change[name]);
  return changed;
}

function set<S extends EdgeSetting>(settings: { -readonly [N in S]: EdgeSettings[N] }, name: S, value: unknown): void {
  if (value === undefined) return;
  settings[name] = value === null ? DEFAULT_EDGE[name] : READERS[name](name, value);
}

/** What the router goes by; undefined: nothing is special about the app. `page`: of its release. */
export function rulesOf(settings: EdgeSettings, page: string): RouteRules | undefined {
  const { maintenance, maintenancePage, hold: held, accessLog, sticky, maxBodyBytes, maxRequests } = settings;
  const rules: RouteRules = {
    ...(maintenance && { maintenance: { page: maintenancePage || page } }),
    ...(held !== 'off' && { hold: { when: held, seconds: settings.holdSeconds } }),
    ...(accessLog && { accessLog: true as const }),
    ...(sticky && { sticky: true as const }),
    ...(maxBodyBytes > 0 && { maxBodyBytes }),
    ...(settings.responseTimeoutSeconds > 0 && { answerSeconds: settings.responseTimeoutSeconds }),
    ...(maxRequests > 0 && { maxRequests }),
  };
  return Object.keys(rules).length === 0 ? undefined : rules;
}

function flag(name: EdgeSetting, value: unknown): boolean {
  if (value === true || value === 'true' || value === 'on') return true;
  if (value === false || value === 'false' || value === 'off') return false;
  throw invalid(`${name} is true or false.`, 'Send for example true.');
}

function hold(name: EdgeSetting, value: unknown): EdgeSettings['hold'] {
  const found = HOLDS.find((one) => one === value);
  if (found !== undefined) return found;
  throw invalid(`${name} is ${HOLDS.join(', ')}.`, 'Send unserved to have requests wait while no unit can answer.');
}

function page(name: EdgeSetting, value: unknown): string {
  if (typeof value === 'string' && Buffer.byteLength(value) <= MAX_PAGE_BYTES) return value;
  throw invalid(
    `${name} is HTML of at most ${MAX_PAGE_BYTES} bytes.`,
    'Put images and styles that are larger at another address.',
  );
}

function whole(name: EdgeSetting, value: unknown, least: number, most: number): number {
  const number = typeof value === 'string' && /^[0-9]{1,16}$/.test(value) ? Number(value) : value;
  if (typeof number === 'number' && Number.isInteger(number) && number >= least && number <= most) return number;
  throw invalid(`${name} is a whole number from ${least} to ${most}.`, `Send for example ${Math.max(least, 60)}.`);
}

function invalid(message: string, hint: string): PlatformError {
  return new PlatformError('input.invalid', message, { hint });
}
