/** A load of one request over keep-alive connections, on bare sockets so that the client costs little. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { connect as connectSecurely } from 'node:tls';
import { quantile } from './statistics.ts';

export interface LoadResult {
  /** Requests that were answered. */
  readonly count: number;
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
}

export interface LoadOptions {
  readonly port: number;
  /** Request line and header lines, without the empty line at the end. */
  readonly head: readonly string[];
  readonly connections: number;
  readonly seconds: number;
  /** The server name to ask for over TLS; absent: plain HTTP. */
  readonly tls?: string | undefined;
}

const HEAD_END = Buffer.from('\r\n\r\n');
const MAX_HEAD_BYTES = 16_384;

/**
 * Every answer has to be a 200 with a Content-Length; anything else is an error, not a figure. Each connection has had one
 * answer before the clock starts.
 */
export async function load({ port, head, connections, seconds, tls }: LoadOptions): Promise<LoadResult> {
  const request = Buffer.from(`${head.join('\r\n')}\r\n\r\n`);
  const clients = await Promise.all(Array.from({ length: connections }, () => Client.open({ port, tls }, request)));
  const latencies: number[] = [];
  const begun = performance.now();
  const endAt = begun + seconds * 1000;
  await Promise.all(clients.map((client) => client.askUntil(endAt, latencies)));
  const took = (performance.now() - begun) / 1000;
  const count = latencies.length;
  return { count, perSecond: count / took, p50Ms: quantile(latencies, 0.5), p99Ms: quantile(latencies, 0.99) };
}

/** One connection, one request at a time. */
class Client {
  readonly #socket: Socket;
  readonly #request: Buffer;
  #head: Buffer = Buffer.alloc(0);
  /** Of the body; below zero while the head is read. */
  #missing = -1;
  #answered: () => void = () => {};
  #failed: (error: Error) => void = () => {};

  private constructor(socket: Socket, request: Buffer) {
    this.#socket = socket;
    this.#request = request;
    socket.on('data', (chunk: Buffer) => {
      try {
        this.#take(chunk);
      } catch (error) {
        this.#failed(error as Error);
        socket.destroy();
      }
    });
    socket.on('error', (error) => this.#failed(error));
    socket.on('close', () => this.#failed(new Error('a connection was closed under load')));
  }

  static async open({ port, tls }: Pick<LoadOptions, 'port' | 'tls'>, request: Buffer): Promise<Client> {
    const at = { port, host: '127.0.0.1', noDelay: true };
    const socket =
      tls === undefined ? connect(at) : connectSecurely({ ...at, servername: tls, rejectUnauthorized: false });
    const client = new Client(socket, request);
    await once(socket, tls === undefined ? 'connect' : 'secureConnect');
    await client.#ask();
    return client;
  }

  async askUntil(endAt: number, latencies: number[]): Promise<void> {
    for (let begun = performance.now(); begun < endAt;) {
      await this.#ask();
      const now = performance.now();
      latencies.push(now - begun);
      begun = now;
    }
    this.#failed = () => {};
    this.#socket.destroy();
  }

  #ask(): Promise<void> {
    this.#missing = -1;
    this.#head = Buffer.alloc(0);
    return new Promise((resolve, reject) => {
      this.#answered = resolve;
      this.#failed = reject;
      this.#socket.write(this.#request);
    });
  }

  #take(chunk: Buffer): void {
    if (this.#missing >= 0) {
      this.#missing -= chunk.length;
    } else {
      this.#head = this.#head.length === 0 ? chunk : Buffer.concat([this.#head, chunk]);
      const end = this.#head.indexOf(HEAD_END);
      if (end < 0 && this.#head.length < MAX_HEAD_BYTES) return;
      const expected = bodyBytes(this.#head.toString('latin1', 0, Math.max(0, end)));
      this.#missing = expected - (this.#head.length - end - HEAD_END.length);
    }
    if (this.#missing <= 0) this.#answered();
  }
}

function bodyBytes(head: string): number {
  const length = /^content-length: *(\d+)$/im.exec(head.replaceAll('\r', ''))?.[1];
  if (!/^HTTP\/1\.1 200 /.test(head) || length === undefined)
    throw new Error(`unexpected answer: ${head.slice(0, 200)}`);
  return Number(length);
}
