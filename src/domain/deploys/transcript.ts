/** What a deploy says: to the pusher at once, to the stored deploy log in batches, both free of private values and of what steers a terminal. */
import type { Redactor } from '../../lib/redact.ts';
import { bestEffort, type Logger } from '../../lib/logger.ts';
import { withoutSteering } from '../../lib/steering.ts';
import type { Say } from '../say.ts';
import type { Store } from '../store.ts';

const FLUSH_MS = 250;
const MAX_LINES = 20_000;
const MAX_CHARACTERS = 4 * 1024 * 1024;

export class Transcript {
  readonly #store: Store;
  readonly #deployId: string;
  readonly #pusher: Say;
  readonly #redactors: Redactor[];
  readonly #logger: Logger;
  #pending: string[] = [];
  #count = 0;
  #characters = 0;
  #isFull = false;
  #timer: NodeJS.Timeout | null = null;
  #writing: Promise<void> = Promise.resolve();

  constructor(deps: { store: Store; deployId: string; pusher: Say; redact: Redactor; logger: Logger }) {
    this.#store = deps.store;
    this.#deployId = deps.deployId;
    this.#pusher = deps.pusher;
    this.#redactors = [deps.redact];
    this.#logger = deps.logger;
  }

  /** Replaces what these replace, too, from here on. */
  alsoRedact(redact: Redactor): void {
    this.#redactors.push(redact);
  }

  readonly redact: Redactor = (text) => this.#redactors.reduce((result, redact) => redact(result), text);

  readonly say: Say = (line) => {
    const text = this.redact(withoutSteering(line));
    this.#pusher(text);
    if (this.#isFull) return;
    this.#count += 1;
    this.#characters += text.length;
    this.#isFull = this.#count >= MAX_LINES || this.#characters >= MAX_CHARACTERS;
    this.#pending.push(this.#isFull ? '[the rest of the output was not kept]' : text);
    this.#timer ??= setTimeout(() => void this.flush(), FLUSH_MS);
  };

  /** Resolves when everything said so far is stored. */
  flush(): Promise<void> {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    const lines = this.#pending;
    this.#pending = [];
    if (lines.length > 0) {
      this.#writing = this.#writing.then(() =>
        bestEffort(this.#logger, 'writing the deploy log', () =>
          this.#store.transact((tx) => tx.appendDeployLog(this.#deployId, lines)),
        ),
      );
    }
    return this.#writing;
  }
}
