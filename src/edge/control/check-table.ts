import type { Route, RouteTable, Target } from '../../domain/routes/router.ts';
import { hostName, list, record, text, version } from './json-values.ts';

/** Reads a table that came from outside this process; throws an Error that names the first thing wrong. */
export function checkTable(value: unknown): RouteTable {
  const table = record(value, 'the table');
  return { version: version(table.version), routes: list(table.routes, 'routes').map(checkRoute) };
}

function checkRoute(value: unknown): Route {
  const route = record(value, 'a route');
  const app = text(route.app, 'app');
  const hosts = list(route.hosts, 'hosts').map((host) => hostName(host, `app ${app}`));
  const targets = list(route.targets, 'targets').map(checkTarget);
  // A table of an earlier version says nothing of it.
  const https = route.https === 'both' ? 'both' : 'redirect';
  return { app, hosts, targets, note: text(route.note, 'note'), https };
}

function checkTarget(value: unknown): Target {
  const target = record(value, 'a target');
  const { port } = target;
  if (typeof port !== 'number' || !Number.isInteger(port) || port < 1 || port > 65_535) {
    throw new Error('a target has no port');
  }
  const place = { unit: text(target.unit, 'unit'), host: text(target.host, 'host'), port };
  if (target.process === undefined) return place;
  const { pid, start } = record(target.process, 'a process');
  if (!Number.isSafeInteger(pid)) throw new Error('a process has no pid');
  return { ...place, process: { pid: pid as number, start: text(start, 'the start of a process') } };
}
