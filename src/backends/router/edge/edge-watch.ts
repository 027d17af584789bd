import { Heartbeats } from '../../../lib/heartbeats.ts';
import type { EdgeConnection } from './edge-connection.ts';

const ASK_MS = 400;
/** An answer that comes so late is waited for no more. */
const ANSWER_MS = 60_000;

/** Asks the edge for a sign of life, over and over. */
export class EdgeWatch {
  readonly #heartbeats: Heartbeats;
  #timer: NodeJS.Timeout | null = null;
  #pid = 0;

  /** `onStuck` is called with the process that gives none any more. */
  constructor(onStuck: (pid: number) => void) {
    this.#heartbeats = new Heartbeats({ onStuck });
  }

  /** Watches this edge from now on, and no other. */
  begin(client: EdgeConnection, pid: number): void {
    this.end();
    this.#pid = pid;
    this.#heartbeats.beat(pid);
    let isAsked = false;
    this.#timer = setInterval(() => {
      if (isAsked) return;
      isAsked = true;
      client.ask('hello', {}, ANSWER_MS).then(
        () => {
          isAsked = false;
          if (this.#pid === pid) this.#heartbeats.beat(pid);
        },
        // The connection is gone, and with it this watch: whoever began it sees to that.
        () => {},
      );
    }, ASK_MS);
    this.#timer.unref();
  }

  end(): void {
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#timer = null;
    this.#heartbeats.forget(this.#pid);
    this.#pid = 0;
  }
}
