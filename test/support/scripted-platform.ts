/** A real HTTP server that gives the answers it was given and remembers what it was asked; for tests of clients of the API. */
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Asked {
  /** `POST /apps?x=1` */
  readonly line: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

export type Reply = (asked: Asked, response: ServerResponse) => void;

export interface ScriptedPlatform {
  readonly url: string;
  readonly asked: Asked[];
  /** Lines of what was asked. */
  readonly lines: () => string[];
  close(): Promise<void>;
}

/** `replies`: by `METHOD /path` without the query. Everything else is a 404 as the real API answers it. */
export async function startPlatform(
  replies: Readonly<Record<string, Reply>>,
  listen: { readonly socketPath?: string; readonly port?: number } = {},
): Promise<ScriptedPlatform> {
  const asked: Asked[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const { method = '', url = '', headers } = request;
      const one = { line: `${method} ${url}`, headers, body: Buffer.concat(chunks).toString() };
      asked.push(one);
      const reply = replies[`${method} ${url.split('?')[0] ?? ''}`] ?? problem(404, 'route.not_found', 'No such path.');
      reply(one, response);
    });
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    if (listen.socketPath === undefined) server.listen(listen.port ?? 0, '127.0.0.1', resolve);
    else server.listen(listen.socketPath, resolve);
  });
  const address = server.address();
  const url = typeof address === 'string' ? '' : `http://127.0.0.1:${(address as AddressInfo).port}`;
  return {
    url,
    asked,
    lines: () => asked.map(({ line }) => line),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

export function json(value: unknown, status = 200): Reply {
  return (_, response) => response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value));
}

export const empty: Reply = (_, response) => response.writeHead(200).end();

/** JSON stream lines. */
export function stream(...frames: readonly object[]): Reply {
  return (_, response) => {
    response.writeHead(200, { 'content-type': 'application/x-json-stream' });
    response.end(frames.map((frame) => `${JSON.stringify(frame)}\n`).join(''));
  };
}

export function problem(status: number, code: string, detail: string, hint?: string): Reply {
  return (_, response) => {
    const body = { type: `urn:tancho:error:${code}`, status, detail, code, hint, requestId: 'req-1', details: {} };
    response.writeHead(status, { 'content-type': 'application/problem+json' }).end(JSON.stringify(body));
  };
}
