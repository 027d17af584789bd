/** Calls operations of the API by their ids; what each takes and answers is generated into operations/. */
import type { Calls, Progress, CallInput } from './calls.ts';
import { CALLS, type Operations } from './operations/index.ts';
import type { HttpResponse } from './transport.ts';

type OperationId = keyof Operations & keyof typeof CALLS;
export type OperationAnswer<K extends OperationId> = Operations[K]['answer'];

type Part<K extends OperationId, P extends string> = Operations[K] extends Readonly<Record<P, infer V>> ? V : undefined;
type Optional<P extends string, V> = [V] extends [undefined] ? unknown : { readonly [name in P]?: V };
type Params<V> = [V] extends [undefined] ? unknown : { readonly params: V };
export type OperationInput<K extends OperationId> = { readonly signal?: AbortSignal } & Params<Part<K, 'params'>> &
  Optional<'query', Part<K, 'query'>> &
  Optional<'body', Part<K, 'body'>>;
/** Only operations without anything in their path may be called without input. */
type Inputs<K extends OperationId> = [Part<K, 'params'>] extends [undefined]
  ? [input?: OperationInput<K>]
  : [input: OperationInput<K>];

export interface Requests {
  /** How the target is called in messages. */
  readonly name: string;
  /** An answer without a body is an empty list where a list is answered. Throws ClientError. */
  request<K extends OperationId>(id: K, ...input: Inputs<K>): Promise<OperationAnswer<K>>;
  /** For operations that report what they do while they do it. */
  progress<K extends OperationId>(id: K, input: OperationInput<K>, progress: Progress): Promise<void>;
  /** The answer as it comes. */
  open<K extends OperationId>(id: K, input: OperationInput<K>, signal?: AbortSignal): Promise<HttpResponse>;
}

/** What all inputs have in common. */
interface AnyInput {
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: CallInput['query'];
  readonly body?: unknown;
  readonly signal?: AbortSignal;
}

interface Call {
  readonly method: string;
  readonly path: string;
  readonly body?: string;
  readonly answer: string;
}

/** They wait for a provider, and for the app to run with what it gave; or for the app to run elsewhere, where it may first be an image. */
const SLOW: ReadonlySet<OperationId> = new Set([
  'instances.create',
  'instances.remove',
  'instances.bind',
  'apps.update',
]);

export function createRequests(calls: Calls): Requests {
  const prepare = (id: OperationId, input: unknown): Call & { where: string; what: CallInput } => {
    const call: Call = CALLS[id];
    const { params, query, body, signal } = (input ?? {}) as AnyInput;
    const isSlow = SLOW.has(id);
    const where = call.path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(params?.[name] ?? ''));
    const what = { isSlow, ...(query && { query }), ...(signal && { signal }), ...bodyOf(call, body) };
    return { ...call, where, what };
  };
  return {
    name: calls.name,
    async request<K extends OperationId>(id: K, ...[input]: Inputs<K>): Promise<OperationAnswer<K>> {
      const { method, where, what, answer } = prepare(id, input);
      // The document, which the server's answers are tested against, is what gives them their types.
      if (answer === 'json') return calls.json<OperationAnswer<K>>(method, where, what);
      if (answer === 'list') return calls.json(method, where, what, [] as unknown as OperationAnswer<K>);
      const text = await calls.done(method, where, what);
      return (answer === 'text' ? text : undefined) as OperationAnswer<K>;
    },
    progress(id, input, progress) {
      const { method, where, what } = prepare(id, input);
      return calls.progress(method, where, what, progress);
    },
    open(id, input, signal) {
      const { method, where, what } = prepare(id, input);
      return calls.open(method, where, what, signal);
    },
  };
}

function bodyOf(call: Call, body: unknown): CallInput {
  if (body === undefined || call.body === undefined) return {};
  if (call.body === 'application/json') return { json: body };
  if (typeof body === 'string') return { text: body };
  return { form: body as Readonly<Record<string, string | undefined>> };
}
