import { EdgeLost } from './edge-lost.ts';

/**
 * The connection of one edge elsewhere, and what is asked over it: `{ id, op, ... }` a message, answered by `{ id, result }` or `{ id, error }`,
 * not necessarily in order, as over the socket of the edge of this machine. Who carries it is the API.
 */
export interface EdgeCarrier {
  send(text: string): void;
  /** One listener, from before anything can come. */
  onText(listener: (text: string) => void): void;
  /** Resolves when the connection is gone; true: the edge has left, and serves nobody any more. */
  readonly ended: Promise<boolean>;
  end(reason: string): void;
}

interface Pending {
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: Error) => void;
  readonly timer: NodeJS.Timeout;
}

export class EdgeLine {
  readonly ended: Promise<boolean>;
  readonly #carrier: EdgeCarrier;
  readonly #pending = new Map<number, Pending>();
  #nextId = 1;
  #isEnded = false;

  constructor(carrier: EdgeCarrier) {
    this.#carrier = carrier;
    this.ended = carrier.ended;
    carrier.onText((text) => this.#settle(text));
    void carrier.ended.then(() => {
      this.#isEnded = true;
      for (const { timer, reject } of this.#pending.values()) {
        clearTimeout(timer);
        reject(new EdgeLost('the connection of the edge is gone'));
      }
      this.#pending.clear();
    });
  }

  /** Rejects with EdgeLost, or with what the edge refuses. An edge that does not answer in time is of no more use, and let go of. */
  ask(op: string, fields: object, timeoutMs: number): Promise<unknown> {
    if (this.#isEnded) return Promise.reject(new EdgeLost('the connection of the edge is gone'));
    return new Promise((resolve, reject) => {
      const id = this.#nextId++;
      const timer = setTimeout(() => {
        this.#pending.delete(id);
        reject(new EdgeLost(`the edge did not answer "${op}" within ${timeoutMs} ms`));
        this.end('no answer in time');
      }, timeoutMs);
      this.#pending.set(id, { resolve, reject, timer });
      this.#carrier.send(JSON.stringify({ id, op, ...fields }));
    });
  }

  end(reason: string): void {
    this.#carrier.end(reason);
  }

  #settle(text: string): void {
    const reply = replyOf(text);
    if (reply === null) return this.end('not what an edge says');
    const pending = this.#pending.get(reply.id);
    if (pending === undefined) return;
    this.#pending.delete(reply.id);
    clearTimeout(pending.timer);
    if (reply.error === undefined) pending.resolve(reply.result);
    else pending.reject(new Error(`the edge refused: ${reply.error}`));
  }
}

interface Reply {
  readonly id: number;
  readonly result?: unknown;
  readonly error?: string;
}

function replyOf(text: string): Reply | null {
  try {
    const reply: unknown = JSON.parse(text);
    return typeof reply === 'object' && reply !== null && 'id' in reply ? (reply as Reply) : null;
  } catch {
    return null;
  }
}
