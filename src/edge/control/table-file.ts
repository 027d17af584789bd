import { open, readFile, rename } from 'node:fs/promises';
import { join } from 'node:path';
import type { RouteTable } from '../../domain/routes/router.ts';
import { checkTable } from './check-table.ts';

/** The last good table on disk: what the edge serves by when it starts and nobody tells it anything. */
export class TableFile {
  readonly #directory: string;
  readonly #path: string;

  constructor(directory: string) {
    this.#directory = directory;
    this.#path = join(directory, 'table.json');
  }

  /** The table, or null when there is none yet. Throws when the file cannot be read as one. */
  async load(): Promise<RouteTable | null> {
    let text: string;
    try {
      text = await readFile(this.#path, 'utf8');
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
      throw error;
    }
    return checkTable(JSON.parse(text));
  }

  /** Replaces the file; after a crash at any moment it holds either the old table or the new one, whole. */
  async save(table: RouteTable): Promise<void> {
    const temporary = `${this.#path}.new`;
    const file = await open(temporary, 'w', 0o600);
    try {
      await file.writeFile(JSON.stringify(table));
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
