/** What goes back to the caller: results and failures as the contract's statuses. */
import type { ServerResponse } from 'node:http';
import { PROVIDER_ERRORS, ProviderError, type ProviderStatus } from './contract.ts';
import { BadRequest } from './request.ts';

export interface ProviderAnswer {
  readonly status: number;
  /** Undefined: no body. A string goes as text, everything else as JSON. */
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

const STATUS_OF: Readonly<Record<ProviderStatus, ProviderAnswer>> = {
  up: { status: 204 },
  pending: { status: 202, body: 'pending' },
  down: { status: 500, body: 'down' },
};

export function statusAnswer(status: ProviderStatus): ProviderAnswer {
  return STATUS_OF[status];
}

export function errorAnswer(error: unknown, onFault: (error: unknown) => void): ProviderAnswer {
  if (error instanceof BadRequest) return { status: error.status, body: error.message };
  if (error instanceof ProviderError) return { status: PROVIDER_ERRORS[error.code], body: error.message };
  onFault(error);
  return { status: 500, body: 'The provider failed; its own output says why.' };
}

export function send(response: ServerResponse, answer: ProviderAnswer): void {
  if (response.destroyed || response.headersSent) return;
  const { body } = answer;
  if (body === undefined) {
    response.writeHead(answer.status, { ...answer.headers }).end();
    return;
  }
  const isText = typeof body === 'string';
  const text = isText ? `${body}\n` : JSON.stringify(body);
  response.writeHead(answer.status, {
    'content-type': isText ? 'text/plain; charset=utf-8' : 'application/json',
    'content-length': Buffer.byteLength(text),
    'cache-control': 'no-store',
    ...answer.headers,
  });
  response.end(text);
}
