import { isRecord } from '../../../lib/is-record.ts';
/**
 * A broker's credentials object -> variables. The rule (docs/providers.md): the name is the service's and the key's, each in
 * capitals with every character that is no letter or digit made `_`, joined by `_`; objects in it go on the same way; lists are
 * JSON text; numbers and booleans are written out; null is left out. `{"uri": ..., "tls": {"ca": ...}}` of the service `my-sql`
 * is MY_SQL_URI and MY_SQL_TLS_CA.
 */

const MAX_DEPTH = 5;

/** Two keys may come to the same name, which checkVariables() refuses. Null: nested too deeply. */
export function flatten(service: string, credentials: Record<string, unknown>): [string, string][] | null {
  const entries: [string, string][] = [];
  const prefix = part(service).replace(/^(?=[0-9])/, '_');
  return collect(prefix, credentials, 1, entries) ? entries : null;
}

function collect(prefix: string, object: Record<string, unknown>, depth: number, entries: [string, string][]): boolean {
  if (depth > MAX_DEPTH) return false;
  for (const [key, value] of Object.entries(object)) {
    const name = `${prefix}_${part(key)}`;
    if (value === null || value === undefined) continue;
    if (isRecord(value)) {
      if (!collect(name, value, depth + 1, entries)) return false;
    } else if (typeof value === 'string') entries.push([name, value]);
    else entries.push([name, JSON.stringify(value)]);
  }
  return true;
}

function part(text: string): string {
  return text.toUpperCase().replace(/[^A-Z0-9]+/g, '_');
}
