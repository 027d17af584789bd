/** How one table differs from the one before it, for routers that are sent only what is new. */
import type { Route, RouteTable } from './router.ts';

export interface TableChange {
  /** Version of the table that is changed. */
  readonly base: number;
  readonly version: number;
  /** Places of the routes that are no more, in the table before. */
  readonly gone: readonly number[];
  /** Once those are gone: what there is at a place, in the place of another or behind the last. In order of the places. */
  readonly put: readonly { readonly at: number; readonly route: Route }[];
}

/** Where a larger share of the routes has changed, the whole table is sent. */
const MOST_CHANGED = 0.25;

/** Of a route: no two of a table have the same. */
export function routeName({ app, process = '' }: Pick<Route, 'app' | 'process'>): string {
  return `${app} ${process}`;
}

/** Null where the tables have too little in common. What is the same has to be the same object. */
export function changeBetween(before: RouteTable, after: RouteTable): TableChange | null {
  const names = new Set(after.routes.map(routeName));
  const gone: number[] = [];
  const kept: Route[] = [];
  for (const [at, route] of before.routes.entries()) {
    if (names.has(routeName(route))) kept.push(route);
    else gone.push(at);
  }
  const put = after.routes.flatMap((route, at) => (kept[at] === route ? [] : [{ at, route }]));
  const isFar = put.length + gone.length > after.routes.length * MOST_CHANGED;
  return isFar || kept.length > after.routes.length
    ? null
    : { base: before.version, version: after.version, gone, put };
}
