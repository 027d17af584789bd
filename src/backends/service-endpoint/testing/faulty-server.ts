/** A provider for tests: a real server that can be made to fail in the ways that providers do. */
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';

type Fault =
  | 'hang'
  /** Breaks the connection instead of doing anything. */
  | 'reset before'
  /** Does it, and breaks the connection instead of answering. */
  | 'reset after'
  /** Does it, and answers what is not JSON. */
  | 'garbage'
  /** Does it, and a proxy in front of it answers 200 with a page of its own. */
  | 'page'
  /** Does nothing: an ingress in front of it, which has no way to it now, answers 404 with a page of its own. */
  | 'no way'
  /** Does it, and answers 500 with what should have been the answer. */
  | 'leak'
  /** Does it twice, as when a proxy has sent it again, and answers what it says then. */
  | 'twice'
  /** Does it, and never stops answering. */
  | 'endless'
  /** 500 or 400 with everything it knows in the body. */
  | 'say all'
  | 'say no'
  /** 408. */
  | 'took too long'
  /** 422, as a broker that is at work on the same instance. */
  | 'busy'
  /** 401. */
  | 'not let in'
  | 'redirect'
  | 'not http'
  /** Says that it goes on with another protocol. */
  | 'other protocol';

export interface ReceivedRequest {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

export interface FaultyAnswer {
  readonly status: number;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface FaultyServer {
  readonly url: string;
  readonly requests: readonly ReceivedRequest[];
  /** The next requests that match; null ends it. */
  fail(fault: Fault | null, matches?: (request: ReceivedRequest) => boolean, times?: number): void;
  /** The next requests that change something, one fault each. */
  failInTurn(...faults: readonly Fault[]): void;
  close(): Promise<void>;
}

export const PASSWORD = 'pass-word-of-the-manifest';
export const REDIRECT_TARGET = '/elsewhere';
export const REDIRECT_LOCATION = `${REDIRECT_TARGET}?token=s3cret`;

export async function startFaultyServer(answer: (request: ReceivedRequest) => FaultyAnswer): Promise<FaultyServer> {
  const requests: ReceivedRequest[] = [];
  let failing: { fault: Fault; matches: (request: ReceivedRequest) => boolean; left: number } | null = null;
  const coming: Fault[] = [];

  function faultFor(request: ReceivedRequest): Fault | null {
    if (request.method !== 'GET' && coming.length > 0) return coming.shift() ?? null;
    if (failing === null || failing.left === 0 || !failing.matches(request)) return null;
    failing.left -= 1;
    return failing.fault;
  }

  async function serve(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = (await buffer(incoming)).toString('utf8');
    const url = new URL(incoming.url ?? '/', 'http://provider');
    const { method = '', headers } = incoming;
    const request: ReceivedRequest = { method, path: url.pathname, query: url.searchParams, headers, body };
    requests.push(request);
    const fault = faultFor(request);
    if (fault === 'hang') return;
    if (fault === 'reset before') return void incoming.socket.resetAndDestroy();
    if (fault === 'not http') return void incoming.socket.end('hello, what do you want\r\n');
    if (fault === 'other protocol') {
      return void incoming.socket.write(
        'HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n',
      );
    }
    if (fault === 'redirect') return void response.writeHead(307, { location: REDIRECT_LOCATION }).end();
    if (fault === 'say all' || fault === 'say no') {
      response.writeHead(fault === 'say all' ? 500 : 400);
      return void response.end(`no: ${PASSWORD} ${headers.authorization ?? ''} ${body}\u0007${'x'.repeat(2_000)}`);
    }
    if (fault === 'no way') return void response.writeHead(404).end('<html><title>404 Not Found</title></html>');
    if (fault === 'took too long') return void response.writeHead(408).end();
    if (fault === 'not let in') return void response.writeHead(401).end();
    if (fault === 'busy') {
      response.writeHead(422, { 'retry-after': '0' });
      return void response.end(JSON.stringify({ error: 'ConcurrencyError' }));
    }
    if (fault === 'twice') answer(request);
    const found = isAuthorized(headers) ? answer(request) : { status: 401, body: {} };
    if (fault === 'reset after') return void incoming.socket.resetAndDestroy();
    if (fault === 'page') return void response.writeHead(200).end('<!doctype html><title>Back soon</title>');
    if (fault === 'leak') return void response.writeHead(500).end(JSON.stringify(found.body));
    response.writeHead(found.status, { 'content-type': 'application/json', ...found.headers });
    if (fault === 'endless') return endless(response);
    if (fault === 'garbage') return void response.end('{"half": "of');
    response.end(found.body === undefined ? '' : JSON.stringify(found.body));
  }

  const server = createServer((incoming, response) => {
    serve(incoming, response).catch(() => incoming.socket.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    fail(fault, matches = () => true, times = Infinity) {
      failing = fault === null ? null : { fault, matches, left: times };
    },
    failInTurn: (...faults) => void coming.push(...faults),
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function isAuthorized(headers: IncomingHttpHeaders): boolean {
  return headers.authorization === `Basic ${Buffer.from(`platform:${PASSWORD}`).toString('base64')}`;
}

function endless(response: ServerResponse): void {
  const chunk = Buffer.alloc(64 * 1024, 0x20);
  const more = (): void => {
    while (!response.destroyed && response.write(chunk));
    if (!response.destroyed) response.once('drain', more);
  };
  more();
}
