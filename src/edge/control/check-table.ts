import type { Route, RouteRules, RouteTable, Target, UnitProcess } from '../../domain/routes/router.ts';
import { hostName, list, record, text, version } from './json-values.ts';

/** Reads a table that came from outside this process; throws an Error that names the first thing wrong. */
export function checkTable(value: unknown): RouteTable {
  const table = record(value, 'the table');
  return { version: version(table.version), routes: list(table.routes, 'routes').map(checkRoute) };
}

export function checkRoute(value: unknown): Route {
  const route = record(value, 'a route');
  const app = text(route.app, 'app');
  const hosts = list(route.hosts, 'hosts').map((host) => hostName(host, `app ${app}`));
  const targets = list(route.targets, 'targets').map(checkTarget);
  // A table of an earlier version says nothing of it.
  const https = route.https === 'both' ? 'both' : 'redirect';
  const rules = route.rules === undefined ? null : checkRules(record(route.rules, 'rules'));
  const process = route.process === undefined ? {} : { process: text(route.process, 'process') };
  return { app, ...process, hosts, targets, note: text(route.note, 'note'), https, ...(rules !== null && { rules }) };
}

function checkRules({ maintenance, hold, accessLog, sticky, ...bounds }: Record<string, unknown>): RouteRules {
  return {
    ...(maintenance !== undefined && { maintenance: { page: text(record(maintenance, 'maintenance').page, 'page') } }),
    ...(hold !== undefined && { hold: checkHold(record(hold, 'hold')) }),
    ...(accessLog === true && { accessLog }),
    ...(sticky === true && { sticky }),
    ...bound(bounds, 'maxBodyBytes'),
    ...bound(bounds, 'answerSeconds'),
    ...bound(bounds, 'maxRequests'),
  };
}

function checkHold({ when, seconds }: Record<string, unknown>): NonNullable<RouteRules['hold']> {
  if (when !== 'unserved' && when !== 'always') throw new Error('hold says not when');
  return { when, seconds: version(seconds) };
}

function bound<N extends string>(bounds: Record<string, unknown>, name: N): { readonly [B in N]?: number } {
  if (bounds[name] === undefined) return {};
  return { [name]: version(bounds[name]) } as { [B in N]: number };
}

function checkTarget(value: unknown): Target {
  const target = record(value, 'a target');
  const { port } = target;
  if (typeof port !== 'number' || !Number.isInteger(port) || port < 1 || port > 65_535) {
    throw new Error('a target has no port');
  }
  const place = { unit: text(target.unit, 'unit'), host: text(target.host, 'host'), port };
  if (target.process === undefined) return place;
  return { ...place, process: checkProcess(record(target.process, 'a process')) };
}

function checkProcess({ pid, start, uid }: Record<string, unknown>): UnitProcess {
  if (!Number.isSafeInteger(pid)) throw new Error('a process has no pid');
  const own = { pid: pid as number, start: text(start, 'the start of a process') };
  return uid === undefined ? own : { ...own, uid: version(uid) };
}
