/** Looks at this machine: connections, requests, names and the disk, each within a few seconds. */
import { lookup } from 'node:dns/promises';
import { statfs } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { connect as openSocket } from 'node:net';
import type { MachineProbe, ProbeAnswer, ProbeRequest } from '../../../domain/diagnosis/probe.ts';
import { withDeadline } from '../../../lib/deadline.ts';
import { bareHost } from '../../../lib/host-port.ts';
import { request as httpRequest } from '../../../lib/node-http.ts';

interface MachineProbeOptions {
  /** Whose file system is looked at. */
  readonly directory: string;
  /** For each question. */
  readonly timeoutMs?: number;
}

const TIMEOUT_MS = 5_000;
/** The router's own pages are shorter, and what a page loads is named before that. */
const MAX_BODY_BYTES = 64 * 1024;
/** Nobody waits for their end. */
const STREAMS = /^(?:text\/event-stream|multipart\/|audio\/|video\/)/;
const ANYWHERE: Readonly<Record<string, string>> = { '0.0.0.0': '127.0.0.1', '::': '::1' };
const NO_SUCH_NAME = new Set(['ENOTFOUND', 'ENODATA']);

export function createMachineProbe({ directory, timeoutMs = TIMEOUT_MS }: MachineProbeOptions): MachineProbe {
  return {
    async connect(address) {
      try {
        await withDeadline(timeoutMs, null, (signal) => accepted(address, signal));
        return '';
      } catch (error) {
        return inWords(error, timeoutMs);
      }
    },
    async request(request) {
      let isConnected = false;
      const ms = request.timeoutMs ?? timeoutMs;
      try {
        return await withDeadline(ms, null, (signal) => ask(request, signal, () => (isConnected = true)));
      } catch (error) {
        return { kind: isConnected ? 'silent' : 'unreachable', why: inWords(error, ms), isLate: isLate(error) };
      }
    },
    async resolves(host) {
      try {
        return await withDeadline(timeoutMs, null, (signal) =>
          Promise.race([lookup(host).then(() => true), aborted(signal)]),
        );
      } catch (error) {
        return NO_SUCH_NAME.has((error as NodeJS.ErrnoException).code ?? '') ? false : null;
      }
    },
    async disk() {
      try {
        const { bavail, blocks, bsize, ffree, files } = await statfs(directory);
        return { freeBytes: bavail * bsize, totalBytes: blocks * bsize, freeFiles: ffree, totalFiles: files };
      } catch {
        return null;
      }
    },
  };
}

function accepted(address: { readonly host: string; readonly port: number }, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = openSocket({ ...address, signal });
    socket.once('connect', () => {
      resolve();
      socket.destroy();
    });
    socket.on('error', reject);
  });
}

function ask(wanted: ProbeRequest, signal: AbortSignal, onConnect: () => void): Promise<ProbeAnswer> {
  const to = new URL(`http://${wanted.to}`);
  const host = bareHost(to);
  return new Promise((resolve, reject) => {
    const outgoing = httpRequest({
      host: ANYWHERE[host] ?? host,
      port: to.port === '' ? 80 : Number(to.port),
      method: wanted.method,
      path: wanted.path.startsWith('/') ? wanted.path : `/${wanted.path}`,
      headers: {
        ...wanted.headers,
        host: wanted.host,
        'user-agent': 'tancho-diagnosis',
        accept: wanted.accept ?? 'text/plain, */*',
        connection: 'close',
      },
      agent: false,
      signal,
    });
    outgoing.once('socket', (socket) => socket.once('connect', onConnect));
    outgoing.on('error', reject);
    outgoing.once('response', (response) => {
      // A head is an answer, whatever becomes of its body: some never end.
      outgoing.off('error', reject).on('error', () => {});
      void bodyOf(response).then(({ text, isWhole }) => {
        resolve({
          kind: 'answered',
          status: response.statusCode ?? 0,
          isRefusal: isWhole && isRefusal(response, text),
          type: typeOf(response),
          location: response.headers.location ?? '',
          text,
        });
        outgoing.destroy();
      });
    });
    outgoing.end();
  });
}

function typeOf({ headers }: IncomingMessage): string {
  return (headers['content-type'] ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? '';
}

/** Never rejects: what is cut off, or too long, has a beginning. */
async function bodyOf(response: IncomingMessage): Promise<{ readonly text: string; readonly isWhole: boolean }> {
  if (STREAMS.test(typeOf(response))) return { text: '', isWhole: false };
  const parts: Buffer[] = [];
  let bytes = 0;
  let isWhole = true;
  try {
    for await (const part of response as AsyncIterable<Buffer>) {
      parts.push(part);
      bytes += part.length;
      if (bytes <= MAX_BODY_BYTES) continue;
      isWhole = false;
      break;
    }
  } catch {
    isWhole = false;
  }
  return { text: Buffer.concat(parts).subarray(0, MAX_BODY_BYTES).toString('utf8'), isWhole };
}

/** The router ends its own pages with the id it gave to the request; an app would have to do so on purpose. */
function isRefusal(response: IncomingMessage, body: string): boolean {
  const id = response.headers['x-request-id'];
  return typeof id === 'string' && body.endsWith(`request: ${id}\n`);
}

function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) =>
    signal.addEventListener('abort', () => reject(new Error('aborted')), { once: true }),
  );
}

function isLate(error: unknown): boolean {
  return (error as Error).name === 'AbortError';
}

/** Completes "it ...". */
function inWords(error: unknown, timeoutMs: number): string {
  const { code = '', name } = error as NodeJS.ErrnoException;
  if (isLate(error)) return `gave no answer within ${timeoutMs / 1000} seconds`;
  const known: Readonly<Record<string, string>> = {
    ECONNREFUSED: 'refuses connections',
    ECONNRESET: 'closed the connection without an answer',
    EHOSTUNREACH: 'cannot be reached',
    ENETUNREACH: 'cannot be reached',
  };
  return known[code] ?? `failed (${code === '' ? name : code})`;
}
