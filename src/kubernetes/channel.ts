/** Programs in containers that run: `v5.channel.k8s.io`, a websocket whose messages begin with the number of a stream. */
import type { IncomingMessage } from 'node:http';
import type { RawData, WebSocket } from 'ws';
import { isRecord } from '../lib/is-record.ts';
import { KubernetesError, refusal, UNREACHABLE } from './kubernetes-error.ts';
import type { Transport } from './transport.ts';

const PROTOCOL = 'v5.channel.k8s.io';
const CONNECT_MS = 20_000;
/** Who does not answer for two of them is not there any more. */
const PING_MS = 20_000;
const MAX_MESSAGE_BYTES = 16 * 1024 * 1024;
const MAX_ERROR_BYTES = 64 * 1024;
const [INPUT, OUTPUT, ERRORS, RESULT, SIZE, CLOSE] = [0, 1, 2, 3, 4, 255];

export interface ChannelOptions {
  readonly container: string;
  /** Absent: the program of the container is joined, what it prints from now on. */
  readonly command?: readonly string[];
  readonly hasInput: boolean;
  /** Then everything that is printed is `output`. */
  readonly isTerminal: boolean;
  readonly onOutput: (bytes: Buffer, stream: 'output' | 'errors') => void;
  /** Leaves it; the program in the container is not ended by that. */
  readonly signal: AbortSignal;
}

export interface RemoteProcess {
  /** Resolves when more may be written. */
  write(bytes: Uint8Array): Promise<void>;
  endInput(): void;
  resize(size: { readonly columns: number; readonly rows: number }): void;
  /** Holds output back, or goes on with it. */
  hold(isHeld: boolean): void;
  /** The exit code; rejects with KubernetesError when it cannot be known. */
  readonly ended: Promise<number>;
}

export async function openChannel(transport: Transport, pod: string, options: ChannelOptions): Promise<RemoteProcess> {
  const { container, command, hasInput, isTerminal, signal } = options;
  const url = transport.url(`${pod}/${command === undefined ? 'attach' : 'exec'}`, {
    container,
    stdin: String(hasInput),
    stdout: 'true',
    stderr: String(!isTerminal),
    tty: String(isTerminal),
  });
  url.protocol = url.protocol === 'http:' ? 'ws:' : 'wss:';
  for (const word of command ?? []) url.searchParams.append('command', word);
  signal.throwIfAborted();
  const [{ WebSocket: Socket }, { headers, secure }] = await Promise.all([import('ws'), transport.tls()]);
  const socket = new Socket(url, [PROTOCOL], {
    headers: { ...headers, 'user-agent': 'tancho' },
    handshakeTimeout: CONNECT_MS,
    maxPayload: MAX_MESSAGE_BYTES,
    perMessageDeflate: false,
    ...secure,
  });
  const ended = result(socket, options);
  ended.catch(() => {});
  const leave = (): void => socket.terminate();
  signal.addEventListener('abort', leave, { once: true });
  socket.once('close', () => signal.removeEventListener('abort', leave));
  await opened(socket);
  keepAlive(socket);
  return {
    write: (bytes) => send(socket, INPUT, bytes),
    endInput: () => void send(socket, CLOSE, Uint8Array.of(INPUT)).catch(() => {}),
    resize: ({ columns, rows }) =>
      void send(socket, SIZE, Buffer.from(JSON.stringify({ Width: columns, Height: rows }))).catch(() => {}),
    hold: (isHeld) => (isHeld ? socket.pause() : socket.resume()),
    ended,
  };
}

function opened(socket: WebSocket): Promise<void> {
  return new Promise((resolve, reject) => {
    socket.once('open', resolve);
    socket.once('unexpected-response', (_request, response: IncomingMessage) => {
      readSome(response).then((body) => {
        reject(refusal(response.statusCode ?? 0, body, response.headers['retry-after']));
        socket.terminate();
      }, reject);
    });
    // Later errors are reported by the close that follows.
    socket.on('error', (error) => reject(broken(error.message, error)));
    socket.once('close', () => reject(broken('it was closed')));
  });
}

function result(socket: WebSocket, { onOutput }: ChannelOptions): Promise<number> {
  let code: number | null = null;
  let problem: KubernetesError | null = null;
  socket.on('message', (data: RawData) => {
    const message = Array.isArray(data) ? Buffer.concat(data) : Buffer.from(data as Buffer);
    const [stream] = message;
    const bytes = message.subarray(1);
    if (stream === OUTPUT && bytes.length > 0) onOutput(bytes, 'output');
    else if (stream === ERRORS && bytes.length > 0) onOutput(bytes, 'errors');
    else if (stream === RESULT) {
      const how = exitOf(bytes.toString('utf8'));
      if (typeof how === 'number') code = how;
      else problem = how;
    }
  });
  return new Promise((resolve, reject) => {
    socket.once('close', (status) => {
      if (code !== null) resolve(code);
      else reject(problem ?? broken(`it ended without a result (${status})`));
    });
  });
}

/** From the `Status` that is sent at the end. */
function exitOf(text: string): number | KubernetesError {
  let status: unknown;
  try {
    status = JSON.parse(text);
  } catch {
    return broken('its result cannot be read');
  }
  if (!isRecord(status)) return broken('its result cannot be read');
  if (status['status'] === 'Success') return 0;
  const causes = isRecord(status['details']) ? status['details']['causes'] : null;
  const cause: unknown = Array.isArray(causes)
    ? causes.find((one) => isRecord(one) && one['reason'] === 'ExitCode')
    : null;
  const code = isRecord(cause) ? Number(cause['message']) : NaN;
  return Number.isInteger(code) ? code : refusal(500, text, undefined);
}

function send(socket: WebSocket, stream: number, bytes: Uint8Array): Promise<void> {
  return new Promise((resolve, reject) => {
    socket.send(Buffer.concat([Uint8Array.of(stream), bytes]), (error) => {
      if (error === undefined || error === null) resolve();
      else reject(broken(error.message, error));
    });
  });
}

function keepAlive(socket: WebSocket): void {
  let isAnswered = true;
  const timer = setInterval(() => {
    // Who is held back reads no answers either.
    if (socket.isPaused) return;
    if (!isAnswered) return socket.terminate();
    isAnswered = false;
    socket.ping();
  }, PING_MS).unref();
  socket.on('pong', () => (isAnswered = true));
  socket.on('message', () => (isAnswered = true));
  socket.once('close', () => clearInterval(timer));
}

async function readSome(response: IncomingMessage): Promise<string> {
  let text = '';
  for await (const part of response as AsyncIterable<Buffer>) {
    text += part.toString('utf8');
    if (text.length > MAX_ERROR_BYTES) break;
  }
  return text;
}

function broken(why: string, cause?: unknown): KubernetesError {
  return new KubernetesError(0, UNREACHABLE, `A program in a container cannot be reached: ${why}.`, { cause });
}
