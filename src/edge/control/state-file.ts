import { open, readFile, rename } from 'node:fs/promises';
import { join } from 'node:path';

/** A value on disk that only this user can read: what the edge goes by when it starts, until it gets another one. */
export class StateFile<T> {
  readonly #directory: string;
  readonly #path: string;
  readonly #check: (value: unknown) => T;

  /** `check` throws for what is no such value. */
  constructor(directory: string, name: string, check: (value: unknown) => T) {
    this.#directory = directory;
    this.#path = join(directory, name);
    this.#check = check;
  }

  /** The value, or null when there is none yet. Throws when the file cannot be read as one. */
  async load(): Promise<T | null> {
    let text: string;
    try {
      text = await readFile(this.#path, 'utf8');
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
      throw error;
    }
    return this.#check(JSON.parse(text));
  }

  /** Replaces the file; after a crash at any moment it holds either the old value or the new one, whole. */
  async save(value: T): Promise<void> {
    const temporary = `${this.#path}.new`;
    const file = await open(temporary, 'w', 0o600);
    try {
      await file.writeFile(JSON.stringify(value));
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(temporary, this.#path);
    const directory = await open(this.#directory, 'r');
    try {
      await directory.sync();
    } finally {
      await directory.close();
    }
  }
}
