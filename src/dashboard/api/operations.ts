/** The operations of the API by how they are called, `GET /apps/{app}`: what each takes and answers is generated from the API itself. */
import type { CALLS, Operations } from '../../client/operations/index.ts';

type Calls = typeof CALLS;
type Id = keyof Operations & keyof Calls;
type LineOf<K extends Id> = `${Calls[K]['method']} ${Calls[K]['path']}`;

export type Line = { [K in Id]: LineOf<K> }[Id];
/** The id of the operation with this line. */
type IdOf<L extends Line> = { [K in Id]: LineOf<K> extends L ? K : never }[Id];

export type AnswerOf<L extends Line> = Operations[IdOf<L>]['answer'];
type Part<L extends Line, P extends string> =
  Operations[IdOf<L>] extends Readonly<Record<P, infer V>> ? { readonly [name in P]?: V } : unknown;
type Params<L extends Line> = Operations[IdOf<L>] extends { readonly params: infer V }
  ? { readonly params: V }
  : unknown;

/** What may hold a file is sent as a form. */
type Body<L extends Line> =
  Operations[IdOf<L>] extends Readonly<Record<'body', infer V>>
    ? { readonly body?: 'file' extends keyof V ? V | FormData : V }
    : unknown;

type Input<L extends Line> = { readonly signal?: AbortSignal } & Params<L> & Part<L, 'query'> & Body<L>;
/** Only operations without anything in their path may be called without input. */
export type Inputs<L extends Line> = Operations[IdOf<L>] extends { readonly params: unknown }
  ? [input: Input<L>]
  : [input?: Input<L>];

/** What all inputs have in common. */
export interface AnyInput {
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string | number | boolean | undefined>>;
  readonly body?: unknown;
  readonly signal?: AbortSignal;
}

export type App = AnswerOf<'GET /apps/{app}'>;
export type AppSummary = AnswerOf<'GET /apps'>[number];
export type Unit = App['Units'][number];
export type Deploy = AnswerOf<'GET /deploys'>[number];
export type DeployDetail = AnswerOf<'GET /deploys/{deploy}'>;
export type LogEntry = AnswerOf<'GET /apps/{app}/log'>[number];
export type EnvVar = AnswerOf<'GET /apps/{app}/env'>[number];
export type Diagnosis = AnswerOf<'GET /apps/{app}/diagnosis'>;
export type Metrics = AnswerOf<'GET /apps/{app}/metrics'>;
export type PlatformEvent = AnswerOf<'GET /events'>[number];
