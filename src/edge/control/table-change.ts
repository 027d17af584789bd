import type { RouteTable } from '../../domain/routes/router.ts';
import type { TableChange } from '../../domain/routes/table-change.ts';
import { checkRoute } from './check-table.ts';
import { list, record, version } from './json-values.ts';

/** Reads a change that came from outside this process; throws an Error that names the first thing wrong. */
export function checkChange(value: unknown): TableChange {
  const change = record(value, 'the change');
  return {
    base: version(change.base),
    version: version(change.version),
    gone: list(change.gone, 'gone').map(version),
    put: list(change.put, 'put').map((one) => {
      const { at, route } = record(one, 'what is put');
      return { at: version(at), route: checkRoute(route) };
    }),
  };
}

/** The table with the change; null when it is none of this table. Routes that stay are the same objects. */
export function withChange(table: RouteTable, change: TableChange): RouteTable | null {
  if (table.version !== change.base) return null;
  const gone = new Set(change.gone);
  const routes = gone.size === 0 ? [...table.routes] : table.routes.filter((_, at) => !gone.has(at));
  for (const { at, route } of change.put) {
    if (at > routes.length) throw new Error('the change leaves a gap');
    routes[at] = route;
  }
  return { version: change.version, routes };
}
