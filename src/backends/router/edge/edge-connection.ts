import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { EdgeLost } from '../../../domain/edges/edge-lost.ts';
import { PlatformError } from '../../../domain/errors.ts';

interface Pending {
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: Error) => void;
  readonly timer: NodeJS.Timeout;
}

/** One connection to the edge's control socket: `{ id, op, ... }` a line, answered by `{ id, result }` or `{ id, error }`. */
export class EdgeConnection {
  readonly #socket: Socket;
  readonly #pending = new Map<number, Pending>();
  #nextId = 1;
  #received: string[] = [];
  #closed = false;

  private constructor(socket: Socket, onLost: () => void) {
    this.#socket = socket;
    socket.setEncoding('utf8');
    socket.on('data', (text: string) => this.#receive(text));
    // The reason does not matter: 'close' follows.
    socket.on('error', () => {});
    socket.on('close', () => {
      this.#closed = true;
      for (const pending of this.#pending.values()) {
        clearTimeout(pending.timer);
        pending.reject(new EdgeLost('the edge is gone'));
      }
      this.#pending.clear();
      onLost();
    });
  }

  /** Null when nobody answers at the path. */
  static connect(path: string, timeoutMs: number, onLost: () => void): Promise<EdgeConnection | null> {
    return new Promise((resolve) => {
      const socket = connect(path);
      const fail = (): void => {
        socket.destroy();
        resolve(null);
      };
      socket.setTimeout(timeoutMs, fail);
      socket.once('error', fail);
      socket.once('connect', () => {
        socket.setTimeout(0);
        socket.off('error', fail);
        resolve(new EdgeConnection(socket, onLost));
      });
    });
  }

  /** At the first of the paths where somebody answers. */
  static async connectAny(
    paths: readonly string[],
    timeoutMs: number,
    onLost: () => void,
  ): Promise<EdgeConnection | null> {
    for (const path of paths) {
      const client = await EdgeConnection.connect(path, timeoutMs, onLost);
      if (client !== null) return client;
    }
    return null;
  }

  /** Rejects with EdgeLost, or with PlatformError `timeout` or `unavailable`. */
  ask(op: string, fields: object, timeoutMs: number): Promise<unknown> {
    if (this.#closed) return Promise.reject(new EdgeLost('the edge is gone'));
    return new Promise((resolve, reject) => {
      const id = this.#nextId++;
      const timer = setTimeout(() => {
        this.#pending.delete(id);
        reject(new PlatformError('timeout', `The edge did not answer "${op}" within ${timeoutMs} ms.`));
      }, timeoutMs);
      this.#pending.set(id, { resolve, reject, timer });
      this.#socket.write(`${JSON.stringify({ id, op, ...fields })}\n`);
    });
  }

  close(): void {
    this.#socket.destroy();
  }

  #receive(text: string): void {
    let from = 0;
    for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n', from)) {
      const line = this.#received.join('') + text.slice(from, end);
      this.#received = [];
      from = end + 1;
      this.#settle(line);
    }
    if (from < text.length) this.#received.push(text.slice(from));
  }

  #settle(line: string): void {
    const reply = replyOf(line);
    if (reply === null) {
      this.#socket.destroy();
      return;
    }
    const pending = this.#pending.get(reply.id);
    if (pending === undefined) return;
    this.#pending.delete(reply.id);
    clearTimeout(pending.timer);
    if (reply.error === undefined) pending.resolve(reply.result);
    else pending.reject(new PlatformError('unavailable', `The edge refused: ${reply.error}.`));
  }
}

interface Reply {
  readonly id: number;
  readonly result?: unknown;
  readonly error?: string;
}

/** Null for what no edge says: a connection that talks so is of no more use. */
function replyOf(line: string): Reply | null {
  try {
    return JSON.parse(line) as Reply | null;
  } catch {
    return null;
  }
}
