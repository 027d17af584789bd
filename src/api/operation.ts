/**
 * What an operation of the published API is: a plain object with a neutral id. Routing, validation, the OpenAPI document,
 * the golden listings and the generated tests all come from these objects; where the variants differ is in variants.ts.
 */
import type { Static, TSchema } from 'typebox';
import type { Caller } from '../domain/caller.ts';
import type { RunRequest } from '../domain/apps/run.ts';
import type { OpenShell } from '../domain/apps/shells.ts';
import type { EdgeCarrier } from '../domain/edges/edge-line.ts';
import type { ErrorCode, PlatformError } from '../domain/errors.ts';
import type { LogEntry } from '../domain/logs/entry.ts';
import type { ProxyAnswer } from '../domain/services/service-endpoint.ts';
import type { UseCases } from '../domain/use-cases.ts';
import type { RawBody } from './body.ts';
import type { PendingUpload } from './upload-body.ts';
import type { ShapeName, ShapeValue } from './variants.ts';

export type Method = 'GET' | 'POST' | 'PUT' | 'DELETE';

/** `public`: anybody; `user`: a user's token; `token`: a user's or an app's token. The domain judges the rest. */
export type Access = 'public' | 'user' | 'token';

export interface Context {
  readonly caller: Caller;
  readonly useCases: UseCases;
  /** Where the request comes from, for the throttle; `unix` for the socket. */
  readonly address: string;
  /** Host as the client wrote it; '' when a proxy stands between. */
  readonly host: string;
  readonly version: string;
  /** Throws `unavailable` while the platform cannot serve. */
  readonly ready: () => Promise<void>;
  /** The client reads Server-Sent Events. */
  readonly wantsEvents: boolean;
  /** Of the last event it has got from an earlier answer; '' for none. */
  readonly lastEventId: string;
  /** Where the session of a page of the dashboard is kept; null for everybody else. */
  readonly browser: BrowserSession | null;
  /** Fires when the client has left, or the server cannot wait for it any longer. */
  readonly signal: AbortSignal;
}

export interface BrowserSession {
  /** `expiresAt`: ISO 8601 UTC. */
  keep(session: { readonly token: string; readonly expiresAt: string }): void;
  forget(): void;
}

export interface Input<P, Q, B> {
  readonly params: P;
  readonly query: Q;
  readonly body: B;
}

interface Declaration {
  readonly id: string;
  /** Section of the specification; null for what only the union serves beyond it. */
  readonly section: string | null;
  readonly summary: string;
  readonly method: Method;
  /** Placeholders are written `:name`. */
  readonly path: string;
  /** Further ways in that existing clients use; the union alone serves them. */
  readonly also?: readonly { readonly method: Method; readonly path: string }[];
  readonly access: Access;
  /** True for a GET that changes something (the specification's restart). */
  readonly changesState?: boolean;
  readonly params?: TSchema;
  readonly query?: TSchema;
  /** What has to be in the query although its schema does not say so, for it has an error of its own. */
  readonly requiredQuery?: readonly string[];
  /** True when the answer is made of nothing but the store and who asks: it stands until something is committed. */
  readonly stands?: true;
  /** True for a read that waits for more than the store (units, providers, git, name servers, a walk over files), and may do so for long. */
  readonly isSlow?: true;
  /** A JSON object or the same fields as a form; validated. */
  readonly body?: TSchema;
  /** Where the specification does not show the body: its fields are known in any case, as other servers take them. */
  readonly bodyInAnyCase?: true;
  /** True when clients may leave the whole body out; it then counts as one without fields. */
  readonly isBodyOptional?: boolean;
  /** The longest body in place of BODY_BYTES (http/app.ts); parsing holds everybody up, so it is no more than the operation can make use of. */
  readonly bodyLimitBytes?: number;
  /** A body that the handler reads itself, because clients send it in several forms; the schema documents the published one. */
  readonly rawBody?: { readonly mediaType: string; readonly schema: TSchema };
  /** Codes beside those that every operation can end with. */
  readonly errors: readonly ErrorCode[];
}

type AnyInput = Input<unknown, unknown, unknown>;

