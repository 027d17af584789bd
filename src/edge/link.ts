import type { ServingRequest } from './control/operations.ts';

/** What one process of the edge asks of another one, over their IPC channel. */
export type ProcessRequest =
  | ServingRequest
  | { readonly op: 'listen' }
  /** Of the edge before this one, which follows servers elsewhere: follow none any more, and answer what is in force (InForce). */
  | { readonly op: 'hand' }
  /** Of the edge before this one: leave the control socket and the listener to this one, and finish what is begun. */
  | { readonly op: 'retire' }
  | { readonly op: 'leave' }
  /** Resolves when no connection is left. */
  | { readonly op: 'drain'; readonly boundMs: number }
  | { readonly op: 'stop'; readonly graceMs: number };

interface Message {
  readonly id: number;
  readonly request: ProcessRequest;
}

interface Reply {
  /** 0: the first sign of life. */
  readonly id: number;
  readonly result?: unknown;
  readonly error?: string;
}

/** This process as a child, or a child of it. */
interface Channel extends NodeJS.EventEmitter {
  readonly connected: boolean;
  send?(message: object, handle: undefined, options: undefined, sent: (error: Error | null) => void): boolean;
}

/** The other process may have just ended, which 'disconnect' reports; without the callback the failed send would end this one, too. */
function sendTo(channel: Channel, message: Message | Reply): void {
  if (channel.connected) channel.send?.(message, undefined, undefined, () => {});
}

/** The asking side of a channel. */
export class Link {
  /** The other side reads its channel; what is sent earlier is lost, for its loader reads before its program does. */
  readonly awake: Promise<void>;
  /** The other side is gone. Never rejects. */
  readonly ended: Promise<void>;
  readonly #channel: Channel;
  readonly #asked = new Map<number, (reply: Reply) => void>();
  #nextId = 1;

  constructor(channel: Channel) {
    this.#channel = channel;
    this.ended = new Promise((resolve) => {
      if (channel.connected) channel.once('disconnect', () => resolve());
      else resolve();
    });
    this.awake = new Promise((resolve) => {
      void this.ended.then(resolve);
      channel.on('message', (reply: Reply) => {
        if (reply.id === 0) resolve();
        this.#asked.get(reply.id)?.(reply);
        this.#asked.delete(reply.id);
      });
    });
    void this.ended.then(() => {
      for (const [id, settle] of this.#asked) settle({ id });
      this.#asked.clear();
    });
  }

  /** Resolves with undefined when the other side ends meanwhile; rejects with what it refused. */
  async ask(request: ProcessRequest): Promise<unknown> {
    if (!this.#channel.connected) return undefined;
    const reply = await new Promise<Reply>((resolve) => {
      const id = this.#nextId++;
      this.#asked.set(id, resolve);
      sendTo(this.#channel, { id, request });
    });
    if (reply.error !== undefined) throw new Error(reply.error);
    return reply.result;
  }
}

/** The answering side of a channel. */
export function answerOver(channel: Channel, act: (request: ProcessRequest) => Promise<unknown>): void {
  channel.on('message', ({ id, request }: Message) => {
    act(request).then(
      (result) => sendTo(channel, { id, result: result ?? null }),
      (error: Error) => sendTo(channel, { id, error: error.message }),
    );
  });
  sendTo(channel, { id: 0 });
}
