/** Looks through the rows of a log, from the first to the last, and says what is wrong with them. Pure: whoever calls reads the rows. */
import { type Checkpoint, isSignedBy, parseCheckpoint } from './checkpoint.ts';
import { appendLeaf, leafHash, rootOf, sha256 } from './tree.ts';

export interface LogRow {
  readonly index: number;
  /** Base64. */
  readonly leaf: string;
  /** Hexadecimal; '' for a row whose content is forgotten. */
  readonly salt: string;
  /** Null: forgotten, or lost. */
  readonly content: string | null;
}

/** What the log says of itself at the end. */
export interface LogClaims {
  /** Of the log's key; see verifierKey(). */
  readonly key: string;
  /** The newest checkpoint. */
  readonly checkpoint: string;
}

/** Rows that a row says were forgotten: all before `before`, and those of `rows`. */
export interface Forgets {
  readonly before: number;
  readonly rows: readonly number[];
}

export interface Verdict {
  readonly rows: number;
  readonly forgotten: number;
  /** The first thing that is wrong, one sentence; null: nothing is. */
  readonly problem: string | null;
}

/** The hash that a leaf is made of: with salt, so that nobody can guess what was forgotten. */
export function contentHash(salt: string, content: string): Buffer {
  return sha256(Buffer.from(`${salt}\n${content}`));
}

export function leafOf(salt: string, content: string): Buffer {
  return leafHash(contentHash(salt, content));
}

export class LogVerifier {
  readonly #forgetsOf: (content: string) => Forgets | null;
  /** The checkpoint that was kept elsewhere, as it is written; null: none was. */
  readonly #note: string | null;
  readonly #kept: Checkpoint | null;
  #keptRoot: Buffer | null = null;
  readonly #frontier: Buffer[] = [];
  #size = 0;
  #problem: string | null = null;
  /** Size of the last checkpoint that was right. */
  #lastGood = 0;
  /** The first that was not. */
  #parted: { readonly size: number; readonly note: string } | null = null;
  readonly #forgotten: number[] = [];
  #forgotBefore = 0;
  readonly #forgotRows = new Set<number>();

  /** `forgetsOf` reads the content of a row. */
  constructor(kept: string | null, forgetsOf: (content: string) => Forgets | null) {
    this.#forgetsOf = forgetsOf;
    this.#note = kept;
    this.#kept = kept === null ? null : parseCheckpoint(kept);
    this.#look();
  }

  /** The next row. False: what comes after needs not be looked at. */
  add({ index, leaf, salt, content }: LogRow): boolean {
    const at = this.#size;
    const stored = Buffer.from(leaf, 'base64');
    if (this.#problem !== null) return false;
    if (index !== at) {
      const found = index > at ? `the next one that is there is row ${index}` : `row ${index} stands in its place`;
      return this.#wrong(`Row ${at} is missing, or the rows are out of order: ${found}.`);
    }
    if (content !== null) {
      if (!leafOf(salt, content).equals(stored)) return this.#wrong(`Row ${at} is not what was recorded.`);
      const forgets = this.#forgetsOf(content);
      this.#forgotBefore = Math.max(this.#forgotBefore, forgets?.before ?? 0);
      for (const row of forgets?.rows ?? []) this.#forgotRows.add(row);
    } else if (salt !== '') {
      return this.#wrong(`The content of row ${at} is missing.`);
    } else this.#forgotten.push(at);
    appendLeaf(this.#frontier, at, stored);
    this.#size += 1;
    this.#look();
    return true;
  }

  /** An older one, after the last row that it is about: by it the place of a fault is found. */
  checkpoint(note: string): void {
    if (this.#parted !== null || this.#problem !== null) return;
    const checkpoint = parseCheckpoint(note);
    const isRight = checkpoint?.size === this.#size && checkpoint.root.equals(rootOf(this.#frontier));
    if (isRight) this.#lastGood = this.#size;
    else this.#parted = { size: this.#size, note };
  }

  /** To be called after the last row. */
  verdict(claims: LogClaims): Verdict {
    const problem =
      this.#problem ?? this.#wrongSignatures(claims) ?? this.#wrongRows(claims) ?? this.#wronglyForgotten();
    return { rows: this.#size, forgotten: this.#forgotten.length, problem };
  }

  #wrong(problem: string): false {
    this.#problem = problem;
    return false;
  }

  #look(): void {
    if (this.#kept?.size === this.#size) this.#keptRoot = rootOf(this.#frontier);
  }

  #wrongSignatures({ checkpoint, key }: LogClaims): string | null {
    const last = parseCheckpoint(checkpoint);
    if (last === null) return 'There is no checkpoint of the log.';
    if (!isSignedBy(checkpoint, key)) return 'The newest checkpoint is not signed with the key of the log.';
    if (this.#note === null) return null;
    if (this.#kept === null) return 'What was given is no checkpoint.';
    const { origin } = this.#kept;
    if (origin !== last.origin) return `The checkpoint that was kept is of another log: ${origin}, not ${last.origin}.`;
    if (isSignedBy(this.#note, key)) return null;
    return 'The checkpoint that was kept is signed with another key: the log was made anew, or is forged.';
  }

  #wrongRows({ checkpoint, key }: LogClaims): string | null {
    const last = parseCheckpoint(checkpoint);
    const [size, kept] = [this.#size, this.#kept];
    const most = Math.max(last?.size ?? 0, kept?.size ?? 0);
    if (most > size) return `Rows ${size} to ${most - 1} are missing: a checkpoint says that there were ${most}.`;
    const parted = this.#parted;
    if (parted !== null && !isSignedBy(parted.note, key)) {
      return `The checkpoint of ${parted.size} rows was changed: it is not signed with the key of the log.`;
    }
    const isWhole = parted === null && last?.size === size && last.root.equals(rootOf(this.#frontier));
    if (!isWhole)
      return `The rows are not those that the log signed: one was removed, exchanged or added${this.#where()}.`;
    if (kept === null || this.#keptRoot?.equals(kept.root) === true) return null;
    return `The log is not the one that the checkpoint was kept of: one of its first ${kept.size} rows was changed, removed or exchanged, and what follows signed anew.`;
  }

  #where(): string {
    const [from, parted] = [this.#lastGood, this.#parted];
    if (parted === null) return `, row ${from} or a later one`;
    return parted.size - from <= 1
      ? `, row ${from}`
      : `, the first of them between row ${from} and row ${parted.size - 1}`;
  }

  #wronglyForgotten(): string | null {
    const wrong = this.#forgotten.find((row) => row >= this.#forgotBefore && !this.#forgotRows.has(row));
    return wrong === undefined
      ? null
      : `The content of row ${wrong} was removed, and no row says that it was forgotten.`;
  }
}
