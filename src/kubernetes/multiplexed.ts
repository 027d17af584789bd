/**
 * Answers that go on for as long as a container runs, many of them over one connection (HTTP/2): a connection for each of ten thousand logs would take
 * more memory than all else together.
 */
import { once } from 'node:events';
import type { ClientHttp2Session, ClientHttp2Stream, IncomingHttpHeaders } from 'node:http2';
import { isIP } from 'node:net';
import type { Readable } from 'node:stream';
import type { SecureContext, TLSSocket } from 'node:tls';
import { deadline } from '../lib/deadline.ts';
import type { ClusterLogin } from './access.ts';
import { KubernetesError, UNREACHABLE } from './kubernetes-error.ts';

/** Servers of Kubernetes allow 100 to 250. */
const MOST_STREAMS = 100;
/** Long for a server; one that is away is asked again after it. */
const CONNECT_MS = 10_000;
const KEEP_ALIVE_MS = 15_000;
/** Whoever does not answer for so long is not there any more. */
const PING_MS = 30_000;
/** Of all logs of a connection that nobody has read yet. */
const WINDOW_BYTES = 1024 * 1024;

/** What all connections of a login share: one of its own takes 55 KB, of which the collector takes no notice. */
export interface Secure {
  /** Absent: without TLS. */
  readonly secureContext?: SecureContext;
  readonly rejectUnauthorized: boolean;
  readonly servername?: string;
}

interface MultiplexedOptions {
  readonly server: URL;
  readonly secure: Secure;
}

interface Asked {
  readonly path: string;
  readonly headers: ClusterLogin['headers'];
  readonly signal: AbortSignal;
  /** For the head of the answer. */
  readonly headMs: number;
  /** It is on its way, over a connection that is there. */
  readonly onSent: () => void;
}

interface StreamAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** To be read, or destroyed. */
  readonly body: ClientHttp2Stream;
}

interface Session {
  readonly http2: ClientHttp2Session;
  readonly pings: NodeJS.Timeout;
  streams: number;
}

const ignored = (): void => {};

export class Multiplexed {
  readonly #options: MultiplexedOptions;
  readonly #sessions = new Set<Session>();
  #opening: Promise<Session | null> | null = null;
  #isClosed = false;

  constructor(options: MultiplexedOptions) {
    this.#options = options;
  }

  /** Null: the server does not speak HTTP/2. Rejects where it is not reached. */
  async get({ path, headers, signal, headMs, onSent }: Asked): Promise<StreamAnswer | null> {
    const session = await this.#session();
    if (session === null) return null;
    const { protocol, host } = this.#options.server;
    const asked = [':method', 'GET', ':scheme', protocol.slice(0, -1), ':authority', host, ':path', path];
    for (const [name, value] of Object.entries(headers)) for (const one of [value].flat()) asked.push(name, one);
    const body = session.http2.request(asked);
    // The stream keeps what was asked for as long as it goes on: of ten thousand that is 9 MB for nobody.
    asked.length = 0;
    // An error while nobody reads must not end the process; whoever reads gets it all the same.
    body.on('error', ignored);
    const leave = (): void => void body.destroy(lost('it is not wanted any more'));
    signal.addEventListener('abort', leave, { once: true });
    body.on('close', () => {
      this.#left(session);
      signal.removeEventListener('abort', leave);
    });
    if (signal.aborted) leave();
    const answered = headOf(body, headMs);
    onSent();
    const head = await answered;
    return { status: Number(head[':status']), headers: head, body };
  }

  /** No more are begun; those that there are end with what they are used for. */
  retire(): void {
    this.#isClosed = true;
    for (const session of this.#sessions) if (session.streams === 0) this.#drop(session);
  }

  close(): void {
    this.#isClosed = true;
    for (const session of this.#sessions) session.http2.destroy(lost('it was closed'));
  }

  /** One with room, whose place is taken. */
  async #session(): Promise<Session | null> {
    for (;;) {
      for (const session of this.#sessions) {
        // One whose connection is lost goes a moment later.
        if (session.http2.closed || session.http2.destroyed || session.streams >= roomOf(session)) continue;
        session.streams += 1;
        return session;
      }
      this.#opening ??= this.#open().finally(() => (this.#opening = null));
      if ((await this.#opening) === null) return null;
    }
  }

  async #open(): Promise<Session | null> {
    const [{ connect: connectTls }, { connect }] = await Promise.all([import('node:tls'), import('node:http2')]);
    const { server, secure } = this.#options;
    const host = server.hostname.replace(/^\[|\]$/g, '');
    const socket = connectTls({
      ...{ host, port: Number(server.port || 443), ALPNProtocols: ['h2', 'http/1.1'] },
      ...(isIP(host) === 0 && { servername: host }),
      ...secure,
    });
    socket.setKeepAlive(true, KEEP_ALIVE_MS);
    await secured(socket);
    if (socket.alpnProtocol !== 'h2') {
      socket.destroy();
      return null;
    }
    // At once: one that has ended meanwhile would pass for one that lives.
    const http2 = connect(server.origin, { createConnection: () => socket });
    const pings = setInterval(() => {
      const late = setTimeout(() => http2.destroy(lost('nothing is heard over it')), PING_MS / 2);
      http2.ping(() => clearTimeout(late));
    }, PING_MS);
    const session: Session = { http2, pings, streams: 0 };
    http2.on('error', ignored);
    http2.once('close', () => this.#forget(session));
    if (this.#isClosed) http2.destroy(lost('it was closed'));
    http2.once('goaway', () => this.#sessions.delete(session));
    await once(http2, 'connect');
    http2.setLocalWindowSize(WINDOW_BYTES);
    this.#sessions.add(session);
    return session;
  }

  #left(session: Session): void {
    session.streams -= 1;
    if (session.streams === 0 && (this.#isClosed || this.#sessions.size > 1)) this.#drop(session);
  }

  #drop(session: Session): void {
    this.#forget(session);
    session.http2.close();
  }

  #forget(session: Session): void {
    clearInterval(session.pings);
    this.#sessions.delete(session);
  }
}

/** Nothing of it stays as long as the stream does. */
async function headOf(body: ClientHttp2Stream, ms: number): Promise<IncomingHttpHeaders> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingHttpHeaders>();
  // Streams that go with their connection end without an error.
  const end = (): void => reject(lost('it has ended before the answer'));
  const late = setTimeout(() => body.destroy(lost('it does not answer')), ms);
  body.once('response', resolve).once('error', reject).once('close', end);
  try {
    return await promise;
  } finally {
    clearTimeout(late);
    body.off('response', resolve).off('error', reject).off('close', end);
  }
}

/** Whether what has ended is not all of it: streams of connections that are lost end like those that are over. */
export function hasBrokenOff(body: Readable): boolean {
  return 'rstCode' in body && body.rstCode !== 0;
}

function lost(why: string): KubernetesError {
  return new KubernetesError(0, UNREACHABLE, `The connection to Kubernetes is lost: ${why}.`);
}

function roomOf({ http2 }: Session): number {
  return Math.min(MOST_STREAMS, http2.remoteSettings.maxConcurrentStreams ?? MOST_STREAMS);
}

async function secured(socket: TLSSocket): Promise<void> {
  const limited = deadline(CONNECT_MS, null);
  try {
    await once(socket, 'secureConnect', { signal: limited.signal });
  } catch (error) {
    socket.on('error', ignored);
    socket.destroy();
    throw error;
  } finally {
    limited.clear();
  }
}
