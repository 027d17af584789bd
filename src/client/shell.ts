/** A shell of an app, over a websocket. */
import { connect } from 'node:net';
import type { IncomingMessage } from 'node:http';
import { type RawData, WebSocket } from 'ws';
import { ClientError } from './errors.ts';
import { path } from './path.ts';
import { badAnswer, errorOf, nameOf, type ServerAddress } from './transport.ts';

export interface ShellSize {
  readonly width: number;
  readonly height: number;
}

export interface ShellOptions {
  /** Name, number or id; absent: beside none in particular. */
  readonly unit?: string;
  /** Of the terminal at this end; absent: there is none, input and output are plain. */
  readonly size?: ShellSize;
  readonly term?: string;
  readonly output: (bytes: Uint8Array) => void;
  /** Leaves the shell, which ends it. */
  readonly signal?: AbortSignal;
  /** A server of which so long nothing is heard is given up. */
  readonly silentMs?: number;
}

export interface RemoteShell {
  write(bytes: Uint8Array): void;
  endInput(): void;
  resize(size: ShellSize): void;
  /** Exit code; rejects with ClientError when the connection breaks. */
  readonly ended: Promise<number>;
}

const PROTOCOL = 'tancho.shell.1';
const CONNECT_MS = 15_000;
/** The server says every 30 seconds that it is there. */
const SILENT_MS = 75_000;

/** Throws ClientError. */
export async function openShell(
  target: ServerAddress,
  token: string | undefined,
  app: string,
  options: ShellOptions,
): Promise<RemoteShell> {
  const { unit, size, term, signal, silentMs = SILENT_MS } = options;
  const query = new URLSearchParams(
    Object.entries({
      unit,
      width: size?.width,
      height: size?.height,
      term,
      ...(size === undefined && { terminal: false }),
    }).flatMap(([name, value]) => (value === undefined ? [] : [[name, String(value)] as [string, string]])),
  );
  const where = `${path`/apps/${app}/shell`}?${query.toString()}`;
  const socket = new WebSocket(`${baseOf(target)}${where}`, [PROTOCOL], {
    headers: { accept: 'application/json', ...(token !== undefined && { authorization: `bearer ${token}` }) },
    handshakeTimeout: CONNECT_MS,
    perMessageDeflate: false,
    // The "ws+unix" addresses of the library percent-encode what is not ASCII, and a space.
    ...('socketPath' in target && { createConnection: () => connect(target.socketPath) }),
  });
  socket.on('message', (data: RawData) =>
    options.output(Array.isArray(data) ? Buffer.concat(data) : new Uint8Array(data)),
  );
  const silent = setTimeout(() => socket.terminate(), silentMs);
  for (const sign of ['ping', 'message']) socket.on(sign, () => silent.refresh());
  const ended = new Promise<number>((resolve, reject) => {
    socket.once('close', (code, reason) => {
      clearTimeout(silent);
      const exit = /^exit (\d{1,3})$/.exec(reason.toString())?.[1];
      if (exit !== undefined) resolve(Number(exit));
      else reject(broken(code, reason.toString()));
    });
  });
  ended.catch(() => {});
  await opened(socket, nameOf(target), where);
  // From here on a broken connection is reported by its close.
  socket.on('error', () => {});
  signal?.addEventListener('abort', () => socket.terminate(), { once: true });
  if (signal?.aborted === true) socket.terminate();
  const send = (piece: Uint8Array | string): void => {
    if (socket.readyState === socket.OPEN) socket.send(piece);
  };
  return {
    write: send,
    endInput: () => send(JSON.stringify({ eof: true })),
    resize: (changed) => send(JSON.stringify(changed)),
    ended,
  };
}

function opened(socket: WebSocket, name: string, where: string): Promise<void> {
  return new Promise((resolve, reject) => {
    socket.once('open', () => resolve());
    socket.once('unexpected-response', (_request, response: IncomingMessage) => {
      errorOf(response, name, where).then((error) => {
        reject(error);
        socket.terminate();
      }, reject);
    });
    socket.once('error', (error) => reject(badAnswer(`No shell of ${name}: ${error.message}.`)));
  });
}

function baseOf(target: ServerAddress): string {
  if ('socketPath' in target) return 'ws://localhost';
  return target.baseUrl.replace(/\/+$/, '').replace(/^http/, 'ws');
}

function broken(code: number, reason: string): ClientError {
  return new ClientError(`The shell has ended${reason === '' ? '' : `: ${reason}`} (${code}).`, {
    status: 0,
    code: 'client.unreachable',
    hint: 'Open it again; what ran in it is over.',
  });
}
