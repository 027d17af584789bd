import { isAbsolute } from 'node:path';
import type { FollowOptions } from './follow/options.ts';
import type { OwnView } from '../lib/own-view.ts';
import type { EdgeProxySettings } from './proxy/settings.ts';
import { DEFAULT_SETTINGS } from './proxy/settings.ts';

export interface EdgeOptions {
  /** Absolute; holds table.json, certificates.json and tickets.json. */
  readonly stateDir: string;
  /** Absolute; holds edge.sock and edge.pid. */
  readonly runDir: string;
  readonly host: string;
  readonly port: number;
  /** Where TLS is spoken; null: nowhere. */
  readonly tls: { readonly host: string; readonly port: number } | null;
  /** Whom the process becomes once it has its listeners; null: it stays who it is. */
  readonly user: number | null;
  /** Null: as the one that has started it. */
  readonly view: OwnView | null;
  readonly workers: number;
  /** What control calls this build of the program and its options; returned by `hello`. */
  readonly fingerprint: string;
  /** For requests in flight when the edge is to stop. */
  readonly stopGraceMs: number;
  /** Before that, for clients to be asked to close the connections that are open. */
  readonly drainMs: number;
  /** For connections of the edge before, which has left the listener to this one. */
  readonly handoverMs: number;
  readonly settings: EdgeProxySettings;
  /** Null: the server of this machine is followed. */
  readonly follow: FollowOptions | null;
}

/** Reads the one argument of the program, a JSON object; throws an Error that names what is wrong. */
export function parseOptions(argument: string | undefined): EdgeOptions {
  const given: unknown = JSON.parse(argument ?? '{}');
  const options = object(given, 'the options');
  return {
    stateDir: absolute(options.stateDir, 'stateDir'),
    runDir: absolute(options.runDir, 'runDir'),
    host: text(options.host, 'host'),
    port: number(options.port, 'port', 65_535),
    tls: address(options.tls ?? null),
    user: options.user === undefined || options.user === null ? null : number(options.user, 'user', 0xfffffffe),
    view: view(options.view ?? null),
    workers: workersOf(options),
    fingerprint: text(options.fingerprint ?? '', 'fingerprint'),
    stopGraceMs: number(options.stopGraceMs ?? 10_000, 'stopGraceMs'),
    drainMs: number(options.drainMs ?? 0, 'drainMs'),
    handoverMs: number(options.handoverMs ?? 600_000, 'handoverMs'),
    follow: follow(options.follow ?? null),
    settings: {
      trustedProxies: texts(options.trustedProxies ?? [], 'trustedProxies'),
      proxyProtocol: flag(options.proxyProtocol ?? false, 'proxyProtocol'),
      hstsSeconds: number(options.hstsSeconds ?? 0, 'hstsSeconds'),
      http2: flag(options.http2 ?? true, 'http2'),
      platform: platform(options.platform ?? null),
      workers: workersOf(options),
      limits: numbers(DEFAULT_SETTINGS.limits, options.limits, 'limits'),
      timeouts: numbers(DEFAULT_SETTINGS.timeouts, options.timeouts, 'timeouts'),
    },
  };
}

function workersOf(options: Record<string, unknown>): number {
  return Math.max(1, number(options.workers ?? 1, 'workers', 256));
}

function view(value: unknown): OwnView | null {
  if (value === null) return null;
  const { closed, shown } = object(value, 'view');
  return { closed: texts(closed, 'view.closed'), shown: texts(shown, 'view.shown') };
}

function address(value: unknown): EdgeOptions['tls'] {
  if (value === null) return null;
  const { host, port } = object(value, 'tls');
  return { host: text(host, 'tls.host'), port: number(port, 'tls.port', 65_535) };
}

function follow(value: unknown): FollowOptions | null {
  if (value === null) return null;
  const { name, program, servers } = object(value, 'follow');
  return {
    name: text(name, 'follow.name'),
    program: text(program, 'follow.program'),
    servers: texts(servers, 'follow.servers'),
  };
}

function platform(value: unknown): EdgeOptions['settings']['platform'] {
  if (value === null) return null;
  const { hosts, socket } = object(value, 'platform');
  return { hosts: texts(hosts, 'platform.hosts'), socket: absolute(socket, 'platform.socket') };
}

function numbers<T extends object>(defaults: T, given: unknown, what: string): T {
  if (given === undefined) return defaults;
  const result: Record<string, unknown> = Object.fromEntries(Object.entries(defaults));
  for (const [name, value] of Object.entries(object(given, what))) {
    if (!(name in defaults)) throw new Error(`${what}.${name} is unknown`);
    result[name] = number(value, `${what}.${name}`);
  }
  return result as T;
}

function object(value: unknown, what: string): Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new Error(`${what} must be an object`);
  return value as Record<string, unknown>;
}

function text(value: unknown, what: string): string {
  if (typeof value !== 'string') throw new Error(`${what} must be text`);
  return value;
}

function texts(value: unknown, what: string): string[] {
  if (!Array.isArray(value)) throw new Error(`${what} must be a list`);
  return value.map((entry) => text(entry, what));
}

function flag(value: unknown, what: string): boolean {
  if (typeof value !== 'boolean') throw new Error(`${what} must be true or false`);
  return value;
}

function absolute(value: unknown, what: string): string {
  const path = text(value, what);
  if (!isAbsolute(path)) throw new Error(`${what} must be an absolute path`);
  return path;
}

function number(value: unknown, what: string, most = Number.MAX_SAFE_INTEGER): number {
  if (typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= most) return value;
  throw new Error(`${what} must be a whole number from 0 to ${most}`);
}
