/**
 * The base `/0.8` is the union for clients of 2013 to 2015, which cannot say what they read: text where later ones read JSON streams,
 * and other forms of five documents. Everything else is the union, so it has no document of its own.
 */
import type { IncomingMessage } from 'node:http';
import type { ShapeName } from './variants.ts';

const PREFIX = /^\/0\.8(?=\/)/;

/** The path without the base; null for a path that has another. */
export function pathOfOldest(url: string): string | null {
  return PREFIX.test(url) ? url.replace(PREFIX, '') : null;
}

const OLDEST = new WeakSet<IncomingMessage>();

export function markOldest(request: IncomingMessage): void {
  OLDEST.add(request);
}

export function isOldest(request: IncomingMessage): boolean {
  return OLDEST.has(request);
}

type Document = Readonly<Record<string, unknown>>;

/** Of the documents that they read in another form: that form, from the one of the union. */
const FORMS: Readonly<Partial<Record<ShapeName, (union: never) => unknown>>> = {
  app: withOneName,
  appSummaries: (apps: readonly Document[]) => apps.map(withOneName),
  envVars: (variables: readonly { readonly name: string; readonly value: string }[]) =>
    Object.fromEntries(variables.map(({ name, value }) => [name, value])),
  teamPools: (teams: readonly Document[]) => ({ pools_by_team: teams, public_pools: [] }),
  apiKey: ({ token }: { readonly token: string }) => token,
};

/** They know one extra host name of an app, as a text. */
function withOneName(app: Document): Document {
  const { cname, ...rest } = app;
  return Array.isArray(cname) ? { ...rest, cname: String(cname[0] ?? '') } : app;
}

/** The document as JSON, from `union`, the one that is answered to others; null where that is the same. */
export function oldestForm(shape: ShapeName, union: () => string): string | null {
  const form = FORMS[shape];
  return form === undefined ? null : JSON.stringify(form(JSON.parse(union()) as never));
}
