import type { Route, RouteTable, Target } from '../../domain/routes/router.ts';

const HOST = /^(\*\.)?[a-z0-9_][a-z0-9_.-]*$|^\[[0-9a-f:.]+\]$/;

/** Reads a table that came from outside this process; throws an Error that names the first thing wrong. */
export function checkTable(value: unknown): RouteTable {
  const table = record(value, 'the table');
  if (!Number.isSafeInteger(table.version) || (table.version as number) < 0) throw new Error('version is no number');
  return { version: table.version as number, routes: list(table.routes, 'routes').map(checkRoute) };
}

function checkRoute(value: unknown): Route {
  const route = record(value, 'a route');
  const app = text(route.app, 'app');
  const hosts = list(route.hosts, 'hosts').map((host) => {
    const name = text(host, 'a host');
    if (!HOST.test(name)) throw new Error(`"${name}" is no host name (app ${app})`);
    return name;
  });
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

function record(value: unknown, what: string): Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new Error(`${what} is no object`);
  return value as Record<string, unknown>;
}

function list(value: unknown, what: string): unknown[] {
  if (!Array.isArray(value)) throw new Error(`${what} is no list`);
  return value as unknown[];
}

function text(value: unknown, what: string): string {
  if (typeof value !== 'string') throw new Error(`${what} is no text`);
  return value;
}
