/** How an error looks on the wire: plain text for existing clients, RFC 9457 for those that accept JSON. */
import type { PlatformError } from '../domain/errors.ts';
import { STATUS_CODES } from '../lib/node-http.ts';
import { STATUS } from './status.ts';

interface ErrorAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export function errorAnswer(error: PlatformError, accept: string | undefined, requestId: string): ErrorAnswer {
  const status = STATUS[error.code];
  const retryAfter = error.details['retryAfterSeconds'];
  const asJson = acceptsJson(accept);
  return {
    status,
    headers: {
      'content-type': asJson ? 'application/problem+json' : 'text/plain; charset=utf-8',
      'x-tancho-error': error.code,
      ...(status === 401 && { 'www-authenticate': 'Bearer realm="tancho"' }),
      ...(retryAfter !== undefined && { 'retry-after': String(retryAfter) }),
    },
    body: asJson ? problem(error, status, requestId) : `${errorText(error)}\n`,
  };
}

/** The message and, on a line of its own, what to do next. */
export function errorText(error: PlatformError): string {
  return error.hint === undefined ? error.message : `${error.message}\n${error.hint}`;
}

function problem(error: PlatformError, status: number, requestId: string): string {
  return JSON.stringify({
    type: `urn:tancho:error:${error.code}`,
    title: STATUS_CODES[status],
    status,
    detail: error.message,
    code: error.code,
    hint: error.hint,
    requestId,
    details: error.details,
  });
}

/** A wildcard is not enough: existing clients send it, or nothing, and print the body as it is. */
function acceptsJson(accept: string | undefined): boolean {
  return mediaRanges(accept).some((range) => /^application\/(?:problem\+)?json$/.test(range));
}

/** As browsers' EventSource asks. */
export function acceptsEvents(accept: string | undefined): boolean {
  return mediaRanges(accept).includes('text/event-stream');
}

export function prefersText(accept: string | undefined): boolean {
  return mediaRanges(accept)[0] === 'text/plain';
}

/** Clients that say so get JSON stream lines as they come, where others read text, or the status alone. */
export function acceptsStream(accept: string | undefined): boolean {
  return mediaRanges(accept).includes('application/x-json-stream') || acceptsJson(accept);
}

function mediaRanges(accept: string | undefined): string[] {
  return (accept ?? '')
    .split(',')
    .map((range) => range.split(';'))
    .filter(([, ...parameters]) => !parameters.some((parameter) => /^\s*q=0(?:\.0*)?\s*$/.test(parameter)))
    .map(([type = '']) => type.trim().toLowerCase());
}
