/** The concrete routes of a variant: operations, minus what it lacks, at its paths. Pure; the router is not known here. */
import type { TSchema } from 'typebox';
import type { Method, Operation } from './operation.ts';
import { OPERATIONS } from './operations.ts';
import type { Variant } from './variants.ts';

export interface ApiRoute {
  readonly method: Method;
  /** With the variant's prefix, placeholders as `:name`. */
  readonly path: string;
  readonly operation: Operation;
  readonly variant: Variant;
}

export function routesOf(variant: Variant, operations: readonly Operation[] = OPERATIONS): ApiRoute[] {
  const routes = operations
    .filter((operation) => variant.extensions || operation.section !== null)
    .filter((operation) => !variant.absent.includes(operation.id))
    .flatMap((operation) => waysIn(operation, variant).map((way) => ({ ...way, operation, variant })));
  return routes.sort((a, b) => compare(a.path, b.path) || compare(a.method, b.method));
}

function waysIn(operation: Operation, variant: Variant): { method: Method; path: string }[] {
  const paths = variant.paths[operation.id] ?? [operation.path];
  const published = paths.map((path) => ({ method: operation.method, path }));
  const ways = variant.extensions ? [...published, ...(operation.also ?? [])] : published;
  return ways.map(({ method, path }) => ({ method, path: variant.prefix + path }));
}

/** `/1.0` to `/1.99`, as clients write it: which of them a path is asked with means nothing here. */
const VERSION = /^(\/[ab])?\/1\.\d{1,2}(?=\/)/;

export function withoutVersion(url: string): string {
  return url.replace(VERSION, '$1');
}

/** What the route answers, field by field, in one line; for the golden listings. */
export function describeAnswer({ operation, variant }: ApiRoute): string {
  if (operation.answer === 'json' || operation.answer === 'entries') {
    return outline(variant.shapes[operation.shape].schema);
  }
  return operation.answer === 'empty' ? '-' : operation.answer;
}

interface Outline {
  readonly type?: string | string[];
  readonly items?: TSchema;
  readonly properties?: Readonly<Record<string, TSchema>>;
  readonly patternProperties?: Readonly<Record<string, TSchema>>;
  readonly required?: readonly string[];
}

function outline(schema: TSchema): string {
  const { type, items, properties, patternProperties, required } = schema as Outline;
  if (items !== undefined) return `[${outline(items)}]`;
  if (properties !== undefined) {
    const fields = Object.entries(properties).map(
      ([name, field]) => `${name}${required?.includes(name) ? '' : '?'}: ${outline(field)}`,
    );
    return `{${fields.join(', ')}}`;
  }
  if (patternProperties !== undefined) return `{*: ${Object.values(patternProperties).map(outline).join('|')}}`;
  return String(type);
}

/** A way in that the oldest clients use; it makes no path of every word below an app. */
const ANY_WORD = '/apps/:app/:team';

/** The methods that a path answers to; to answer 405 instead of 404. */
export function methodsAt(routes: readonly ApiRoute[], path: string): Method[] {
  const parts = path.replace(/\/$/, '').split('/');
  const methods = routes
    .filter((route) => route.path !== ANY_WORD && paramsOf(route, parts) !== null)
    .map((route) => route.method);
  return [...new Set(methods)];
}

/** What stands where the route's path has parameters, as it is written there; null when this is another path. */
export function paramsOf({ path }: Pick<ApiRoute, 'path'>, parts: readonly string[]): Record<string, string> | null {
  const pattern = path.split('/');
  if (pattern.length !== parts.length) return null;
  const params: Record<string, string> = {};
  const fits = pattern.every((part, at) => {
    const given = parts[at] ?? '';
    if (!part.startsWith(':')) return part === given;
    params[part.slice(1)] = given;
    return given !== '';
  });
  return fits ? params : null;
}

/** By character code, so that the listing does not depend on the machine's language. */
function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