/** Answers one JSON document of a shape. */
interface JsonOperation extends Declaration {
  readonly answer: 'json';
  readonly shape: ShapeName;
  handle(context: Context, input: AnyInput): Promise<unknown>;
}

/** Answers 200 without a body. */
interface EmptyOperation extends Declaration {
  readonly answer: 'empty';
  /** In place of 200. */
  readonly status?: 204;
  handle(context: Context, input: AnyInput): Promise<void>;
}

/** Answers one line of text. */
interface TextOperation extends Declaration {
  readonly answer: 'text';
  handle(context: Context, input: AnyInput): Promise<string>;
}

/** Reports what it does while it does it. */
interface ProgressOperation extends Declaration {
  readonly answer: 'progress';
  /** Methods by which clients ask that read plain text, unless they ask for a stream. */
  readonly textTo?: readonly Method[];
  /** The Message beside an Error that is answered as a line under 200 although nothing was said before; null: by its status. */
  asLine?(error: PlatformError, input: AnyInput): string | null;
  handle(context: Context, input: AnyInput, say: (line: string) => void): Promise<void>;
}

/** Takes code and reports what becomes of it; ends in `OK` for clients that read text. */
interface UploadOperation extends Declaration {
  readonly answer: 'upload';
  handle(context: Context, input: AnyInput, upload: PendingUpload, say: (line: string) => void): Promise<void>;
}

/** Over a websocket: what is typed comes in, what is shown goes out. The handler opens it; api/shell-socket.ts carries it. */
export interface ShellOperation extends Declaration {
  readonly answer: 'shell';
  /** Resolves when the caller may open one. */
  permitted(context: Context, input: AnyInput): Promise<void>;
  handle(context: Context, input: AnyInput, output: (bytes: Uint8Array) => void): Promise<OpenShell>;
}

/** Over a websocket: an edge elsewhere gets what it serves by. The handler judges its token, and carries what it is given. */
export interface EdgeOperation extends Declaration {
  readonly answer: 'edge';
  handle(context: Context, input: AnyInput, token: string): Promise<(carrier: EdgeCarrier) => Promise<void>>;
}

export type CommandOutput = RunRequest['output'];

/** Answers the output of a command; resolves to its exit code. */
interface OutputOperation extends Declaration {
  readonly answer: 'output';
  handle(context: Context, input: AnyInput, output: CommandOutput): Promise<number>;
}

/** Answers log entries: an array, or batch after batch for as long as the client listens, as events or over a websocket if it asks for that. */
export interface EntriesOperation extends Declaration {
  readonly answer: 'entries';
  readonly shape: 'logEntries';
  handle(context: Context, input: AnyInput): Promise<readonly LogEntry[] | AsyncIterable<readonly LogEntry[]>>;
}

/** A request that is handed on, whatever its body is. */
export interface Forwarded {
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
}

/** Answers what somebody else answers. */
interface ProxiedOperation extends Declaration {
  readonly answer: 'proxied';
  handle(context: Context, input: AnyInput, request: Forwarded): Promise<ProxyAnswer>;
}

export type Operation =
  | JsonOperation
  | EmptyOperation
  | TextOperation
  | ProgressOperation
  | UploadOperation
  | ShellOperation
  | OutputOperation
  | EntriesOperation
  | EdgeOperation
  | ProxiedOperation;

type Schemas<P extends TSchema, Q extends TSchema, B extends TSchema> = {
  readonly params?: P;
  readonly query?: Q;
  readonly body?: B;
};
type Typed<O extends Operation, P extends TSchema, Q extends TSchema, B extends TSchema> = Omit<
  O,
  'answer' | 'handle' | 'params' | 'query' | 'body'
> &
  Schemas<P, Q, B>;
/** Without a schema of its own, an operation with `rawBody` is handed the raw body. */
type BodyOf<B extends TSchema> = TSchema extends B ? RawBody : Static<B>;
type InputOf<P extends TSchema, Q extends TSchema, B extends TSchema> = Input<Static<P>, Static<Q>, BodyOf<B>>;

/* One function per kind of answer: they only tie the types of schemas, shape and handler together. */

