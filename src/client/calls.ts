/** The few ways in which operations use the transport. */
import type { Readable } from 'node:stream';
import type { RemoteShell, ShellOptions } from './shell.ts';
import { readProgress } from './stream.ts';
import {
  type HttpResponse,
  badAnswer,
  type ServerCall,
  createTransport,
  readAll,
  type ServerAddress,
} from './transport.ts';

/** Where a long operation reports what it does. `signal` ends the call, not the operation. */
export interface Progress {
  readonly say?: (message: string) => void;
  readonly signal?: AbortSignal;
}

export interface CallInput {
  /** A list becomes a repeated parameter. */
  readonly query?: Readonly<Record<string, string | number | boolean | readonly string[] | undefined>>;
  readonly json?: unknown;
  readonly text?: string;
  /** A gzipped archive. */
  readonly archive?: Readable;
  /** Fields without a value are left out. */
  readonly form?: Readonly<Record<string, string | undefined>>;
  /** The answer may take minutes to begin. */
  readonly isSlow?: boolean;
  readonly signal?: AbortSignal;
}

export interface Calls {
  readonly name: string;
  /** The answer's JSON; `empty` for status 204 and an empty body. */
  json<T>(method: string, path: string, request?: CallInput, empty?: T): Promise<T>;
  /** An answer whose body says nothing that is not known. */
  done(method: string, path: string, request?: CallInput): Promise<string>;
  /** An operation that reports in a stream. */
  progress(method: string, path: string, request: CallInput, progress: Progress): Promise<void>;
  open(method: string, path: string, request: CallInput, signal?: AbortSignal): Promise<HttpResponse>;
  shell(app: string, options: ShellOptions): Promise<RemoteShell>;
}

const MAX_BODY_BYTES = 64 * 1024 * 1024;
const IDLE_MS = 60_000;
/** While a build is at work, or a provider. */
const STREAM_IDLE_MS = 30 * 60_000;

export function createCalls(target: ServerAddress, token: string | undefined): Calls {
  const transport = createTransport(target, token);
  const { name } = transport;
  const send = (method: string, path: string, request: CallInput, idleMs: number, signal?: AbortSignal) =>
    transport.send({
      method,
      path: path + queryText(request.query ?? {}),
      idleMs,
      ...bodyOf(request),
      ...(signal === undefined ? {} : { signal }),
    });
  const text = async (method: string, path: string, request: CallInput): Promise<string> => {
    const patienceMs = request.isSlow === true ? STREAM_IDLE_MS : IDLE_MS;
    const answer = await send(method, path, request, patienceMs, request.signal);
    return readAll(answer.body, MAX_BODY_BYTES, name);
  };
  return {
    name,
    done: (method, path, request = {}) => text(method, path, request),
    async json<T>(method: string, path: string, request: CallInput = {}, empty?: T): Promise<T> {
      const body = await text(method, path, request);
      if (body.trim() === '' && empty !== undefined) return empty;
      try {
        // The shapes are this API's own contract, kept by its contract tests; null stands for an empty list on the wire.
        return ((JSON.parse(body) as T | null) ?? empty) as T;
      } catch {
        throw badAnswer(`The platform at ${name} sent something that is not JSON.`, 200);
      }
    },
    async progress(method, path, request, { say, signal }) {
      const answer = await send(method, path, request, STREAM_IDLE_MS, signal);
      await readProgress(answer, name, say ?? (() => {}));
    },
    // Loaded when it is wanted: no other command needs websockets.
    shell: async (app, options) => (await import('./shell.ts')).openShell(target, token, app, options),
    open: (method, path, request, signal) => send(method, path, request, 0, signal),
  };
}

function bodyOf({ json, text, form, archive }: CallInput): Pick<ServerCall, 'body'> {
  if (archive !== undefined) return { body: { type: 'application/gzip', stream: archive } };
  if (json !== undefined) return { body: { type: 'application/json', text: JSON.stringify(json) } };
  if (form !== undefined) {
    const given = Object.entries(form).filter((field): field is [string, string] => field[1] !== undefined);
    return { body: { type: 'application/x-www-form-urlencoded', text: new URLSearchParams(given).toString() } };
  }
  if (text !== undefined) return { body: { type: 'text/plain; charset=utf-8', text } };
  return {};
}

function queryText(query: NonNullable<CallInput['query']>): string {
  const search = new URLSearchParams();
  for (const [key, value] of Object.entries(query)) {
    const values = value === undefined ? [] : typeof value === 'object' ? value : [String(value)];
    for (const one of values) search.append(key, one);
  }
  return search.size === 0 ? '' : `?${search.toString()}`;
}
