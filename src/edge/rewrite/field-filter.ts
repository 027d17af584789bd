import type { Field } from '../http/fields.ts';

/** Fields of one connection only (RFC 9110 section 7.6.1); Transfer-Encoding is kept, its framing is passed on. */
const HOP_BY_HOP = new Set(['connection', 'keep-alive', 'proxy-connection', 'proxy-authenticate', 'upgrade', 'te']);

/** What only the edge may say to a unit. `proxy` would become HTTP_PROXY in a CGI-style program. */
const EDGE_ONLY = new Set(['forwarded', 'x-real-ip', 'x-request-id', 'proxy', 'proxy-authorization', 'x-client-ip']);

/** Naming one of these in Connection does not take it from the next hop: framing and routing depend on them. */
const NEVER_NOMINATED = new Set(['host', 'content-length', 'transfer-encoding', 'expect']);

/** The lines of `fields` that a unit may see, cut from `text` in as few pieces as possible. */
export function requestLines(text: string, fields: readonly Field[], nominated: readonly string[]): string {
  return linesWithout(text, fields, (name) => isHopByHop(name, nominated) || isEdgeOnly(name));
}

/** The lines of `fields` that a client may see; `alsoDrop` names more that are left out. */
export function responseLines(
  text: string,
  fields: readonly Field[],
  nominated: readonly string[],
  alsoDrop: readonly string[],
): string {
  return linesWithout(
    text,
    fields,
    (name) => isHopByHop(name, nominated) || name === 'x-request-id' || alsoDrop.includes(name),
  );
}

function isHopByHop(name: string, nominated: readonly string[]): boolean {
  if (HOP_BY_HOP.has(name)) return true;
  return nominated.length > 0 && nominated.includes(name) && !NEVER_NOMINATED.has(name);
}

/** Underscores count as hyphens, for many programs do not distinguish them. */
function isEdgeOnly(name: string): boolean {
  const plain = name.includes('_') ? name.replaceAll('_', '-') : name;
  return plain.startsWith('x-forwarded-') || EDGE_ONLY.has(plain);
}

function linesWithout(text: string, fields: readonly Field[], dropped: (name: string) => boolean): string {
  let lines = '';
  let runStart = -1;
  let runEnd = -1;
  for (const field of fields) {
    if (dropped(field.name)) {
      if (runStart >= 0) lines += text.slice(runStart, runEnd);
      runStart = -1;
      continue;
    }
    if (runStart < 0) runStart = field.start;
    runEnd = field.end;
  }
  return runStart < 0 ? lines : lines + text.slice(runStart, runEnd);
}
