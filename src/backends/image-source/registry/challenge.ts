/** Pure: what a registry asks for in WWW-Authenticate. */

type Challenge =
  | { readonly scheme: 'bearer'; readonly realm: string; readonly service: string; readonly scope: string }
  | { readonly scheme: 'basic' };

const MAX_HEADER = 8_192;

/** Null for what is not understood. The bearer way is taken where both are offered. */
export function parseChallenge(header: string): Challenge | null {
  if (header.length > MAX_HEADER) return null;
  const [, bearer] = /(?:^|,)\s*bearer\s+(.*)$/is.exec(header) ?? [];
  if (bearer !== undefined) {
    const found = new Map<string, string>();
    for (const [, name = '', quoted, bare] of bearer.matchAll(/([a-z_]+)=(?:"((?:[^"\\]|\\.)*)"|([^\s",]*))/gi)) {
      found.set(name.toLowerCase(), quoted?.replace(/\\(.)/g, '$1') ?? bare ?? '');
    }
    const [realm = '', service = '', scope = ''] = ['realm', 'service', 'scope'].map((name) => found.get(name));
    if (realm !== '') return { scheme: 'bearer', realm, service, scope };
  }
  return /(?:^|,)\s*basic(?:\s|$)/i.test(header) ? { scheme: 'basic' } : null;
}
