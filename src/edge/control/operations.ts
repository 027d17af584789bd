import type { CertificateSet, RouteTable } from '../../domain/routes/router.ts';
import type { TableChange } from '../../domain/routes/table-change.ts';
import type { Presented } from '../tls/live-certificates.ts';
import type { Serving } from '../serving.ts';
import { checkCertificates } from './check-certificates.ts';
import { checkTable } from './check-table.ts';
import { checkChange } from './table-change.ts';

/** What can be asked of the edge, over the control socket and between its processes. */
export type EdgeRequest =
  | { readonly op: 'hello' }
  | { readonly op: 'table' }
  | { readonly op: 'apply'; readonly table: RouteTable }
  /** Answers as `apply`, or null when the table is another one than the change is of. */
  | { readonly op: 'change'; readonly change: TableChange }
  | { readonly op: 'certificates' }
  | { readonly op: 'apply-certificates'; readonly set: CertificateSet }
  | { readonly op: 'drained'; readonly units: readonly string[]; readonly timeoutMs: number }
  | { readonly op: 'traffic'; readonly app: string }
  /** Of all apps of which something was counted. */
  | { readonly op: 'all-traffic' }
  | { readonly op: 'access-log' }
  /** Close connections with their next answer, and halfway take none any more; answered when none is left then, or after the time. */
  | { readonly op: 'leave'; readonly timeoutMs: number }
  /** Start this program with the listeners and leave the work to it; of the first process only. */
  | { readonly op: 'succeed'; readonly program: SuccessorProgram; readonly listeners: HandedListeners };

/** What a successor listens on: `ours`, the listener of the edge it takes over from, or an address that is bound for it. */
export interface HandedListeners {
  readonly plain: HandedListener;
  /** Null: it speaks no TLS. Absent: it does where the edge before it does. */
  readonly tls?: HandedListener | null;
}

export type HandedListener = 'ours' | { readonly host: string; readonly port: number };

export interface SuccessorProgram {
  readonly execPath: string;
  readonly args: readonly string[];
  /** Absent: it has none, as one that follows the server of its machine. */
  readonly owner?: SuccessorOwner;
}

/** Who has asked for it, and is to it what its parent is to an edge that takes over from nobody: it ends with this connection, and prints to it. */
export interface SuccessorOwner {
  /** Absolute path, where the owner listens. */
  readonly socket: string;
  readonly env: Readonly<Record<string, string>>;
}

const MAX_DRAIN_MS = 86_400_000;

/** Reads a request that came from outside this process; throws an Error when it is none. */
export function checkRequest(value: unknown): EdgeRequest {
  const request = fieldsOf(value);
  const { op, units, timeoutMs, app } = request;
  if (op === 'hello' || op === 'table' || op === 'certificates') return { op };
  if (op === 'all-traffic' || op === 'access-log') return { op };
  if (op === 'apply') return { op, table: checkTable(request.table) };
  if (op === 'change') return { op, change: checkChange(request.change) };
  if (op === 'apply-certificates') return { op, set: checkCertificates(request.set) };
  if (op === 'traffic' && typeof app === 'string') return { op, app };
  const named = Array.isArray(units) && units.every((unit): unit is string => typeof unit === 'string');
  if (op === 'drained' && named && typeof timeoutMs === 'number' && timeoutMs >= 0) {
    return { op, units, timeoutMs: Math.min(timeoutMs, MAX_DRAIN_MS) };
  }
  if (op === 'leave' && typeof timeoutMs === 'number' && timeoutMs >= 0)
    return { op, timeoutMs: Math.min(timeoutMs, MAX_DRAIN_MS) };
  if (op === 'succeed') {
    return { op, program: checkProgram(request.program), listeners: checkListeners(request.listeners) };
  }
  throw new Error('no such request');
}

function checkProgram(value: unknown): SuccessorProgram {
  const { execPath, args, owner } = fieldsOf(value);
  const isArgv = Array.isArray(args) && args.every((arg): arg is string => typeof arg === 'string');
  if (typeof execPath !== 'string' || !isArgv) throw new Error('no program to succeed with');
  return { execPath, args, ...(owner !== undefined && { owner: checkOwner(owner) }) };
}

function checkOwner(value: unknown): SuccessorOwner {
  const { socket, env } = fieldsOf(value);
  const variables = Object.entries(fieldsOf(env)).map(([name, text]) => [name, String(text)] as const);
  if (typeof socket !== 'string') throw new Error('no owner of the program to succeed with');
  return { socket, env: Object.fromEntries(variables) };
}

function fieldsOf(value: unknown): Record<string, unknown> {
  return (typeof value === 'object' && value !== null ? value : {}) as Record<string, unknown>;
}

/** A control of an earlier version says nothing of them. */
function checkListeners(value: unknown): HandedListeners {
  if (value === undefined) return { plain: 'ours' };
  const { plain, tls } = fieldsOf(value);
  return { plain: checkListener(plain), tls: tls === null ? null : checkListener(tls) };
}

function checkListener(value: unknown): HandedListener {
  if (value === 'ours') return value;
  const { host, port } = fieldsOf(value);
  if (typeof host !== 'string' || typeof port !== 'number') throw new Error('no listener to succeed with');
  return { host, port };
}

/** What the first process asks of those that serve. */
export type ServingRequest =
  | Extract<EdgeRequest, { op: 'apply' | 'change' | 'drained' | 'traffic' | 'all-traffic' | 'access-log' }>
  | { readonly op: 'present'; readonly presented: Presented };

export async function perform(serving: Serving, request: ServingRequest): Promise<unknown> {
  switch (request.op) {
    case 'apply':
      return serving.apply(request.table);
    case 'change':
      return serving.change(request.change);
    case 'present':
      return serving.present(request.presented);
    case 'drained':
      return serving.drained(request.units, request.timeoutMs);
    case 'traffic':
      return serving.traffic(request.app);
    case 'all-traffic':
      return serving.allTraffic();
    case 'access-log':
      return serving.takeAccessLog();
  }
}