export function json<P extends TSchema, Q extends TSchema, B extends TSchema, S extends ShapeName>(
  operation: Typed<JsonOperation, P, Q, B> & {
    readonly shape: S;
    handle(context: Context, input: InputOf<P, Q, B>): Promise<ShapeValue<S>>;
  },
): Operation {
  return { ...operation, answer: 'json' };
}

export function empty<P extends TSchema, Q extends TSchema, B extends TSchema>(
  operation: Typed<EmptyOperation, P, Q, B> & {
    handle(context: Context, input: InputOf<P, Q, B>): Promise<void>;
  },
): Operation {
  return { ...operation, answer: 'empty' };
}

export function text<P extends TSchema, Q extends TSchema, B extends TSchema>(
  operation: Typed<TextOperation, P, Q, B> & {
    handle(context: Context, input: InputOf<P, Q, B>): Promise<string>;
  },
): Operation {
  return { ...operation, answer: 'text' };
}

export function progress<P extends TSchema, Q extends TSchema, B extends TSchema>(
  operation: Typed<ProgressOperation, P, Q, B> & {
    asLine?(error: PlatformError, input: InputOf<P, Q, B>): string | null;
    handle(context: Context, input: InputOf<P, Q, B>, say: (line: string) => void): Promise<void>;
  },
): Operation {
  return { ...operation, answer: 'progress' };
}

export function upload<P extends TSchema, Q extends TSchema>(
  operation: Omit<UploadOperation, 'answer' | 'handle' | 'params' | 'query' | 'body'> & {
    readonly params?: P;
    readonly query?: Q;
    handle(
      context: Context,
      input: Input<Static<P>, Static<Q>, unknown>,
      upload: PendingUpload,
      say: (line: string) => void,
    ): Promise<void>;
  },
): Operation {
  return { ...operation, answer: 'upload' };
}

export function shell<P extends TSchema, Q extends TSchema>(
  operation: Omit<ShellOperation, 'answer' | 'handle' | 'permitted' | 'params' | 'query' | 'body'> & {
    readonly params?: P;
    readonly query?: Q;
    permitted(context: Context, input: Input<Static<P>, Static<Q>, unknown>): Promise<void>;
    handle(
      context: Context,
      input: Input<Static<P>, Static<Q>, unknown>,
      output: (bytes: Uint8Array) => void,
    ): Promise<OpenShell>;
  },
): Operation {
  return { ...operation, answer: 'shell' };
}

export function edge<Q extends TSchema>(
  operation: Omit<EdgeOperation, 'answer' | 'handle' | 'params' | 'query' | 'body'> & {
    readonly query: Q;
    handle(
      context: Context,
      input: Input<unknown, Static<Q>, unknown>,
      token: string,
    ): Promise<(carrier: EdgeCarrier) => Promise<void>>;
  },
): Operation {
  return { ...operation, answer: 'edge' };
}

export function output<P extends TSchema, Q extends TSchema, B extends TSchema>(
  operation: Typed<OutputOperation, P, Q, B> & {
    handle(context: Context, input: InputOf<P, Q, B>, output: CommandOutput): Promise<number>;
  },
): Operation {
  return { ...operation, answer: 'output' };
}

export function entries<P extends TSchema, Q extends TSchema, B extends TSchema>(
  operation: Typed<EntriesOperation, P, Q, B> & {
    handle(
      context: Context,
      input: InputOf<P, Q, B>,
    ): Promise<readonly LogEntry[] | AsyncIterable<readonly LogEntry[]>>;
  },
): Operation {
  return { ...operation, answer: 'entries' };
}

export function proxied<P extends TSchema, Q extends TSchema, B extends TSchema>(
  operation: Typed<ProxiedOperation, P, Q, B> & {
    handle(context: Context, input: InputOf<P, Q, B>, request: Forwarded): Promise<ProxyAnswer>;
  },
): Operation {
  return { ...operation, answer: 'proxied' };
}

/** True when the operation changes something, whatever its method says. */
export function changes(operation: Operation): boolean {
  return operation.method !== 'GET' || operation.changesState === true;
}
