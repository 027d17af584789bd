import { rm } from 'node:fs/promises';
import { createServer, type Server, type Socket } from 'node:net';
import { listeningPrivately } from '../../lib/listening.ts';
import { isSocketTaken } from '../../lib/socket-problem.ts';
import { checkRequest, type EdgeRequest } from './operations.ts';

const MAX_LINE = 64 * 1024 * 1024;

/**
 * The socket control talks to: one JSON object per line each way, `{ id, op, ... }` answered by `{ id, result }` or
 * `{ id, error }`, not necessarily in order. Only the owner of the process may connect.
 */
export class ControlServer {
  readonly #server: Server;
  readonly #peers = new Set<Socket>();

  constructor(answer: (request: EdgeRequest) => Promise<unknown>) {
    this.#server = createServer((socket) => {
      this.#peers.add(socket);
      socket.on('close', () => this.#peers.delete(socket));
      // The peer is gone; it will connect again if it still cares.
      socket.on('error', () => {});
      readLines(socket, (line) => void this.#answer(socket, line, answer));
    });
  }

  /** Takes over the path from a process that is gone; throws when one still answers there. */
  async listen(path: string): Promise<void> {
    if (await isSocketTaken(path))
      throw Object.assign(new Error(`an edge already answers at ${path}`), { code: 'EADDRINUSE' });
    await rm(path, { force: true });
    await listeningPrivately(this.#server, path);
  }

  /** Removes the path, too. */
  async close(): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    for (const peer of this.#peers) peer.destroy();
    await closed;
  }

  async #answer(socket: Socket, line: string, answer: (request: EdgeRequest) => Promise<unknown>): Promise<void> {
    let id: unknown = null;
    let reply: object;
    try {
      const message: unknown = JSON.parse(line);
      id = typeof message === 'object' && message !== null && 'id' in message ? message.id : null;
      reply = { id, result: (await answer(checkRequest(message))) ?? null };
    } catch (error) {
      reply = { id, error: error instanceof Error ? error.message : String(error) };
    }
    if (socket.writable) socket.write(`${JSON.stringify(reply)}\n`);
  }
}

function readLines(socket: Socket, onLine: (line: string) => void): void {
  let parts: string[] = [];
  let size = 0;
  socket.setEncoding('utf8');
  socket.on('data', (text: string) => {
    let from = 0;
    for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n', from)) {
      onLine(parts.join('') + text.slice(from, end));
      parts = [];
      size = 0;
      from = end + 1;
    }
    if (from === text.length) return;
    parts.push(text.slice(from));
    size += text.length - from;
    if (size > MAX_LINE) socket.destroy();
  });
}
