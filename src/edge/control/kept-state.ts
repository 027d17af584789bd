import type { EdgeLog } from '../edge-log.ts';
import type { StateFile } from './state-file.ts';

/** Where a value is kept. */
export type StateStorage<T> = Pick<StateFile<T>, 'load' | 'save'>;

/** For what is not to be on the disk: an edge that is started again gets it anew. */
export const NO_STORAGE: StateStorage<never> = { load: async () => null, save: async () => {} };

/** What applying answers. `persisted` is false when the value is in force but could not be written to disk. */
interface Applied {
  readonly version: number;
  readonly persisted: boolean;
}

/** Something that the edge goes by, in versions that grow: the newest is in force and on disk. */
export class KeptState<T extends { readonly version: number }> {
  readonly #what: string;
  readonly #file: StateStorage<T>;
  readonly #log: EdgeLog;
  #value: T;
  #persisted = true;
  #applying: Promise<unknown> = Promise.resolve();

  /** `what`: as the log calls it. */
  constructor(what: string, how: { readonly file: StateStorage<T>; readonly initial: T; readonly log: EdgeLog }) {
    this.#what = what;
    this.#file = how.file;
    this.#value = how.initial;
    this.#log = how.log;
  }

  get value(): T {
    return this.#value;
  }

  /** Resolves when nothing is being put in force any more. */
  async settled(): Promise<void> {
    await this.#applying;
  }

  /** Puts in force what is on disk; a file that cannot be used counts as none. */
  async load(putInForce: (value: T) => Promise<unknown>): Promise<void> {
    try {
      const value = await this.#file.load();
      if (value === null) return;
      await putInForce(value);
      this.#value = value;
    } catch (error) {
      this.#log.line(`the ${this.#what} on disk cannot be used, waiting for a new one: ${String(error)}`);
    }
  }

  /** One after the other, an older version is passed over. In force first, on disk second: serving rightly matters more than remembering. */
  apply(value: T, putInForce: (value: T) => Promise<unknown>): Promise<Applied> {
    const applied = this.#applying.then(() => this.#apply(value, putInForce));
    this.#applying = applied.catch(() => {});
    return applied;
  }

  /** As apply(), of what `make` makes of the value in force; null when that makes nothing of it. */
  change(make: (value: T) => T | null, putInForce: (value: T) => Promise<unknown>): Promise<Applied | null> {
    const changed = this.#applying.then(() => {
      const value = make(this.#value);
      return value === null ? null : this.#apply(value, putInForce);
    });
    this.#applying = changed.catch(() => {});
    return changed;
  }

  async #apply(value: T, putInForce: (value: T) => Promise<unknown>): Promise<Applied> {
    if (value.version > this.#value.version) {
      await putInForce(value);
      this.#value = value;
      this.#persisted = false;
    }
    if (!this.#persisted && value.version === this.#value.version) {
      try {
        await this.#file.save(value);
        this.#persisted = true;
      } catch (error) {
        this.#log.line(`${this.#what} ${value.version} is in force but could not be kept: ${String(error)}`);
      }
    }
    return { version: this.#value.version, persisted: this.#persisted };
  }
}
