interface AccessFacts {
  readonly method: string;
  readonly target: string;
  readonly host: string;
  readonly requestId: string;
  readonly client: string;
  /** '' where none was asked. */
  readonly unit: string;
  readonly status: number;
  /** Of the body, as the unit has sent it. */
  readonly bytes: number;
  /** From the head of the request to the end of its answer. */
  readonly ms: number;
  readonly isSecure: boolean;
}

const MAX_TARGET = 2_048;

/** One request in one line of `name=value`. */
export function accessLine(facts: AccessFacts): string {
  const { method, target, host, requestId, client, unit, status, bytes, ms, isSecure } = facts;
  return (
    `method=${method} path="${quotable(target)}" host=${host} request_id=${requestId} fwd="${client}" ` +
    `unit=${unit === '' ? '-' : unit} service=${Math.round(ms)}ms status=${status} bytes=${bytes} ` +
    `protocol=${isSecure ? 'https' : 'http'}`
  );
}

/** Nothing that ends the quotes, or that a terminal would take for more than text. */
function quotable(target: string): string {
  const shown = target.length > MAX_TARGET ? `${target.slice(0, MAX_TARGET)}...` : target;
  return shown.replace(
    /[^\x21\x23-\x7e]/g,
    (one) => `%${one.charCodeAt(0).toString(16).padStart(2, '0').toUpperCase()}`,
  );
}
