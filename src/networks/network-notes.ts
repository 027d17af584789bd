/**
 * What is kept on disk about the networks of a home, one file each, so that a later platform process knows whose they are. The
 * file is made before anything of the network and removed after everything of it.
 */
import { linkSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isAlive, readProcess } from '../lib/processes.ts';
import { UNIT_INDEXES } from './address-plan.ts';
import type { TransportEndpoint } from './rules.ts';
import type { Forward } from './unit-rules.ts';

export interface NetworkNote {
  readonly index: number;
  /** Grows with each network of the home, so it says who had an index before; absent in what an older program has noted. */
  readonly since?: number;
  /** Of the sandbox that it belongs to; null while it is prepared ahead of need. */
  readonly id: string | null;
  readonly tenant: string;
  readonly endpoints: readonly TransportEndpoint[];
  readonly forwards: readonly Forward[];
  /** Loopback endpoints of the machine among what it reaches. */
  readonly local: readonly TransportEndpoint[];
  /** Of its namespace, from when that has no name any more: it lives by those who are in it. */
  readonly inode?: number;
  /** Port of its sandbox that its door leads to; absent where it leads nowhere, or there is none. */
  readonly behind?: number;
  /** The platform process that prepared it. */
  readonly by: { readonly pid: number; readonly start: string };
}

/** A file as it was read. Each is replaced as a whole, so another content is another file. */
interface Known {
  readonly file: string;
  readonly note: NetworkNote;
}

const NOBODY = { id: null, tenant: '', endpoints: [], forwards: [], local: [] } as const;

export class NetworkNotes {
  readonly #directory: string;
  readonly #self = { pid: process.pid, start: readProcess(process.pid)?.start ?? '' };
  /** By index; there may be thousands, and they are asked for again and again. */
  readonly #known = new Map<number, Known>();
  readonly #indexes: { readonly from: number; readonly to: number };
  #next: number;

  /** `indexes`: those that networks have. */
  constructor(directory: string, indexes: { readonly from: number; readonly to: number } = UNIT_INDEXES) {
    this.#directory = directory;
    this.#indexes = indexes;
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    const taken = this.all().map(({ index, since = index }) => since + 1);
    this.#next = Math.max(indexes.from, this.#keptNext() ?? 0, ...taken);
  }

  all(): NetworkNote[] {
    return readdirSync(this.#directory)
      .filter((name) => /^\d+\.json$/.test(name))
      .map((name) => this.#read(Number.parseInt(name, 10)))
      .filter((note) => note !== null);
  }

  of(id: string): NetworkNote | null {
    for (const [index, { note }] of this.#known) {
      if (note.id !== id) continue;
      const read = this.#read(index);
      if (read?.id === id) return read;
    }
    return this.all().find((note) => note.id === id) ?? null;
  }

  /** Takes a free index that fits; goes round all of them before one comes up again. Throws when none is left. */
  take(isFit: (index: number) => boolean = () => true): NetworkNote {
    const { from, to } = this.#indexes;
    const size = to - from + 1;
    // Others of the home take some, too.
    const first = Math.max(this.#next, this.#keptNext() ?? 0);
    for (let since = first; since < first + size; since += 1) {
      const index = from + ((since - from) % size);
      const note: NetworkNote = { index, since, ...NOBODY, by: this.#self };
      if (!isFit(index) || !this.#make(note)) continue;
      try {
        this.#keepNext(since + 1);
      } catch (error) {
        this.remove(index);
        throw error;
      }
      return note;
    }
    throw new Error(`All ${size} networks for units are in use; stop some.`);
  }

  save(note: NetworkNote): void {
    const draft = `${this.#path(note.index)}.new`;
    writeFileSync(draft, JSON.stringify(note), { mode: 0o600 });
    renameSync(draft, this.#path(note.index));
  }

  remove(index: number): void {
    rmSync(this.#path(index), { force: true });
  }

  /** Whether the platform process that made it still runs. */
  isLooked(note: NetworkNote): boolean {
    return isAlive(note.by.pid, note.by.start);
  }

  /** Where whoever was here before would go on: the address of a network that has gone just now may be known to an edge still. Null: nobody was. */
  #keptNext(): number | null {
    try {
      return Number(readFileSync(this.#nextPath, 'latin1')) || null;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
      throw error;
    }
  }

  #keepNext(next: number): void {
    this.#next = next;
    const draft = `${this.#nextPath}.${process.pid}.new`;
    writeFileSync(draft, `${next}`, { mode: 0o600 });
    renameSync(draft, this.#nextPath);
  }

  get #nextPath(): string {
    return `${this.#directory}.next`;
  }

  #make(note: NetworkNote): boolean {
    const draft = `${this.#path(note.index)}.${process.pid}.new`;
    writeFileSync(draft, JSON.stringify(note), { mode: 0o600 });
    try {
      linkSync(draft, this.#path(note.index));
      return true;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
      throw error;
    } finally {
      rmSync(draft, { force: true });
    }
  }

  #path(index: number): string {
    return join(this.#directory, `${index}.json`);
  }

  #read(index: number): NetworkNote | null {
    const path = this.#path(index);
    try {
      const { ino, mtimeMs, ctimeMs, size } = statSync(path);
      const file = `${ino} ${mtimeMs} ${ctimeMs} ${size}`;
      const known = this.#known.get(index);
      if (known?.file === file) return known.note;
      // One that is replaced between the two is read anew the next time.
      const note = JSON.parse(readFileSync(path, 'utf8')) as NetworkNote;
      this.#known.set(index, { file, note });
      return note;
    } catch (error) {
      this.#known.delete(index);
      if ((error as NodeJS.ErrnoException).code === 'ENOENT' || error instanceof SyntaxError) return null;
      throw error;
    }
  }
}
