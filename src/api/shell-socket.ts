/**
 * One shell on one websocket. Every message is input; for clients that ask for SHELL_PROTOCOL binary messages are, and text ones
 * are JSON: `{"width", "height"}` changes the size, `{"eof": true}` ends the input, `{"hold": true}` stops the output until
 * `{"hold": false}`. The socket is closed with 1000 and `exit <code>`.
 */
import type { RawData, WebSocket } from 'ws';
import type { OpenShell } from '../domain/apps/shells.ts';
import type { PlatformError } from '../domain/errors.ts';
import type { Call } from './call.ts';
import { closeWith, FAULT, GOING_AWAY, NORMAL } from './close-socket.ts';
import { errorText } from './error-body.ts';

export const SHELL_PROTOCOL = 'tancho.shell.1';

/** Output that the client has not taken yet, beyond which the shell is held. */
const MAX_UNREAD_BYTES = 1024 * 1024;
const HEARTBEAT_MS = 30_000;

/** What a shell shows before its websocket is open. */
export class Buffered {
  #early: Uint8Array[] | null = [];
  #next: (bytes: Uint8Array) => void = () => {};

  readonly take = (bytes: Uint8Array): void => {
    if (this.#early === null) this.#next(bytes);
    else this.#early.push(bytes);
  };

  flowTo(next: (bytes: Uint8Array) => void): void {
    this.#next = next;
    for (const bytes of this.#early ?? []) next(bytes);
    this.#early = null;
  }
}

export class ShellSocket {
  readonly #client: WebSocket;
  readonly #shell: OpenShell;
  readonly #call: Call;
  #isAlive = true;
  #isHeld = false;
  /** The client has more than it can show. */
  #isAskedToHold = false;

  constructor(client: WebSocket, shell: OpenShell, call: Call) {
    this.#client = client;
    this.#shell = shell;
    this.#call = call;
  }

  /** Resolves when the shell has ended and the socket is closed: by its one way out, whoever ends first. */
  async carry(output: Buffered, wantsTerminal: boolean): Promise<void> {
    const client = this.#client;
    const closed = new Promise<void>((resolve) => client.once('close', () => resolve()));
    // The shell is ended by the signal that the close of the socket fires.
    client.on('error', () => client.terminate());
    client.on('message', (data, isBinary) => this.#take(data, isBinary));
    client.on('pong', () => (this.#isAlive = true));
    const heartbeat = setInterval(() => this.#beat(), HEARTBEAT_MS);
    output.flowTo((bytes) => this.#show(bytes));
    if (wantsTerminal && !this.#shell.isTerminal)
      this.#show(Buffer.from('There is no terminal here, only plain lines.\r\n'));
    const { code, signal } = await this.#shell.ended;
    clearInterval(heartbeat);
    const reason = this.#shell.reason();
    if (reason !== '') this.#show(Buffer.from(`\r\n${reason}\r\n`));
    if (this.#call.signal.aborted) await closeWith(client, GOING_AWAY, 'the platform is stopping');
    else await closeWith(client, NORMAL, `exit ${code ?? (signal === null ? 1 : 137)}`);
    await closed;
  }

  #take(data: RawData, isBinary: boolean): void {
    this.#isAlive = true;
    this.#shell.touched();
    const bytes = Array.isArray(data) ? Buffer.concat(data) : Buffer.from(data as Buffer);
    if (!isBinary && this.#client.protocol === SHELL_PROTOCOL) {
      this.#control(bytes.toString());
      return;
    }
    this.#client.pause();
    void this.#shell.write(bytes).finally(() => this.#client.resume());
  }

  #control(text: string): void {
    const asked = parsed(text);
    if (asked['eof'] === true) this.#shell.endInput();
    if (typeof asked['hold'] === 'boolean') {
      this.#isAskedToHold = asked['hold'];
      this.#flow();
    }
    const [columns, rows] = [asked['width'], asked['height']].map(dimension);
    if (columns !== undefined && rows !== undefined) this.#shell.resize({ columns, rows });
  }

  #show(bytes: Uint8Array): void {
    const client = this.#client;
    client.send(bytes, { binary: true }, () => this.#flow());
    this.#flow();
  }

  #flow(): void {
    const isFull = this.#isAskedToHold || this.#client.bufferedAmount > MAX_UNREAD_BYTES;
    const isHeld = isFull && this.#client.readyState === this.#client.OPEN;
    if (isHeld === this.#isHeld) return;
    this.#isHeld = isHeld;
    this.#shell.hold(isHeld);
  }

  /** A client that is gone without a word, or whose shell takes no input, is given up. */
  #beat(): void {
    if (!this.#isAlive) {
      this.#client.terminate();
      return;
    }
    this.#isAlive = false;
    this.#client.ping();
  }
}

/** Shows a client why it gets no shell, as output of one. */
export async function refuseShell(client: WebSocket, error: PlatformError): Promise<void> {
  client.on('error', () => client.terminate());
  client.send(Buffer.from(`Error: ${errorText(error).replaceAll('\n', '\r\n')}\r\n`), { binary: true });
  await closeWith(client, FAULT, error.code);
}

function parsed(text: string): Readonly<Record<string, unknown>> {
  try {
    const value = JSON.parse(text) as unknown;
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}

function dimension(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isInteger(value) && value >= 1 && value <= 1_000 ? value : undefined;
}
