/** A load of one request over keep-alive connections, on bare sockets so that the client costs little. */
import { connect } from 'node:net';
import { quantile } from './statistics.ts';

export interface LoadResult {
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
}

const HEAD_END = Buffer.from('\r\n\r\n');
const MAX_HEAD_BYTES = 16_384;

/** Every answer has to be a 200 with a Content-Length; anything else is an error, not a figure. */
export async function load({ port, head, connections, seconds }: LoadOptions): Promise<LoadResult> {
  const request = Buffer.from(`${head.join('\r\n')}\r\n\r\n`);
  const latencies: number[] = [];
  const begun = performance.now();
  const endAt = begun + seconds * 1000;
  await Promise.all(
    Array.from({ length: connections }, () => connection(port, request, endAt, (ms) => latencies.push(ms))),
  );
  const took = (performance.now() - begun) / 1000;
  return { perSecond: latencies.length / took, p50Ms: quantile(latencies, 0.5), p99Ms: quantile(latencies, 0.99) };
}

function connection(port: number, request: Buffer, endAt: number, answered: (ms: number) => void): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true });
    let begun = 0;
    let head: Buffer = Buffer.alloc(0);
    /** Of the body; below zero while the head is read. */
    let missing = -1;
    const send = (): void => {
      begun = performance.now();
      missing = -1;
      head = Buffer.alloc(0);
      socket.write(request);
    };
    const take = (chunk: Buffer): void => {
      if (missing < 0) {
        head = head.length === 0 ? chunk : Buffer.concat([head, chunk]);
        const end = head.indexOf(HEAD_END);
        if (end < 0 && head.length < MAX_HEAD_BYTES) return;
        missing = bodyBytes(head.toString('latin1', 0, Math.max(0, end))) - (head.length - end - HEAD_END.length);
      } else {
        missing -= chunk.length;
      }
      if (missing > 0) return;
      const now = performance.now();
      answered(now - begun);
      if (now < endAt) send();
      else socket.end();
    };
    socket.on('data', (chunk: Buffer) => {
      try {
        take(chunk);
      } catch (error) {
        reject(error as Error);
        socket.destroy();
      }
    });
    socket.once('connect', send);
    socket.once('error', reject);
    socket.once('close', () => (missing === 0 ? resolve() : reject(new Error('a connection was closed under load'))));
  });
}

function bodyBytes(head: string): number {
  const length = /^content-length: *(\d+)$/im.exec(head.replaceAll('\r', ''))?.[1];
  if (!/^HTTP\/1\.1 200 /.test(head) || length === undefined)
    throw new Error(`unexpected answer: ${head.slice(0, 200)}`);
  return Number(length);
}
