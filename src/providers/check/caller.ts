/** Calls a provider the way the platform does, and reports everything about the answer; never throws for what comes back. */
import type http from 'node:http';
import { bareHost } from '../../lib/host-port.ts';
import { request as requestHttp } from '../../lib/node-http.ts';

const MOST_BYTES = 1024 * 1024;

interface Credentials {
  readonly username: string;
  readonly password: string;
}

export interface CallerOptions {
  /** Without a trailing slash. */
  readonly url: string;
  /** Null: none are sent. */
  readonly credentials: Credentials | null;
  readonly timeoutMs: number;
}

interface CallOptions {
  /** POST: form; DELETE: form and query; GET: query. */
  readonly fields?: Readonly<Record<string, string>>;
  readonly idempotencyKey?: string;
  /** Headers besides those of every call. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Instead of the caller's own; null: none. */
  readonly credentials?: Credentials | null;
  /** Instead of the fields, as it is. */
  readonly body?: string;
  readonly contentType?: string;
}

export interface CallResult {
  /** 0: there was no complete answer, `text` says why. */
  readonly status: number;
  readonly text: string;
  readonly headers: http.IncomingHttpHeaders;
  readonly ms: number;
}

export type ProviderCaller = (method: string, path: string, options?: CallOptions) => Promise<CallResult>;

/** `seen` gets every answer. */
export function createCaller(options: CallerOptions, seen: (reply: CallResult) => void): ProviderCaller {
  return async (method, path, call = {}) => {
    const form = new URLSearchParams(call.fields ?? {}).toString();
    const body = method === 'GET' ? '' : (call.body ?? form);
    const query = method === 'POST' || form === '' ? '' : `?${form}`;
    const headers: http.OutgoingHttpHeaders = { accept: 'application/json', connection: 'close', ...call.headers };
    if (method !== 'GET') headers['content-type'] = call.contentType ?? 'application/x-www-form-urlencoded';
    if (body !== '') headers['content-length'] = Buffer.byteLength(body);
    if (call.idempotencyKey !== undefined) headers['idempotency-key'] = call.idempotencyKey;
    const who = call.credentials === undefined ? options.credentials : call.credentials;
    if (who !== null) {
      headers['authorization'] = `Basic ${Buffer.from(`${who.username}:${who.password}`).toString('base64')}`;
    }
    const begun = performance.now();
    const answer = await ask(`${options.url}${path}${query}`, { method, headers, body, timeoutMs: options.timeoutMs });
    const reply = { ...answer, ms: Math.round(performance.now() - begun) };
    seen(reply);
    return reply;
  };
}

interface Ask {
  readonly method: string;
  readonly headers: http.OutgoingHttpHeaders;
  readonly body: string;
  readonly timeoutMs: number;
}

function ask(address: string, { method, headers, body, timeoutMs }: Ask): Promise<Omit<CallResult, 'ms'>> {
  return new Promise((resolve) => {
    const nothing = (why: string): void => resolve({ status: 0, text: why, headers: {} });
    const request = address.startsWith('https:') ? process.getBuiltinModule('node:https').request : requestHttp;
    // By hand: what URL would make of the path is not what was asked for.
    const url = new URL(address);
    const { port, protocol } = url;
    const path = address.slice(address.indexOf('/', address.indexOf('://') + 3));
    const sent = request(
      { protocol, hostname: bareHost(url), port, path, method, headers, agent: false },
      (response) => {
        const chunks: Buffer[] = [];
        let bytes = 0;
        response.on('data', (chunk: Buffer) => {
          bytes += chunk.length;
          chunks.push(chunk);
          if (bytes > MOST_BYTES) sent.destroy(new Error(`the answer is longer than ${MOST_BYTES} bytes`));
        });
        response.on('error', (error) => nothing(error.message));
        response.on('end', () => {
          const text = Buffer.concat(chunks).toString('utf8');
          resolve({ status: response.statusCode ?? 0, text, headers: response.headers });
        });
      },
    );
    const timer = setTimeout(() => sent.destroy(new Error(`no complete answer within ${timeoutMs} ms`)), timeoutMs);
    sent.on('error', (error) => nothing(error.message));
    sent.on('close', () => {
      clearTimeout(timer);
      nothing('the connection was closed before the answer was complete');
    });
    sent.end(body);
  });
}
