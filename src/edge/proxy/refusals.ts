/** Why a request gets an answer of the edge's own in place of a unit's. */
export interface RefusedRequest {
  readonly status: number;
  readonly detail: string;
  /** Seconds, or null. */
  readonly retryAfter: number | null;
  /** False when it is no failure of the platform: nothing is deployed, or the client is at fault. */
  readonly counts: boolean;
  /** A page of the app's own in place of the edge's; '' and absent: none. */
  readonly html?: string;
}

export const BUSY: RefusedRequest = {
  status: 503,
  detail: 'The app has more requests than it can take just now.',
  retryAfter: 1,
  counts: true,
};

export const TOO_MANY_UPLOADS: RefusedRequest = {
  status: 429,
  detail: 'Too many requests from your address are waiting for their bodies.',
  retryAfter: 1,
  counts: false,
};

export const BODY_LATE = clientFault(408, 'The body of the request took too long to arrive.');
export const BODY_TOO_LONG = clientFault(413, 'The body of the request is longer than the app takes.');
export const BODY_MALFORMED = clientFault(400, 'The body of the request is not framed as announced.');

export const HELD_TOO_LONG: RefusedRequest = {
  status: 503,
  detail: 'The app does not take requests just now, and this one has waited for as long as it may.',
  retryAfter: 5,
  counts: false,
};

/** Of an edge that follows and has heard of nobody yet. */
export const NO_TABLE: RefusedRequest = {
  status: 503,
  detail: 'This edge has not heard yet which apps there are.',
  retryAfter: 1,
  counts: false,
};

/** The first one has a number above that of none. */
export function hasTable({ version }: { readonly version: number }): boolean {
  return version > 0;
}

export function noApp(host: string, table: { readonly version: number }): RefusedRequest {
  if (!hasTable(table)) return NO_TABLE;
  return { status: 404, detail: `No app answers at ${host}.`, retryAfter: null, counts: false };
}

/** The unit, or the way to it, has failed. */
export function failure(status: number, detail: string): RefusedRequest {
  return { status, detail, retryAfter: null, counts: true };
}

function clientFault(status: number, detail: string): RefusedRequest {
  return { status, detail, retryAfter: null, counts: false };
}
