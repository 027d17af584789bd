/** The protocol between control and the thread of the log: commands one way, replies the other. */
import type { LogStore } from '../domain/logs/log-store.ts';
import type { PrintingUnit } from '../domain/logs/output-carrier.ts';
import { ERROR_CODES, type ErrorCode, PlatformError } from '../domain/errors.ts';
import type { MissingOutput } from '../domain/units/provisioner.ts';

/** What changes the store is done where most of it is done, or the two would wait for each other. */
export type Write =
  | 'append'
  | 'forgetUnit'
  | 'removeApp'
  | 'prune'
  | 'openDrain'
  | 'drainSent'
  | 'drainFailed'
  | 'forgetDrain'
  | 'keepMetrics'
  | 'forgetMetrics';

export type WriteRequest = {
  readonly [M in Write]: { readonly method: M; readonly args: Parameters<LogStore[M]> };
}[Write];

export interface CarriedFile {
  readonly unit: PrintingUnit;
  readonly forms: readonly string[];
  readonly before: string;
  readonly path: string;
  readonly from: number;
  readonly missing?: MissingOutput;
}

/** `id`: of the request that it is, or is about. */
export type Command =
  | { readonly kind: 'carry'; readonly id: number; readonly file: CarriedFile }
  /** Nothing more is written to its file. */
  | { readonly kind: 'gone'; readonly id: number }
  | { readonly kind: 'stop'; readonly id: number }
  | { readonly kind: 'write'; readonly id: number; readonly write: WriteRequest }
  /** Acknowledges a `stored`: the next one may come. */
  | { readonly kind: 'ack' }
  /** Nothing more is asked: it ends when it has closed the store. */
  | { readonly kind: 'close' };

/** Of one unit since the last time. */
export interface StoredOutput {
  readonly id: number;
  readonly entries: number;
  readonly cursor: string;
}

export type ThreadMessage =
  | { readonly kind: 'stored'; readonly stored: readonly StoredOutput[] }
  /** `last`: what was stored since the last `stored`. */
  | {
      readonly kind: 'carried';
      readonly id: number;
      readonly last: StoredOutput | null;
      readonly before: string;
      readonly failure: ErrorText | null;
    }
  | { readonly kind: 'written'; readonly id: number; readonly value: unknown }
  | { readonly kind: 'failed'; readonly id: number; readonly error: ErrorText };

interface ErrorText {
  /** Null: not one for people. */
  readonly code: ErrorCode | null;
  readonly message: string;
  readonly hint: string | null;
}

export function textOf(thrown: unknown): ErrorText {
  if (!(thrown instanceof Error)) return { code: null, message: String(thrown), hint: null };
  if (!(thrown instanceof PlatformError)) return { code: null, message: thrown.message, hint: null };
  return { code: thrown.code, message: thrown.message, hint: thrown.hint ?? null };
}

export function errorOf({ code, message, hint }: ErrorText): Error {
  const known = ERROR_CODES.find((one) => one === code);
  return known === undefined ? new Error(message) : new PlatformError(known, message, hint === null ? {} : { hint });
}
