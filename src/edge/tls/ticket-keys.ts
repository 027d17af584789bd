import { randomBytes } from 'node:crypto';
import { record, text } from '../control/json-values.ts';
import { StateFile } from '../control/state-file.ts';
import type { EdgeLog } from '../edge-log.ts';

const BYTES = 48;
/** A session can be resumed for so long at most; whoever steals the keys reads no older ones. */
const LIFETIME_MS = 86_400_000;

interface Keys {
  /** Base64. */
  readonly keys: string;
  /** Milliseconds since 1970. */
  readonly since: number;
}

/**
 * What session tickets are sealed with: the same in all workers, and in an edge that takes over, so that a client goes on with its
 * session wherever it comes to. Kept on disk for a day.
 */
export class TicketKeys {
  readonly #file: StateFile<Keys>;
  readonly #log: EdgeLog;
  #current: Keys = made();

  constructor(directory: string, log: EdgeLog) {
    this.#file = new StateFile(directory, 'tickets.json', check);
    this.#log = log;
  }

  /** Base64, for the option `ticketKeys` of TLS servers. */
  get current(): string {
    return this.#current.keys;
  }

  async load(): Promise<void> {
    try {
      const kept = await this.#file.load();
      if (kept === null) await this.#file.save(this.#current);
      else this.#current = kept;
    } catch (error) {
      this.#log.line(`the keys of session tickets cannot be kept: ${String(error)}`);
    }
    await this.renewed();
  }

  /** True when they were old, and others hold from now on. */
  async renewed(): Promise<boolean> {
    const age = Date.now() - this.#current.since;
    if (age >= 0 && age < LIFETIME_MS) return false;
    this.#current = made();
    await this.#file.save(this.#current).catch((error: unknown) => {
      this.#log.line(`the keys of session tickets cannot be kept: ${String(error)}`);
    });
    return true;
  }
}

function made(): Keys {
  return { keys: randomBytes(BYTES).toString('base64'), since: Date.now() };
}

function check(value: unknown): Keys {
  const { keys, since } = record(value, 'the file');
  if (Buffer.from(text(keys, 'keys'), 'base64').length !== BYTES) throw new Error('the keys have another length');
  if (typeof since !== 'number') throw new Error('since is no number');
  return { keys: text(keys, 'keys'), since };
}
