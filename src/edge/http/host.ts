export interface Authority {
  /** Lower case, without port and without a trailing dot: what routes are looked up by. */
  readonly name: string;
  readonly port: number | null;
}

const NAME = /^([a-z0-9_](?:[a-z0-9_.-]{0,252}[a-z0-9_-])?)\.?(?::([0-9]{1,5}))?$/;
const LITERAL = /^(\[[0-9a-f:.]{2,45}\])(?::([0-9]{1,5}))?$/;

/** Reads the value of Host (or the authority of an absolute-form target); null when it is none. */
export function parseAuthority(value: string): Authority | null {
  const text = value.toLowerCase();
  const match = NAME.exec(text) ?? LITERAL.exec(text);
  if (match?.[1] === undefined || match[1].includes('..')) return null;
  const port = match[2] === undefined ? null : Number(match[2]);
  if (port !== null && port > 65_535) return null;
  return { name: match[1], port };
}
