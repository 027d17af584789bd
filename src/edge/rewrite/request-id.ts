import { randomUUID } from 'node:crypto';

const SANE = /^[A-Za-z0-9][A-Za-z0-9._~+/=@:-]{0,127}$/;

/** The client's own id when it is short and harmless, else a new one. */
export function requestIdFor(offered: string | null): string {
  return offered !== null && SANE.test(offered) ? offered : randomUUID();
}
