/**
 * One log that is followed on one websocket: every message is a JSON array of entries, as a line of an answer with follow=1 is. The next is
 * sent when the one before has left, so a slow client holds up nobody and holds no memory. Whatever the client sends is thrown away.
 */
import type { WebSocket } from 'ws';
import type { LogEntry } from '../domain/logs/entry.ts';
import type { Call } from './call.ts';
import { closeWith, FAULT, GOING_AWAY, NORMAL } from './close-socket.ts';
import { wordsOf } from './follow-answer.ts';
import type { Shape } from './shapes/shape.ts';

const HEARTBEAT_MS = 30_000;

export class LogSocket {
  readonly #client: WebSocket;
  readonly #call: Call;
  #isAlive = true;

  constructor(client: WebSocket, call: Call) {
    this.#client = client;
    this.#call = call;
  }

  /** Resolves when the socket is closed: by its client, or because the log may be seen no more. */
  async carry(batches: AsyncIterable<readonly LogEntry[]>, shape: Shape<readonly LogEntry[]>): Promise<void> {
    const client = this.#client;
    client.on('error', () => client.terminate());
    client.on('message', () => (this.#isAlive = true));
    client.on('pong', () => (this.#isAlive = true));
    const heartbeat = setInterval(() => this.#beat(), HEARTBEAT_MS);
    try {
      for await (const batch of batches) {
        for (const bytes of wordsOf(batch, shape)) {
          if (this.#call.signal.aborted) break;
          await this.#sent(bytes);
        }
      }
      if (this.#call.signal.aborted) await closeWith(client, GOING_AWAY, 'the platform is stopping');
      else await closeWith(client, NORMAL, 'the log has ended');
    } catch (thrown) {
      await closeWith(client, FAULT, this.#call.failed(thrown).code);
    } finally {
      clearInterval(heartbeat);
    }
  }

  /** Resolves when it has left, or never will. */
  #sent(bytes: Uint8Array): Promise<void> {
    return new Promise((resolve) => this.#client.send(bytes, { binary: false }, () => resolve()));
  }

  /** A client that is gone without a word, or reads nothing, is given up: it goes on from its cursor when it comes back. */
  #beat(): void {
    if (!this.#isAlive) return this.#client.terminate();
    this.#isAlive = false;
    this.#client.ping();
  }
}
